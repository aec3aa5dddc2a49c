import type { Reading, ServiceAdapter } from '../gateway/adapter.ts';
import { fromServiceAmount } from '../gateway/amounts.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { minorDigits } from '../platform/money.ts';
import type { Outcome } from '../platform/prisma/client.ts';

/** A row of the history, as it is kept during a run. Amounts are in minor units. */
export type ReadableRow = {
  reference: string;
  /** Empty if the row shows no money and names no currency. */
  currency: string;
  /** 0: the row is an outflow of its own, or shows no money. */
  received: bigint;
  outflow: bigint;
  status: Outcome;
  word: string;
  transactionId: string | null;
};

/** `aside`: the row belongs to another integration or mode. `row` is null if it cannot be read. */
export type ReadRow = { row: ReadableRow; aside: boolean } | { aside: true; row: null } | { unreadable: string };

/**
 * The largest total of an order. PostgreSQL's bigint then holds the sum of all rows of a reference.
 */
const MAX_AMOUNT = 10n ** 15n;

/**
 * Reads a row by the adapter. Only paid and reversed rows are about money, as in verify's answers.
 */
export function readRow(row: unknown, gateway: Gateway): ReadRow {
  let isForeign = false;
  try {
    isForeign = gateway.adapter.history.isForeign?.(row) ?? false;
    return readOwnRow(row, isForeign, gateway);
  } catch (error) {
    // Rows of another integration need not be readable.
    if (isForeign) return { aside: true, row: null };
    return { unreadable: `the adapter cannot read the row: ${String(error)}` };
  }
}

function readOwnRow(record: unknown, isForeign: boolean, { adapter, mode, references }: Gateway): ReadRow {
  const reading = adapter.read(record);
  const aside = isForeign || (reading?.mode != null && reading.mode !== mode);
  const row = reading === null ? 'the adapter cannot read the row' : rowOf(reading, adapter, references);
  if (typeof row !== 'string') return { row, aside };
  return aside ? { aside, row: null } : { unreadable: row };
}

function rowOf(reading: Reading, adapter: ServiceAdapter, references: Gateway['references']): ReadableRow | string {
  const reference = references.parse(reading.reference);
  const named = reading.currency?.trim().toUpperCase() ?? '';
  const currency = minorDigits(named) === null ? '' : named;
  if (reference === null) return 'the row names no reference';
  const { word, id } = reading;
  const transactionId = id === '' ? null : (id ?? null);
  const shown = (received: bigint, outflow: bigint, status: Outcome = reading.status): ReadableRow => {
    return { reference, currency, received, outflow, status, word, transactionId };
  };
  if (reading.status !== 'paid' && reading.status !== 'reversed') return shown(0n, 0n);
  const exact = (value: string | number | null | undefined): bigint | null =>
    value == null ? null : fromServiceAmount(value, currency, adapter);
  const [amount, refunded] = [exact(reading.amount), exact(reading.refunded)];
  if (amount !== null && (amount > MAX_AMOUNT || amount < -MAX_AMOUNT)) return 'its amount is too large';
  const isPaid = reading.status === 'paid';
  if (isPaid && amount === null) return 'its amount is missing, or not an exact amount of its currency';
  if (reading.refunded != null && (refunded === null || refunded < 0n)) return 'what was refunded is no amount';
  if (amount === null) return reading.amount == null ? shown(0n, 0n) : 'its amount is not an exact one of its currency';
  // An outflow of its own.
  if (amount < 0n) return shown(0n, -amount);
  // If a reversed charge names no refunded amount, all of it left.
  const isLeft = refunded !== null && refunded < amount && (isPaid || refunded > 0n);
  const untouched = isPaid && refunded === null ? amount : 0n;
  const left = isLeft ? amount - refunded : untouched;
  return shown(amount, amount - left, isPaid && (reading.doubt || amount === 0n) ? 'unproven' : reading.status);
}
