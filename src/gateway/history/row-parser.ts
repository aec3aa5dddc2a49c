import { createHash } from 'node:crypto';
import type { Dialect } from '../dialect/dialect.ts';
import { readEvidence, type Evidence, type RecordPointers } from '../records/evidence.ts';
import { fingerprintOf, MAX_TEXT, type HistoryRow, type ReadRow } from './row.ts';
import { amountOf, feeOf } from '../records/field-values.ts';
import { firstAt, isRecord, numberText, tryReadJson, type Json } from '../dialect/json-pointer.ts';

/** Pointers to the fields of a row. */
export type RowPointers = Omit<RecordPointers, 'mode'> & { serviceId: readonly string[] };

/** The largest bigint of PostgreSQL. */
const MAX_AMOUNT = 2n ** 63n - 1n;

export function rowPointers({ history, verify }: Dialect): RowPointers {
  return {
    reference: history.reference ?? verify.reference,
    status: history.status ?? verify.status,
    amount: history.amount ?? verify.amount,
    currency: history.currency ?? verify.currency,
    serviceId: history.id,
  };
}

/**
 * Reads any record as the dialect says, by parsing it.
 * @param assumedCurrency the currency of an amount without one, where the dialect allows that; null: unknown
 * @param onParsed is called with each record that is a JSON object
 */
export function createCarefulReader(
  dialect: Dialect,
  assumedCurrency: string | null,
  onParsed: (bytes: Buffer, record: Json) => void = () => undefined,
): ReadRow {
  const pointers = rowPointers(dialect);
  const { verify, history, amountUnit } = dialect;
  const fallback = verify.currencyMayBeAbsent ? (assumedCurrency ?? '') : '';
  // A row of a negative amount is money that went back, under the reference of its payment, and so much of
  // it.
  const readRow = (record: Record<string, Json>): Evidence => {
    const evidence = readEvidence(record, pointers, dialect, fallback);
    const isOfMoney = evidence.status === 'paid' || evidence.status === 'reversed';
    if (!isOfMoney || evidence.amount.is !== 'unreadable') return evidence;
    const [, text] = /^-(\d[\d.]*)$/.exec(firstAt(record, pointers.amount, numberText) ?? '') ?? [];
    const currency = evidence.currency.is === 'read' ? evidence.currency.value : fallback;
    const value = text === undefined ? null : amountOf(text, currency, amountUnit);
    return value === null ? evidence : { ...evidence, status: 'reversed', amount: { is: 'read', value } };
  };
  return (chunk, start, end) => {
    const bytes = chunk.subarray(start, end);
    // Not an object: not JSON, not UTF-8, the same key twice, or nested beyond the stack.
    const record = tryReadJson(bytes);
    if (!isRecord(record)) return unreadable(bytes);
    onParsed(bytes, record);
    const evidence = readRow(record);
    const reference = firstAt(record, pointers.reference, numberText);
    const serviceId = sanitizeOrNull(firstAt(record, pointers.serviceId, numberText));
    const money = moneyOf(evidence, verify, fallback);
    const isReadable = reference !== null && evidence.statusWord !== null;
    // A contradictory record is neither paid nor failed. It is not unreadable, either: its reference,
    // word and amount are kept for the operator, and the payment it names is raised with them
    // (unknown_status), not as a row that belongs to no payment.
    const status = evidence.contradiction === null ? evidence.status : 'unknown';
    const isMoneyMissing = evidence.status === 'paid' && money.amount === null && !money.isMoneyAssumed;
    return {
      reference: reference === null ? null : sanitize(reference),
      serviceId,
      status: isReadable && !isMoneyMissing ? status : 'unreadable',
      statusWord: sanitizeOrNull(evidence.statusWord),
      ...money,
      fee: firstAt(record, history.fee ?? [], (value) => feeOf(value, money.currency ?? '', amountUnit)),
      digest:
        reference === null
          ? digestOf(bytes)
          : serviceId === null || status === 'reversed'
            ? fingerprintOf(chunk, start, end)
            : null,
    };
  };
}

function moneyOf(
  { amount, currency }: Evidence,
  rules: Dialect['verify'],
  fallback: string,
): Pick<HistoryRow, 'amount' | 'currency' | 'isMoneyAssumed'> {
  const code =
    currency.is === 'read' ? currency.value : currency.is === 'absent' && fallback !== '' ? fallback : null;
  const value = amount.is === 'read' && amount.value <= MAX_AMOUNT ? amount.value : null;
  if (code !== null && value !== null) return { amount: value, currency: code, isMoneyAssumed: false };
  const isAmountExcused = amount.is === 'absent' && rules.amountMayBeAbsent;
  const isCurrencyExcused = currency.is === 'absent' && rules.currencyMayBeAbsent;
  // Without a known currency the unit of the amount is unknown, so the amount is dropped.
  return {
    amount: null,
    currency: code,
    isMoneyAssumed: isAmountExcused && (code !== null || isCurrencyExcused),
  };
}

function unreadable(bytes: Buffer): HistoryRow {
  const nothing = { reference: null, serviceId: null, statusWord: null, amount: null, currency: null };
  return { ...nothing, status: 'unreadable', isMoneyAssumed: false, fee: null, digest: digestOf(bytes) };
}

function digestOf(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
}

function sanitizeOrNull(text: string | null): string | null {
  return text === null ? null : sanitize(text);
}

/** PostgreSQL holds no NUL, and its indexes no long texts. Different long texts stay different. */
function sanitize(text: string): string {
  const visible = text.includes('\0') ? text.replaceAll('\0', '\u2400') : text;
  return visible.length <= MAX_TEXT ? visible : `${visible.slice(0, MAX_TEXT - 20)}…${digestOf(text)}`;
}
