import { code as currencyByCode } from 'currency-codes';

/**
 * Which codes are currencies. The list of ISO 4217 is that of the package `currency-codes`; no other package
 * is kept better, and what Intl says of decimals differs from ISO 4217. What the package has not got yet
 * stands here, and so does what the standard lists although it is no money.
 */

/** Newer than the package: the Caribbean guilder, since 2025-03-31. */
const NEWER: ReadonlyMap<string, number> = new Map([['XCG', 2]]);

/** Metals, drawing rights, units of account between banks, codes for tests and for "no currency". */
const NO_MONEY = new Set('XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX'.split(' '));

/**
 * Amounts in them can be read, and no shopper can pay in them: funds codes, and currencies that are
 * withdrawn.
 */
const NOT_PAYABLE = new Set('BOV CHE CHW CLF COU MXV USN UYI UYW ANG BGN CUC'.split(' '));

// The package walks through its whole list for each look, and takes small letters for capitals.
const knownDigits = new Map<string, number>();

/**
 * Decimal digits of a currency's minor unit by ISO 4217 (NGN 2, XOF 0, KWD 3), or null for a code that is no
 * money.
 */
export function minorDigits(currency: string): number | null {
  const known = knownDigits.get(currency);
  if (known !== undefined) return known;
  if (!/^[A-Z]{3}$/.test(currency) || NO_MONEY.has(currency)) return null;
  const digits = currencyByCode(currency)?.digits ?? NEWER.get(currency) ?? null;
  // Texts from outside are kept only where they are currencies: there are no more than two hundred.
  if (digits !== null) knownDigits.set(currency, digits);
  return digits;
}

/**
 * The currency that a text from outside names, for something that is to be paid: `"ngn"` is NGN, as letters
 * have no other meaning here. Null for what nobody can pay in.
 */
export function payableCurrency(text: string): string | null {
  const code = text.toUpperCase();
  return minorDigits(code) === null || NOT_PAYABLE.has(code) ? null : code;
}

/** For people, where {@link payableCurrency} says null. */
export const MUST_BE_PAYABLE =
  'must be the ISO 4217 code of a currency that people pay in, like "NGN"; ' +
  'codes of metals, funds, tests and withdrawn currencies are none';
