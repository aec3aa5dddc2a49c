import { createHash } from 'node:crypto';
import type { Dialect } from './dialect.ts';
import { readEvidence, type Evidence, type RecordPointers, type StatusClass } from './evidence.ts';
import { firstAt, isRecord, numberText, readJson, type Json } from './reading.ts';

/** One record of the history in our words. A hint about a payment, never evidence. */
export type HistoryRow = {
  /** Null: the record names none. Numbers keep their digits; text that a database or a page cannot hold is replaced. */
  reference: string | null;
  /** The service's own id of the transaction, if the record shows one. Text, because ids go beyond 2^53. */
  serviceId: string | null;
  /** `unreadable`: the record is no object, or it lacks reference, status, or the money of something paid. */
  status: StatusClass | 'unreadable';
  /** The service's own word, for people. */
  statusWord: string | null;
  /** Minor units of `currency`. Null when absent or unreadable. */
  amount: bigint | null;
  currency: string | null;
  /** Whether the dialect lets the expected money stand for what the record does not say. */
  isMoneyAssumed: boolean;
  /** Stands for the record where it has no reference: the same record has the same digest tomorrow. */
  digest: string | null;
};

export type ReadRow = (record: Buffer) => HistoryRow;

/** Assumed: most services call it so. Wrong: two charges on one reference cannot be told from one charge listed twice. */
const SERVICE_ID = ['/id'];
/** Longer texts are cut, with a digest behind them: an index entry of PostgreSQL holds no more than 2,700 bytes. */
const MAX_TEXT = 160;
/** The largest bigint of PostgreSQL. */
const MAX_AMOUNT = 2n ** 63n - 1n;

/** @param assumedCurrency what an amount without a currency is in, where the dialect allows that; null: unknown */
export function createRowReader(dialect: Dialect, assumedCurrency: string | null): ReadRow {
  const { history, verify } = dialect;
  const pointers: RecordPointers = {
    reference: history.reference ?? verify.reference,
    status: history.status ?? verify.status,
    amount: history.amount ?? verify.amount,
    currency: history.currency ?? verify.currency,
  };
  const fallback = verify.currencyMayBeAbsent ? (assumedCurrency ?? '') : '';
  return (bytes) => {
    const record = parseRecord(bytes);
    if (record === null) return unreadable(bytes);
    const evidence = readEvidence(record, pointers, dialect, fallback);
    const reference = firstAt(record, pointers.reference, numberText);
    const money = moneyOf(evidence, verify, fallback);
    const isReadable = reference !== null && evidence.statusWord !== null;
    const isMoneyMissing = evidence.status === 'paid' && money.amount === null && !money.isMoneyAssumed;
    return {
      reference: reference === null ? null : tame(reference),
      serviceId: tameOrNull(firstAt(record, SERVICE_ID, numberText)),
      status: isReadable && !isMoneyMissing ? evidence.status : 'unreadable',
      statusWord: tameOrNull(evidence.statusWord),
      ...money,
      digest: reference === null ? digestOf(bytes) : null,
    };
  };
}

function parseRecord(bytes: Buffer): Record<string, Json> | null {
  try {
    const record = readJson(bytes);
    return isRecord(record) ? record : null;
  } catch {
    return null; // not JSON, not UTF-8, the same key twice, or nested beyond the stack
  }
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
  // An amount in an unknown currency is no amount: nobody knows its unit.
  return {
    amount: null,
    currency: code,
    isMoneyAssumed: isAmountExcused && (code !== null || isCurrencyExcused),
  };
}

function unreadable(bytes: Buffer): HistoryRow {
  const nothing = { reference: null, serviceId: null, statusWord: null, amount: null, currency: null };
  return { ...nothing, status: 'unreadable', isMoneyAssumed: false, digest: digestOf(bytes) };
}

function digestOf(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
}

function tameOrNull(text: string | null): string | null {
  return text === null ? null : tame(text);
}

/** PostgreSQL holds no NUL, and its indexes no long texts. Different texts stay different. */
function tame(text: string): string {
  const visible = text.includes('\0') ? text.replaceAll('\0', '\u2400') : text;
  return visible.length <= MAX_TEXT ? visible : `${visible.slice(0, MAX_TEXT - 20)}…${digestOf(text)}`;
}
