import { code as currencyByCode } from 'currency-codes';

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
