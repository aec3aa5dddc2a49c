import type { Mode } from '../keys.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Transaction } from '../ledger/transaction.ts';
import type { Profile } from '../profiles/profile.ts';
import type { Answer } from './answer.ts';

/** Tells the status of one transaction. One of the other mode is as unknown as one that never was. */
export function verify(ledger: Ledger, profile: Profile, mode: Mode, reference: string, now: Date): Answer {
  const transaction = ledger.find(mode, reference);
  const isHidden = (createdAt: string): boolean =>
    now.getTime() - Date.parse(createdAt) < profile.hiddenForMs;
  if (transaction === undefined || isHidden(transaction.createdAt)) {
    return profile.unknown(reference, neighbourOf(ledger, mode, reference));
  }
  return profile.found(transaction);
}

/** The newest transaction of the mode that has another reference. */
export function neighbourOf(ledger: Ledger, mode: Mode, reference: string): Transaction | null {
  return ledger.page(mode, 0, 2).find((other) => other.reference !== reference) ?? null;
}
