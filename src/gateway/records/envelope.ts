import { isNestedRecord } from './claims.ts';
import { foldWord } from '../dialect/dialect.ts';
import { isCallKey } from './field-meaning.ts';
import { at, isRecord, numberText, type Json } from '../dialect/json-pointer.ts';
import { wordsOfName } from './field-name-words.ts';
import { isNothing } from './field-values.ts';

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
