import type { Mode } from '../platform/mode.ts';
import { minorDigits, parseMajor } from '../platform/money.ts';
import { foldWord, type Dialect } from './dialect.ts';
import { at, firstAt, isPresent, isRecord, numberText, stringOf, type Json } from './reading.ts';
import { readMode } from './record-mode.ts';

/** What a record of the service says of a payment, in our words. */
export type StatusClass = keyof Dialect['statuses'] | 'unknown';

/** A field of a record: its value, or that it is not there, or that what is there cannot be read. */
export type Reading<T> = { is: 'read'; value: T } | { is: 'absent' } | { is: 'unreadable' };

export type Evidence = {
  status: StatusClass;
  /** The service's own word, null when there is none. */
  statusWord: string | null;
  reference: Reading<string>;
  currency: Reading<string>;
  /** Minor units of the record's own currency (of `expectedCurrency` when the record names none). */
  amount: Reading<bigint>;
  /** Null: the record does not say, or in a word that we do not know. */
  mode: Mode | null;
};

/** Where the fields of a record stand: the dialect's pointers, of verify or of history. */
export type RecordPointers = Pick<Dialect['verify'], 'reference' | 'status' | 'amount' | 'currency'> &
  Partial<Pick<Dialect['verify'], 'mode'>>;

/** The record inside an answer and where it stands, or null. An envelope is not a record: see {@link isEnvelope}. */
export function findRecord(
  document: Json,
  pointers: readonly string[],
): { record: Record<string, Json>; pointer: string } | null {
  for (const pointer of pointers) {
    const record = at(document, pointer);
    if (isRecord(record) && Object.keys(record).length > 0 && !isEnvelope(record, pointer, pointers))
      return { record, pointer };
  }
  return null;
}

/**
 * `{"status": "success", "data": null}` speaks about the call, not about a payment. So a value is passed over when
 * another pointer leads through it: at `""` the key `data` of `/data` makes it an envelope.
 */
function isEnvelope(value: Record<string, Json>, pointer: string, pointers: readonly string[]): boolean {
  return pointers.some((other) => {
    if (other === pointer || !other.startsWith(`${pointer}/`)) return false;
    const next = other.slice(pointer.length + 1).split('/')[0] ?? '';
    return Object.hasOwn(value, next);
  });
}

/** Reads one record. Never throws: what cannot be read says so in its place. */
export function readEvidence(
  record: Json,
  pointers: RecordPointers,
  dialect: Dialect,
  expectedCurrency: string,
): Evidence {
  const statusWord = firstAt(record, pointers.status, stringOf);
  const currency = reading(record, pointers.currency, currencyOf);
  const unitCurrency = currency.is === 'read' ? currency.value : expectedCurrency;
  return {
    status: classOf(statusWord, dialect),
    statusWord,
    reference: reading(record, pointers.reference, stringOf),
    currency,
    amount: reading(record, pointers.amount, (value) => amountOf(value, unitCurrency, dialect.amountUnit)),
    mode: readMode(record, pointers.mode ?? []),
  };
}

function reading<T>(
  record: Json,
  pointers: readonly string[],
  accept: (value: Json) => T | null,
): Reading<T> {
  const value = firstAt(record, pointers, accept);
  if (value !== null) return { is: 'read', value };
  return { is: isPresent(record, pointers) ? 'unreadable' : 'absent' };
}

/** What a status word means by the dialect. */
export function classOf(word: string | null, dialect: Dialect): StatusClass {
  return word === null ? 'unknown' : (wordsOf(dialect).get(foldWord(word)) ?? 'unknown');
}

// A reconciliation reads a million records with one dialect: its words are folded once.
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

// Services write currency codes in either case; the letters decide.
function currencyOf(value: Json): string | null {
  const code = stringOf(value)?.toUpperCase() ?? '';
  return minorDigits(code) === null ? null : code;
}

function amountOf(value: Json, currency: string, unit: Dialect['amountUnit']): bigint | null {
  const text = numberText(value);
  if (text === null) return null;
  if (unit === 'major') return parseMajor(text, currency);
  return /^\d{1,18}$/.test(text) ? BigInt(text) : null; // 18 digits always fit a bigint column
}
