import { minorDigits } from '../../platform/money.ts';
import {
  ABOUT_STATUS,
  AMOUNT,
  AMOUNTS,
  CAME_IN,
  CAME_IN_AMOUNT,
  MINOR,
  MUST_BE_FALSE,
  MUST_BE_TRUE,
  NESTED,
  NOT_CAME_IN,
  NOW,
  OF_CALL,
  OF_CURRENCY,
  PAYMENT,
  RECORD_KEYS,
  TAKEN_BACK,
  WITH_AMOUNTS,
  WITH_CAME_IN,
  WITH_FLAG,
  WITH_TAKEN_BACK,
  wordsOfName,
} from './field-name-words.ts';

/** What a field beside those that the dialect names says about the payment, by its name alone. */
export type Meaning =
  /**
   * How much came in. Without a word like `amount` it may also be a flag or a time. The unit and the
   * currency are given where the name has its own.
   */
  | { tells: 'amount'; isCertain: boolean; isMinor: boolean; currency: string | null }
  | { tells: 'currency' }
  /** With `isPlace` it may hold something else, such as a part of a country or a sentence. */
  | { tells: 'status'; isPlace: boolean }
  | { tells: 'paid flag' }
  | { tells: 'trouble flag' }
  /** The kind of record: a payment's, or a refund's. */
  | { tells: 'kind' }
  /** A refund, reversal, dispute or chargeback; with `isWord` the field holds its status. */
  | { tells: 'taken back'; isWord: boolean };

const all = (words: readonly string[], known: ReadonlySet<string>): boolean =>
  words.every((word) => known.has(word));
const any = (words: readonly string[], known: ReadonlySet<string>): boolean =>
  words.some((word) => known.has(word));

/** @returns null for a field that is not about the payment's money, or is the status of something else */
export function meaningOf(name: string): Meaning | null {
  const known = meanings.get(name);
  if (known !== undefined) return known;
  const meaning = readMeaning(wordsOfName(name));
  if (meanings.size < MAX_KNOWN) meanings.set(name, meaning);
  return meaning;
}

// Cached: a history has a million records and a few dozen names.
const meanings = new Map<string, Meaning | null>();
const MAX_KNOWN = 2_000;

function readMeaning(words: readonly string[]): Meaning | null {
  const last = words.at(-1) ?? '';
  const isStatus = last === 'status' || last === 'state';
  if (any(words, TAKEN_BACK) && words.every((word) => TAKEN_BACK.has(word) || WITH_TAKEN_BACK.has(word)))
    return { tells: 'taken back', isWord: isStatus };
  const isAbout = ABOUT_STATUS.has(last) && ['status', 'state'].includes(words.at(-2) ?? '');
  if (isStatus || isAbout) {
    const whose = words.slice(0, isStatus ? -1 : -2);
    const isPlace = isAbout || whose.includes('sub');
    return whose.every((word) => word === 'sub' || OF_STATUS.some((set) => set.has(word)))
      ? { tells: 'status', isPlace }
      : null;
  }
  if (last === 'type' || last === 'kind' || (words.length === 1 && KINDS.has(last)))
    return words.slice(0, -1).every((word) => PAYMENT.has(word) || NOW.has(word)) ? { tells: 'kind' } : null;
  return readCurrency(words) ?? readAmount(words) ?? readFlag(words);
}

const KINDS = new Set(['object', 'entity', 'category']);
const OF_STATUS = [PAYMENT, NOW, AMOUNT, CAME_IN];

function readCurrency(words: readonly string[]): Meaning | null {
  const end = words.findIndex((word) => word === 'currency' || word === 'ccy');
  const behind = words.slice(end + 1);
  const isCode = behind.length === 0 || (behind.length === 1 && behind[0] === 'code');
  return end !== -1 && isCode && all(words.slice(0, end), OF_CURRENCY) ? { tells: 'currency' } : null;
}

function readAmount(words: readonly string[]): Meaning | null {
  const isNoun = any(words, AMOUNT);
  const came = any(words, CAME_IN) || (isNoun && any(words, CAME_IN_AMOUNT));
  if (!came && !words.includes('amount')) return null;
  const currency = words.map(codeIn).find((code) => code !== null) ?? null;
  const rest = words.filter((word) => !CAME_IN.has(word) && !AMOUNT.has(word) && codeIn(word) === null);
  const isPlain = words.includes('amount') && words.length === rest.length + 1 + (currency === null ? 0 : 1);
  if (isPlain && rest.every((word) => word === 'in' || MINOR.has(word)))
    return { tells: 'amount', isCertain: true, isMinor: any(words, MINOR), currency };
  if (!came || any(words, NOT_CAME_IN)) return null;
  if (!isNoun && !rest.every((word) => WITH_CAME_IN.has(word) || MINOR.has(word))) return null;
  return { tells: 'amount', isCertain: isNoun, isMinor: any(words, MINOR), currency };
}

/** The currency in a name like `amountPaidUsd`. English words that are also codes are not read as codes. */
function codeIn(word: string): string | null {
  if (word.length !== 3 || ['all', 'top', 'try'].includes(word)) return null;
  const code = word.toUpperCase();
  return minorDigits(code) === null ? null : code;
}

function readFlag(words: readonly string[]): Meaning | null {
  const of = (flags: ReadonlySet<string>): boolean =>
    any(words, flags) && words.every((word) => flags.has(word) || WITH_FLAG.has(word));
  if (of(new Set([...MUST_BE_FALSE, ...MUST_BE_TRUE])) && any(words, MUST_BE_FALSE))
    return { tells: 'trouble flag' };
  return of(MUST_BE_TRUE) ? { tells: 'paid flag' } : null;
}

/** Whether an object or a list of this name is the payment again, like `transaction` or `latestCharge`. */
export function isNestedName(name: string): boolean {
  const words = wordsOfName(name);
  const isContainerOnly = words.length > 0 && words.every((word) => DETAILS.has(word));
  return words.length > 0 && !isContainerOnly && words.every((word) => NESTED.has(word) || NOW.has(word));
}

/** Whether such an object may also describe the carrier of the payment: `gateway`, `provider`. */
export function isCarrierName(name: string): boolean {
  return !any(wordsOfName(name), NESTED);
}

const DETAILS = new Set(['info', 'detail', 'details', 'object', 'the', 'is', 'new', 'actual']);

/** Whether an object of this name holds amounts of the payment: `amount`, `amounts`, `amountDetails`. */
export function isAmountsName(name: string): boolean {
  const words = wordsOfName(name);
  return any(words, AMOUNTS) && words.every((word) => AMOUNTS.has(word) || WITH_AMOUNTS.has(word));
}

/** Whether an object with this key is a record, and not only a part of one. */
export function isRecordKey(name: string): boolean {
  return RECORD_KEYS.has(wordsOfName(name).at(-1) ?? '');
}

/** Whether a key beside a bare record's status speaks about the call. */
export function isCallKey(name: string): boolean {
  return OF_CALL.has(wordsOfName(name).join(' '));
}
