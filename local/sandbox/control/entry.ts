import { amountOnRecord, amountRefunded } from '../assumptions.ts';
import type { Transaction } from '../ledger/transaction.ts';
import { formatAmount, type Money } from '../money.ts';

type MoneyText = { amount: string; currency: string };

/** One line of the ground truth, for tests and people. Amounts are exact texts in major units. */
export type LedgerEntry = Pick<
  Transaction,
  'mode' | 'reference' | 'id' | 'state' | 'email' | 'redirectUrl' | 'createdAt' | 'updatedAt'
> & {
  asked: MoneyText;
  /** The sum of all payments; null while there is none. */
  received: MoneyText | null;
  /** The sum of all parts that went back; null while there is none. */
  refunded: MoneyText | null;
  timesPaid: number;
  payments: (MoneyText & { at: string; by: string })[];
  checkoutUrl: string;
};

export function toEntry(transaction: Transaction, checkoutUrl: (token: string) => string): LedgerEntry {
  const { token, asked, payments, refunds, ...plain } = transaction;
  return {
    ...plain,
    asked: toText(asked),
    received: payments.length === 0 ? null : toText(amountOnRecord(transaction)),
    refunded: refunds.length === 0 ? null : toText(amountRefunded(transaction)),
    timesPaid: payments.length,
    payments: payments.map(({ money, at, by }) => ({ ...toText(money), at, by })),
    checkoutUrl: checkoutUrl(token),
  };
}

function toText(money: Money): MoneyText {
  return { amount: formatAmount(money), currency: money.currency };
}
