import type { Mode } from '../../platform/mode.ts';
import type { RecordPointers } from './claims.ts';
import { findContradiction, isAllBack } from './contradictions.ts';
import type { Dialect } from '../dialect/dialect.ts';
import { amountOf, classOf, currencyOf, type StatusClass, feeOf, readMode } from './field-values.ts';
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
