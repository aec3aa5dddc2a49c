import { code as currencyByCode } from 'currency-codes';

/**
 * Money is a number of minor units (bigint) and an ISO 4217 currency. It becomes a decimal text
 * only at the edges of the program, and is never stored in a float.
 */
export type Money = { amount: bigint; currency: string };

/**
 * `2500n` NGN is `"25.00"`, `2500n` XOF is `"2500"`.
 * @throws RangeError if ISO 4217 does not have the code
 */
export function formatMajor({ amount, currency }: Money, digits = minorDigits(currency)): string {
  if (digits === null) throw new RangeError(`${currency} is not an ISO 4217 currency`);
  const sign = amount < 0n ? '-' : '';
  const text = (amount < 0n ? -amount : amount).toString().padStart(digits + 1, '0');
  return digits === 0 ? sign + text : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** The largest value of PostgreSQL's bigint. */
const MAX_MINOR = 2n ** 63n - 1n;
// No exponent and no separators.
const DECIMAL = /^(-?)(\d{1,15})(?:\.(\d{1,30}))?$/;

/**
 * The minor units of a decimal text, exactly: `"25.5"` NGN is `2550n`. Null if the text is not a
 * plain decimal, or is finer than the currency's minor unit (`"99.995"` NGN), because rounding
 * could turn a wrong amount into a right one.
 */
export function parseMajor(text: string, currency: string, digits = minorDigits(currency)): bigint | null {
  const [, sign, whole = '', fraction = ''] = DECIMAL.exec(text) ?? [];
  if (digits === null || sign === undefined || /[1-9]/.test(fraction.slice(digits))) return null;
  const minor = BigInt(whole + fraction.slice(0, digits).padEnd(digits, '0'));
  if (minor > MAX_MINOR) return null;
  return sign === '-' ? -minor : minor;
}

/**
 * Whether two positive amounts differ by a power of ten, which suggests that major and minor units
 * were mixed up.
 */
export function isPowerOfTenApart(a: bigint, b: bigint): boolean {
  const larger = a < b ? b : a;
  let scaled = a < b ? a : b;
  if (scaled <= 0n || scaled === larger) return false;
  while (scaled < larger) scaled *= 10n;
  return scaled === larger;
}

// The decimals come from the package `currency-codes`, because those of Intl differ from ISO 4217.
// The constants below add the missing codes and exclude the codes that are not money.
const NEWER: ReadonlyMap<string, number> = new Map([['XCG', 2]]);
/**
 * Metals, special drawing rights, units of account between banks, codes for tests and for "no
 * currency".
 */
const NO_MONEY = new Set('XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX'.split(' '));
/**
 * Funds codes and withdrawn currencies. Amounts in them can be read, but no shopper can pay in
 * them.
 */
const NOT_PAYABLE = new Set('BOV CHE CHW CLF COU MXV USN UYI UYW ANG BGN CUC'.split(' '));

// Cached, because the package searches its whole list at each lookup. Only currencies are cached: a
// few hundred.
const knownDigits = new Map<string, number>();

/**
 * The number of decimal digits of a currency by ISO 4217 (NGN 2, XOF 0, KWD 3). Null if the code is
 * not money.
 */
export function minorDigits(currency: string): number | null {
  const known = knownDigits.get(currency);
  if (known !== undefined) return known;
  if (!/^[A-Z]{3}$/.test(currency) || NO_MONEY.has(currency)) return null;
  const digits = currencyByCode(currency)?.digits ?? NEWER.get(currency) ?? null;
  if (digits !== null) knownDigits.set(currency, digits);
  return digits;
}

/** The currency that a text names, if a shopper can pay in it; otherwise null. */
export function payableCurrency(text: string): string | null {
  const code = text.toUpperCase();
  return minorDigits(code) === null || NOT_PAYABLE.has(code) ? null : code;
}

/** The message if {@link payableCurrency} returns null. */
export const MUST_BE_PAYABLE = 'must be the ISO 4217 code of a currency that people pay in, like "NGN"';
