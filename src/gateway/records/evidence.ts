import type { Mode } from '../../platform/mode.ts';
import { isNestedRecord, type RecordPointers } from './claims.ts';
import { findContradiction, isAllBack } from './contradictions.ts';
import { foldWord, type Dialect } from '../dialect/dialect.ts';
import { isCallKey } from './field-meaning.ts';
import { wordsOfName } from './field-name-words.ts';
import {
  amountOf,
  classOf,
  currencyOf,
  type StatusClass,
  feeOf,
  isNothing,
  readMode,
} from './field-values.ts';
import {
  at,
  firstAt,
  isPresent,
  isRecord,
  numberText,
  stringOf,
  type Json,
  tryReadJson,
} from '../dialect/json-pointer.ts';

export type { RecordPointers } from './claims.ts';
export { classOf, type StatusClass } from './field-values.ts';

/** A field of a record: its value, or absent, or present and unreadable. */
export type Reading<T> = { is: 'read'; value: T } | { is: 'absent' } | { is: 'unreadable' };

export type Evidence = {
  status: StatusClass;
  /** The service's own word, null when there is none. */
  statusWord: string | null;
  reference: Reading<string>;
  currency: Reading<string>;
  /** Minor units of the record's own currency, or of `expectedCurrency` when the record names none. */
  amount: Reading<bigint>;
  /** Null: the record does not say, or uses a word that we do not know. */
  mode: Mode | null;
  /**
   * Which fields contradict a record that says paid, in words and without their values; null: none. Such
   * a record proves nothing: see docs/what-we-believe.md.
   */
  contradiction: string | null;
  /** Whether it contradicts itself because all of its money went back. */
  isAllBack: boolean;
};

/** The record inside an answer and its place, or null. An envelope is no record: see {@link isEnvelope}. */
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
 * `{"status": "success", "data": null}` is about the call, not about a payment. So a value is skipped
 * when another pointer leads through it: at `""` the key `data` of `/data` makes it an envelope.
 */
function isEnvelope(value: Record<string, Json>, pointer: string, pointers: readonly string[]): boolean {
  return pointers.some((other) => {
    if (other === pointer || !other.startsWith(`${pointer}/`)) return false;
    const next = other.slice(pointer.length + 1).split('/')[0] ?? '';
    return Object.hasOwn(value, next);
  });
}

/** Reads one record. Never throws: a field that cannot be read is marked as unreadable. */
export function readEvidence(
  record: Json,
  pointers: RecordPointers,
  dialect: Dialect,
  expectedCurrency: string,
): Evidence {
  const statusWord = firstAt(record, pointers.status, stringOf);
  const currency = reading(record, pointers.currency, currencyOf);
  const unitCurrency = currency.is === 'read' ? currency.value : expectedCurrency;
  const status = classOf(statusWord, dialect);
  const amount = reading(record, pointers.amount, (value) =>
    amountOf(value, unitCurrency, dialect.amountUnit),
  );
  const mode = readMode(record, pointers.mode ?? []);
  const read = {
    amount: amount.is === 'read' ? amount.value : null,
    currency: unitCurrency,
    reference: firstAt(record, pointers.reference, numberText),
    mode,
  };
  const contradiction = status === 'paid' ? findContradiction(record, pointers, dialect, read) : null;
  return {
    status,
    statusWord,
    reference: reading(record, pointers.reference, stringOf),
    currency,
    amount,
    mode,
    contradiction,
    isAllBack: contradiction !== null && isAllBack(record, pointers, dialect, read),
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

/**
 * The fee that a stored answer of verify names where the dialect looks for it (`history.fee`).
 * @returns minor units of `currency`; null: the dialect or the answer names none, or it cannot be read
 */
export function feeOfAnswer(body: Buffer, currency: string, dialect: Dialect): bigint | null {
  const { verify, history, amountUnit } = dialect;
  const found = findRecord(tryReadJson(body), verify.record);
  return found && firstAt(found.record, history.fee ?? [], (value) => feeOf(value, currency, amountUnit));
}

/**
 * What an answer says about its own call, next to or around a payment's record. HTTP 200 does not mean that
 * the call succeeded: a record inside a failure may be another payment's, or out of date, and proves nothing.
 */

/** Names that never belong to a payment, in words. */
const CALL_NAMES = new Set(['success', 'is success', 'ok', 'request successful']);
/** Names about the call in an envelope, which may be the payment's own in a record. */
const ENVELOPE_NAMES = new Set([...CALL_NAMES, 'status', 'successful', 'is successful', 'succeeded']);
const CODE_KEYS = ['status', 'code', 'statusCode'];

// Only unambiguous words. Some services write 0, "0" or "00" for success.
const FAILURE_WORDS = new Set(['false', 'fail', 'failed', 'failure', 'error', 'unsuccessful']);
const NO_ERROR_WORDS = new Set(['', '0', '00', 'false', 'no', 'none', 'null']);
const HTTP_ERROR = /^[45]\d\d$/;

/** @param recordPointer where in the answer the record stands; `""`: the answer is the record itself */
export function isFailedCall(document: Json, recordPointer: string): boolean {
  // In a bare record `status` is the payment's own word; `code` and `error` may be, too.
  if (recordPointer === '') return isBareFailure(document);
  const keys = recordPointer.split('/').slice(0, -1);
  return keys.some((_key, index) => isFailedEnvelope(at(document, keys.slice(0, index + 1).join('/'))));
}

/** The key beside a bare record's status that shows it to be an envelope; null: it is a record. */
export function callKeyBeside(record: Record<string, Json>): string | null {
  const keys = Object.entries(record).find(([name, value]) => isCallKey(name) || isNestedRecord(name, value));
  return keys?.[0] ?? null;
}

/** Whether an envelope's own words say that the call failed. */
export function isFailedEnvelope(envelope: Json): boolean {
  if (!isRecord(envelope)) return false;
  return (
    hasFailed(envelope, ENVELOPE_NAMES) ||
    CODE_KEYS.some((key) => HTTP_ERROR.test(numberText(own(envelope, key)) ?? '')) ||
    namesError(own(envelope, 'error')) ||
    namesError(own(envelope, 'errors'))
  );
}

function isBareFailure(record: Json): boolean {
  if (!isRecord(record)) return false;
  return hasFailed(record, CALL_NAMES) || own(record, 'error') === true;
}

function hasFailed(record: Record<string, Json>, names: ReadonlySet<string>): boolean {
  return Object.entries(record).some(
    ([name, value]) => isFailure(value) && names.has(wordsOfName(name).join(' ')),
  );
}

function isFailure(value: Json): boolean {
  return value === false || (typeof value === 'string' && FAILURE_WORDS.has(foldWord(value)));
}

function namesError(value: Json): boolean {
  const text = numberText(value) ?? (value === '' ? value : null);
  if (text !== null) return !NO_ERROR_WORDS.has(foldWord(text));
  if (Array.isArray(value)) return value.some((one) => !isNothing(one));
  // With every field null, it is only the place for an error.
  return value === true || (isRecord(value) && Object.values(value).some((one) => !isNothing(one)));
}

function own(record: Record<string, Json>, key: string): Json {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
