import { isLosslessNumber } from 'lossless-json';
import { minorDigits, parseMajor, plainDecimal } from '../../platform/money.ts';
import { foldWord, type Dialect } from '../dialect/dialect.ts';
import { numberText, stringOf, type Json } from '../dialect/json-pointer.ts';

/** What a record says of a payment, in our words. */
export type StatusClass = keyof Dialect['statuses'] | 'unknown';

/** The meaning of a status word in the dialect. */
export function classOf(word: string | null, dialect: Dialect): StatusClass {
  return word === null ? 'unknown' : (wordsOf(dialect).get(foldWord(word)) ?? 'unknown');
}

// Cached: a reconciliation reads a million records with one dialect.
const foldedWords = new WeakMap<Dialect, Map<string, StatusClass>>();

function wordsOf(dialect: Dialect): Map<string, StatusClass> {
  const known = foldedWords.get(dialect);
  if (known !== undefined) return known;
  const classes = Object.entries(dialect.statuses) as [StatusClass, string[]][];
  const words = new Map(
    classes.flatMap(([name, list]) => list.map((word) => [foldWord(word), name] as const)),
  );
  foldedWords.set(dialect, words);
  return words;
}

/** Services write currency codes in either case. */
export function currencyOf(value: Json): string | null {
  const text = stringOf(value) ?? '';
  // Letters of other alphabets become these when they are made large.
  const code = /^[a-z]{3}$/i.test(text) ? text.toUpperCase() : '';
  return minorDigits(code) === null ? null : code;
}

/** Minor units of `currency`, exactly; null when the value is no amount in it. */
export function amountOf(value: Json, currency: string, unit: Dialect['amountUnit']): bigint | null {
  const text = decimalText(value);
  if (text === null) return null;
  if (unit === 'major') return parseMajor(text, currency);
  return /^\d{1,18}$/.test(text) ? BigInt(text) : null; // 18 digits always fit a bigint column
}

/** The same for a fee, which some services write with a minus and some without. */
export function feeOf(value: Json, currency: string, unit: Dialect['amountUnit']): bigint | null {
  return amountOf(decimalText(value)?.replace(/^-/, '') ?? null, currency, unit);
}

/**
 * Like {@link numberText}, but a JSON number is written without an exponent: some JSON writers put 18.50
 * as `1.85e1`. A text is left as it is: no service writes amounts so, and a guess is not evidence.
 */
export function decimalText(value: Json): string | null {
  return isLosslessNumber(value) ? plainDecimal(value.value) : numberText(value);
}
