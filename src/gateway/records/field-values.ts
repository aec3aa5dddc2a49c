import { isLosslessNumber } from 'lossless-json';
import { minorDigits, parseMajor, plainDecimal } from '../../platform/money.ts';
import { foldWord, type Dialect } from '../dialect/dialect.ts';
import { numberText, stringOf, type Json, at, isRecord } from '../dialect/json-pointer.ts';
import type { Mode } from '../../platform/mode.ts';
import { wordsOfName } from './field-name-words.ts';

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

const MODES: Record<string, Mode> = {
  test: 'test',
  'test mode': 'test',
  sandbox: 'test',
  live: 'live',
  'live mode': 'live',
  production: 'live',
};

/**
 * The mode that a record names, null when it names none. This is a second check after the key's prefix,
 * so only unambiguous values count. Any other word is ignored and not held against the payment: the
 * pointers are guesses, and `mode` may just as well be "card".
 */
export function readMode(record: Json, pointers: readonly string[]): Mode | null {
  for (const pointer of placesOfMode(record, pointers)) {
    const mode = modeOf(at(record, pointer), pointer);
    if (mode !== null) return mode;
  }
  return null;
}

/**
 * The pointers, and where the record says by a flag whether it is a test: `isTest`, `sandbox`, `live_mode`.
 */
export function placesOfMode(record: Json, pointers: readonly string[]): string[] {
  if (!isRecord(record) || pointers.length === 0) return [...pointers];
  const names = Object.keys(record).filter(
    (name) => IS_OF_MODE.test(name) && wordsOfName(name).every((word) => WITH_MODE.has(word)),
  );
  return [...new Set([...pointers, ...names.map((name) => `/${name}`)])];
}

const IS_OF_MODE = /test|live|sandbox/i;
const WITH_MODE = new Set(['test', 'live', 'sandbox', 'is', 'in', 'mode', 'payment', 'transaction']);

/** @param pointer where the value is: the name decides what a flag means */
export function modeOf(value: Json, pointer: string): Mode | null {
  const flag = typeof value === 'boolean' ? value : FLAGS.get(foldWord(numberText(value) ?? ''));
  return (flag === undefined ? null : modeOfFlag(flag, pointer)) ?? modeOfWord(value);
}

const FLAGS = new Map(Object.entries({ true: true, yes: true, 1: true, false: false, no: false, 0: false }));

function modeOfWord(value: Json): Mode | null {
  const word = foldWord(stringOf(value) ?? '');
  return Object.hasOwn(MODES, word) ? (MODES[word] ?? null) : null;
}

/** `livemode: false` is test and `is_test: false` is live: the name decides what a flag means. */
function modeOfFlag(isSet: boolean, pointer: string): Mode | null {
  const name = pointer.slice(pointer.lastIndexOf('/') + 1);
  if (/live/i.test(name)) return isSet ? 'live' : 'test';
  if (/test|sandbox/i.test(name)) return isSet ? 'test' : 'live';
  return null;
}

/** Whether a field holds no value at all. */
export function isNothing(value: Json): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value === 'string') return value.trim() === '';
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.keys(value).length === 0;
}

/** Words for "there is none", or for a refund that did not happen: the money is still here. */
const NONE = new Set(
  [
    '- no none null nil false n na n/a never won failed rejected declined cancelled canceled'.split(' '),
    'eligible available refundable allowed possible enabled disabled'.split(' '),
    ['not refunded', 'not reversed', 'not disputed', 'not applicable', 'not requested', 'not initiated'],
    ['no refund', 'no dispute', 'no chargeback', 'unrefunded', 'undisputed', 'unclaimed', 'withdrawn'],
    ['not available', 'not eligible', 'no refund requested', 'no reversal'],
  ].flat(),
);

/** Zero in any notation, and the times that mean "not yet". */
const ZERO = /^[+-]?[A-Z]{0,3} ?0+([.,]0*)?(e[+-]?\d+)? ?[A-Z]{0,3}%?$|^(0000|0001)-|^1970-01-01T00:00:00/i;

/**
 * Whether the value of a field like `refunded`, `reversedAt` or `dispute` says that there is one: true, a
 * positive number, a time, an id, a record. Zero, false, null, an empty list and words for none do not.
 */
export function isTakenBack(value: Json): boolean {
  if (isNothing(value)) return false;
  if (typeof value === 'boolean') return value;
  if (Array.isArray(value)) return true;
  if (isRecord(value)) return isRecordTakenBack(value);
  const text = numberText(value) ?? '';
  return !ZERO.test(text) && !NONE.has(foldWord(text));
}

/** Fields that say where to find refunds, and whether refunds are possible. */
const OF_RULES = /^(href|url|uri|links?|_links|available|enabled|eligible|allowed|possible|days|policy)$/i;

/** `{"object": "list", "data": [], "total": 0}` holds none. Lists and sums decide first, then words. */
function isRecordTakenBack(record: Record<string, Json>): boolean {
  const members = Object.entries(record).filter(([name]) => !OF_RULES.test(name));
  const lists = members.map(([, value]) => value).filter((value) => Array.isArray(value));
  const sums = members
    .filter(([name]) => /amount|total|value|count|sum/i.test(name))
    .map(([, value]) => value);
  const known = sums.filter((value) => !isNothing(value));
  if (lists.length + known.length > 0)
    return lists.some((list) => list.length > 0) || known.some(isTakenBack);
  const words = members.filter(([name]) => /^(is|has|status|state)|refunded|reversed|disputed/i.test(name));
  const values = (words.length > 0 ? words : members).map(([, value]) => value);
  return values.some(isTakenBack);
}
