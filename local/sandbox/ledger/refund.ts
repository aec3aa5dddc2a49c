import { newId } from '../../../src/platform/ids.ts';
import { amountOnRecord, amountRefunded } from '../assumptions.ts';
import { formatAmount } from '../money.ts';
import type { LedgerEvent } from './events.ts';
import type { Refund, Transaction } from './transaction.ts';

/** What giving back a part writes down, or why that cannot be. */
export function refundEvent(
  before: Transaction,
  { money, at, by, shown }: Omit<Refund, 'id'>,
): LedgerEvent | string {
  const { mode, reference, state } = before;
  if (state !== 'paid') return `it is ${state}`;
  const taken = amountOnRecord(before);
  const left = taken.minor - amountRefunded(before).minor;
  if (money.currency !== taken.currency || money.minor <= 0n || money.minor > left)
    return 'it does not hold so much';
  const amount = formatAmount(money);
  return { type: 'refunded', at, mode, reference, by, id: newId(), amount, currency: money.currency, shown };
}
