import { LosslessNumber } from 'lossless-json';

import { amountOnRecord } from '../../assumptions.ts';
import type { Payment, Transaction } from '../../ledger/transaction.ts';
import { formatAmount, type Money } from '../../money.ts';

/** A JSON number in major units that carries all decimals of its currency: 25.00, 25, 25.000. */
export function majorNumber(money: Money): LosslessNumber {
  return new LosslessNumber(formatAmount(money));
}

/** A JSON number in major units with four decimals, whatever its currency has: 25.0000 naira, 2500.0000 francs. */
export function longNumber(money: Money): LosslessNumber {
  const [whole = '', fraction = ''] = formatAmount(money).split('.');
  return new LosslessNumber(`${whole}.${fraction.padEnd(4, '0')}`);
}

/** A JSON number of the smallest units: 2500. */
export function minorNumber({ minor }: Pick<Money, 'minor'>): LosslessNumber {
  return new LosslessNumber(minor.toString());
}

/** `{value, currency}` with the value as a text. */
export function valueObject(money: Money): { value: string; currency: string } {
  return { value: formatAmount(money), currency: money.currency };
}

/** Three in a thousand, rounded down: what the service keeps of a payment. */
export function feeOf({ minor, currency }: Money): Money {
  return { minor: (minor * 3n) / 1_000n, currency };
}

export function plus(money: Money, more: Money): Money {
  return { ...money, minor: money.minor + more.minor };
}

export function minus(money: Money, less: Money): Money {
  return { ...money, minor: money.minor - less.minor };
}

/** What really came: nothing before it was paid. */
export function received(transaction: Transaction): Money {
  const { payments, asked } = transaction;
  return payments.length === 0 ? { minor: 0n, currency: asked.currency } : amountOnRecord(transaction);
}

/** Whether money came and how it compares with what was asked for. */
export function comparison(transaction: Transaction): 'exact' | 'over' | 'under' | 'other currency' {
  const { asked } = transaction;
  const { minor, currency } = received(transaction);
  if (currency !== asked.currency) return 'other currency';
  if (minor === asked.minor) return 'exact';
  return minor > asked.minor ? 'over' : 'under';
}

export function paidAt({ payments }: { payments: readonly Payment[] }): string | null {
  return payments.at(-1)?.at ?? null;
}
