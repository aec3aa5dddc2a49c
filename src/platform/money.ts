import { code as currencyByCode } from 'currency-codes';
import { DEFAULT_LOCALE } from './locale.ts';

/**
 * Money is a count of minor units (bigint) and an ISO 4217 currency. It becomes text with a decimal point
 * only at the edges, and no float ever holds it.
 */
export type Money = { amount: bigint; currency: string };

/** `2500n` NGN is `"25.00"`, `2500n` XOF is `"2500"`. @throws RangeError for a code unknown to ISO 4217 */
export function formatMajor({ amount, currency }: Money): string {
  const digits = minorDigits(currency);
  if (digits === null) throw new RangeError(`${currency} is not an ISO 4217 currency`);
  const sign = amount < 0n ? '-' : '';
  const text = (amount < 0n ? -amount : amount).toString().padStart(digits + 1, '0');
  return digits === 0 ? sign + text : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** The largest amount that PostgreSQL's bigint holds. */
const MAX_MINOR = 2n ** 63n - 1n;

// No sign, no exponent, no separators.
const DECIMAL = /^(\d{1,15})(?:\.(\d{1,30}))?$/;

/**
 * Minor units of a decimal text, exactly: `"25.5"` NGN is `2550n`. Null when the text is not a plain decimal
 * or is finer than the currency's minor unit (`"99.995"` NGN): rounding would turn a wrong amount into a
 * right one.
 */
export function parseMajor(text: string, currency: string): bigint | null {
  const digits = minorDigits(currency);
  const parts = DECIMAL.exec(text);
  if (digits === null || parts === null) return null;
  const [, whole = '', fraction = ''] = parts;
  if (/[1-9]/.test(fraction.slice(digits))) return null;
  const minor = BigInt(whole + fraction.slice(0, digits).padEnd(digits, '0'));
  return minor <= MAX_MINOR ? minor : null;
}

// The longest number to write out, in digits, and the largest exponent.
const MAX_DIGITS = 40;
const MAX_EXPONENT = 30;
const SCIENTIFIC = /^(-?)(\d+)(?:\.(\d+))?[eE]([+-]?\d{1,3})$/;

/**
 * A JSON number with its exponent written out, digit by digit: `1.85e1` as `18.5`. Null when that
 * would be longer than any amount, so that `1e400` and `1e-400` cost nothing. A number without an
 * exponent is returned unchanged.
 */
export function plainDecimal(text: string): string | null {
  if (!/e/i.test(text)) return text;
  const [, sign = '', whole = '', fraction = '', exponent = ''] = SCIENTIFIC.exec(text) ?? [];
  const places = Number(exponent);
  const digits = whole + fraction;
  if (digits === '' || digits.length > MAX_DIGITS || Math.abs(places) > MAX_EXPONENT) return null;
  const point = whole.length + places;
  const written = digits
    .padStart(digits.length + Math.max(0, 1 - point), '0')
    .padEnd(Math.max(point, 1), '0');
  const at = Math.max(point, 1);
  const behind = written.slice(at);
  return `${sign}${written.slice(0, at).replace(/^0+(?=\d)/, '')}${behind === '' ? '' : `.${behind}`}`;
}

/** Whether two positive amounts differ by a power of ten: the mark of major and minor units mixed up. */
export function isPowerOfTenApart(a: bigint, b: bigint): boolean {
  const larger = a < b ? b : a;
  let scaled = a < b ? a : b;
  if (scaled <= 0n || scaled === larger) return false;
  while (scaled < larger) scaled *= 10n;
  return scaled === larger;
}

/** For people: `NGN 1,250.00` in the reader's language, with the currency's own number of decimals. */
export function displayMoney(money: Money, locale = DEFAULT_LOCALE): string {
  return displayMajor(formatMajor(money), money.currency, locale);
}

/** The same for an amount that is a decimal text already; it may be negative. */
export function displayMajor(text: string, currency: string, locale = DEFAULT_LOCALE): string {
  const digits = minorDigits(currency) ?? 0;
  return display(text, digits, { style: 'currency', currency, currencyDisplay: 'code' }, locale);
}

/** The same with the decimals that it has and without its currency, for places that already show it. */
export function displayNumber(text: string, locale = DEFAULT_LOCALE): string {
  return display(text, text.split('.')[1]?.length ?? 0, {}, locale);
}

function display(text: string, digits: number, style: Intl.NumberFormatOptions, locale: string): string {
  const options = { ...style, minimumFractionDigits: digits, maximumFractionDigits: digits };
  // A decimal string is formatted exactly; the typings lag behind the standard and ask for its literal type.
  const written = new Intl.NumberFormat(locale, options).format(text as Intl.StringNumericLiteral);
  // Direction marks would reorder the words around an amount; a plain space can be searched for and typed.
  return written.replace(/\u00a0/g, ' ').replace(/[\u200e\u200f\u061c]/g, '');
}

/**
 * Which codes are currencies. The ISO 4217 list is that of the package `currency-codes`: no other
 * package is maintained better, and Intl's decimals differ from ISO 4217. Currencies that the package
 * lacks are listed here, and so are codes of the standard that are no money.
 */

/** Newer than the package: the Caribbean guilder, since 2025-03-31. */
const NEWER: ReadonlyMap<string, number> = new Map([['XCG', 2]]);

/** Metals, drawing rights, units of account between banks, codes for tests and for "no currency". */
const NO_MONEY = new Set('XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX'.split(' '));

/** Amounts in them can be read, but no shopper can pay in them: funds codes and withdrawn currencies. */
const NOT_PAYABLE = new Set('BOV CHE CHW CLF COU MXV USN UYI UYW ANG BGN CUC'.split(' '));

// Cached: the package searches its whole list at each lookup, and accepts small letters for capitals.
const knownDigits = new Map<string, number>();

/**
 * Decimal digits of a currency's minor unit by ISO 4217 (NGN 2, XOF 0, KWD 3), or null for a
 * code that is no money.
 */
export function minorDigits(currency: string): number | null {
  const known = knownDigits.get(currency);
  if (known !== undefined) return known;
  if (!/^[A-Z]{3}$/.test(currency) || NO_MONEY.has(currency)) return null;
  const digits = currencyByCode(currency)?.digits ?? NEWER.get(currency) ?? null;
  // Only currencies are cached, of all texts from outside: there are no more than two hundred.
  if (digits !== null) knownDigits.set(currency, digits);
  return digits;
}

/**
 * The currency that a text from outside names, for something to be paid: `"ngn"` is NGN, as letters have
 * no other meaning here. Null for a code that no shopper can pay in.
 */
export function payableCurrency(text: string): string | null {
  const code = text.toUpperCase();
  return minorDigits(code) === null || NOT_PAYABLE.has(code) ? null : code;
}

/** The message for people, where {@link payableCurrency} returns null. */
export const MUST_BE_PAYABLE =
  'must be the ISO 4217 code of a currency that people pay in, like "NGN"; ' +
  'codes of metals, funds, tests and withdrawn currencies are none';
