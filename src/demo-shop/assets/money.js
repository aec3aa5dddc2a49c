/**
 * Minor units as text for people, by the same rules as the server's `displayMoney`: the decimal point is put in as
 * text, so no amount passes through a float on its way.
 * @param {bigint} amount @param {string} currency @param {number} digits decimals of the currency's minor unit
 * @param {string} locale how the server wrote the prices on the page
 */
export function displayMinor(amount, currency, digits, locale) {
  const text = amount.toString().padStart(digits + 1, '0');
  const major = digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    currencyDisplay: 'code',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  const written = format.format(/** @type {Intl.StringNumericLiteral} */ (major));
  return written.replace(/\u00a0/g, ' ').replace(/[\u200e\u200f\u061c]/g, '');
}
