import { minorDigits } from '../../src/platform/money.ts';

/** An exact amount: a whole number of the currency's smallest unit (kobo, fils; for XOF the franc itself). */
export type Money = { minor: bigint; currency: string };

const PLAIN_DECIMAL = /^(0|[1-9]\d*)(\.\d+)?$/;

/** How many decimals a currency has by ISO 4217, or null for a code that is not a currency. */
export const decimalsOf = minorDigits;

/**
 * Reads a decimal text in major units ("25.00"). Never goes through a floating-point number.
 * @returns null for an unknown currency, another grammar, or more decimals than the currency has
 */
export function parseMoney(amount: string, currency: string): Money | null {
  const decimals = decimalsOf(currency);
  if (decimals === null || !PLAIN_DECIMAL.test(amount)) return null;
  const [whole = '', fraction = ''] = amount.split('.');
  if (fraction.length > decimals) return null;
  return { minor: BigInt(whole + fraction.padEnd(decimals, '0')), currency };
}

/** The amount in major units with all decimals of its currency: "25.00" NGN, "25" XOF, "25.000" KWD. */
export function formatAmount({ minor, currency }: Money): string {
  const decimals = decimalsOf(currency) ?? 0;
  const sign = minor < 0n ? '-' : ''; // a balance can fall below zero, when money goes back that was paid out
  const digits = (minor < 0n ? -minor : minor).toString().padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  return decimals === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}
