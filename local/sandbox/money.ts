/*
 * An amount is an integer in units of 10^-12 of the currency's major unit. It is exact and has
 * enough digits for every currency and for the wrong amounts of tests.
 */
const DECIMALS = 12;
const PLAIN_DECIMAL = /^(\d{1,15})(?:\.(\d{1,12}))?$/;

/**
 * Reads 25, 12.5 or "12.50", in major units. Null if the value is not a plain decimal, or has more
 * than twelve decimals.
 */
export function parseAmount(value: unknown): bigint | null {
  if (typeof value !== 'number' && typeof value !== 'string') return null;
  const [, whole, fraction = ''] = PLAIN_DECIMAL.exec(String(value)) ?? [];
  return whole === undefined ? null : BigInt(whole + fraction.padEnd(DECIMALS, '0'));
}

/** The shortest text in major units: "25", "12.5". */
export function amountText(amount: bigint): string {
  const digits = amount.toString().padStart(DECIMALS + 1, '0');
  return `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`.replace(/\.?0+$/, '');
}

/** The value in an answer: a JSON number in major units. */
export function amountNumber(amount: bigint): number {
  return Number(amountText(amount));
}
