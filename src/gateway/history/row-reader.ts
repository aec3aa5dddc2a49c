import { createHash } from 'node:crypto';
import type { Dialect } from '../dialect/dialect.ts';
import { createCarefulReader } from './row-parser.ts';
import { createRecordSplitter, type OnRecord, type RecordSplitter } from './streaming/record-splitter.ts';
import { createQuickReader } from './streaming/row-fast-path.ts';
import type { HistoryRow, RowCollector } from './row.ts';

// This file is the only entry to streaming/: nothing else imports it.
export { RecordStreamError } from './streaming/envelope.ts';

export type RowReader = {
  /** Splits a streamed body into the records of its list, and gives each to `take`. */
  cutRecords(take: OnRecord): RecordSplitter;
  /** @returns the index after the record that begins at `start`, or -1: its end has to be searched for */
  pass(bytes: Buffer, start: number): number;
  /** What tells the record from `start` up to `end` from others, by its reference, id, status and amount. */
  nameOf(bytes: Buffer, start: number, end: number): string;
  /** Reads the record from `start` up to, not including, `end`. */
  read(bytes: Buffer, start: number, end: number): void;
};

/**
 * Reads records as the dialect says: those laid out like an earlier record without parsing, all others
 * by parsing. The two ways never differ (`history-row-fast-path.test.ts`). The fast path reads no fees:
 * where the dialect names them, every record is parsed.
 * @param assumedCurrency the currency of an amount without one, where the dialect allows that; null: unknown
 * @param collector receives every row
 */
export function createRowReader(
  dialect: Dialect,
  assumedCurrency: string | null,
  collector: Pick<RowCollector<unknown>, 'addPlain' | 'add'>,
): RowReader {
  const quick = createQuickReader(dialect);
  const isPlainEnough = dialect.history.fee === undefined;
  const readWithCare = createCarefulReader(dialect, assumedCurrency, quick.learn);
  return {
    cutRecords: (take) => createRecordSplitter(dialect.history.records, take, quick.pass),
    pass: quick.pass,
    nameOf: (bytes, start, end) => nameOf(readWithCare(bytes, start, end)),
    read: (bytes, start, end) => {
      const plain = isPlainEnough ? quick.read(bytes, start, end) : null;
      if (plain !== null) collector.addPlain(plain);
      else collector.add(readWithCare(bytes, start, end));
    },
  };
}

// Not the reference alone: a page of refunds has the references of an earlier page and is not a repetition of
// it. A digest, because it is stored, and a word may hold anything.
function nameOf({ reference, serviceId, statusWord, amount, digest }: HistoryRow): string {
  const name = [reference ?? digest, serviceId, statusWord, amount].join(' ');
  return createHash('sha256').update(name).digest('base64');
}
