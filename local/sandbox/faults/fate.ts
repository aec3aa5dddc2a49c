import type { Notice } from '../ledger/transaction.ts';
import type { FaultBook } from './book.ts';
import { ON_WEBHOOKS } from './deck.ts';
import type { Fate } from './fault.ts';

const FAIR: Fate = { copies: 1, delayMs: 0, isOvertaken: false, isLost: false, isBadlySigned: false };

/** What befalls a webhook, by the faults that lie in the air. */
export function fateOf(faults: FaultBook, { transaction }: Notice): Fate {
  const name = faults.strike(ON_WEBHOOKS, 'webhook', transaction.reference);
  return name === null ? FAIR : { ...FAIR, ...ON_WEBHOOKS[name].fate };
}
