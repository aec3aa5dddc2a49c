import type { StatusClass } from '../records/evidence.ts';

/** One record of the history in our words. A hint about a payment, never evidence. */
export type HistoryRow = {
  /** Null: none. Numbers keep their digits; text that a database or a page cannot hold is replaced. */
  reference: string | null;
  /**
   * The service's own id of the transaction; of money that went back perhaps its payment's. Null: the record
   * shows none. Text, because ids go beyond 2^53.
   */
  serviceId: string | null;
  /** `unreadable`: the record is no object, or it lacks reference, status, or the money of something paid. */
  status: StatusClass | 'unreadable';
  /** The service's own word, for people. */
  statusWord: string | null;
  /** Minor units of `currency`. Null when absent or unreadable. */
  amount: bigint | null;
  currency: string | null;
  /** Whether the dialect lets the expected amount replace one that the record lacks. */
  isMoneyAssumed: boolean;
  /** The service's fee in minor units of `currency`. Null: not named, unreadable, or never read. */
  fee: bigint | null;
  /**
   * Replaces a missing reference, or else a missing id, and tells refunds of one id apart: the same record
   * has the same digest in every run.
   */
  digest: string | null;
};

/** Reads the record from `start` up to, not including, `end` of `bytes`. */
export type ReadRow = (bytes: Buffer, start: number, end: number) => HistoryRow;

/**
 * A row without peculiarities, still as the received bytes: of a million rows nearly all are like this,
 * and making strings of them takes longer than all the rest. The ranges hold printable ASCII without a
 * backslash or a quote.
 */
export type PlainRow = {
  bytes: Buffer;
  /** Of the whole record. */
  from: number;
  to: number;
  referenceFrom: number;
  referenceTo: number;
  /** Both 0 when the record shows no id. */
  serviceIdFrom: number;
  serviceIdTo: number;
  status: StatusClass;
  statusWord: string;
  /** Minor units of `currency`: a whole number that a double holds exactly. */
  amount: number;
  currency: string;
};

/** Takes the rows of a reading, in the service's order, and hands them over in portions. */
export type RowCollector<Rows> = {
  /** The row is valid only during the call. */
  addPlain(row: PlainRow): void;
  add(row: HistoryRow): void;
  /** Rows taken and not handed over yet. */
  count(): number;
  handOver(): Rows;
};

/** Collects rows as objects. */
export function collectRows(): RowCollector<HistoryRow[]> {
  let rows: HistoryRow[] = [];
  return {
    addPlain: (row) => {
      rows.push(rowOf(row));
    },
    add: (row) => {
      rows.push(row);
    },
    count: () => rows.length,
    handOver: () => {
      const all = rows;
      rows = [];
      return all;
    },
  };
}

function referenceOf({ bytes, referenceFrom, referenceTo }: PlainRow): string {
  return bytes.toString('latin1', referenceFrom, referenceTo);
}

function rowOf(row: PlainRow): HistoryRow {
  const { bytes, serviceIdFrom, serviceIdTo, status, statusWord, amount, currency } = row;
  return {
    reference: referenceOf(row),
    serviceId: serviceIdTo === 0 ? null : bytes.toString('latin1', serviceIdFrom, serviceIdTo),
    status,
    statusWord,
    amount: BigInt(amount),
    currency,
    isMoneyAssumed: false,
    fee: null,
    digest: serviceIdTo === 0 || status === 'reversed' ? fingerprintOf(bytes, row.from, row.to) : null,
  };
}

/**
 * Sixteen hexadecimal digits of a record's bytes, to tell whether two records of one reference are the
 * same one. Two 32-bit hashes in one pass, with MurmurHash2's and FNV's multipliers: a cryptographic
 * digest of each of a million rows costs a second.
 */
export function fingerprintOf(bytes: Buffer, from: number, to: number): string {
  let one = to - from;
  let other = ~one;
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] ?? 0;
    one = Math.imul(one ^ byte, 0x5bd1e995);
    one ^= one >>> 15;
    other = Math.imul(other ^ byte, 0x01000193);
    other ^= other >>> 13;
  }
  return hex(one) + hex(other);
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0');
}

/** Longer texts are cut and get a digest: an index entry of PostgreSQL holds at most 2,700 bytes. */
export const MAX_TEXT = 160;
