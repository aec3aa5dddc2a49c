import type { Dialect } from '../dialect/dialect.ts';
import { createCarefulReader } from './row-parser.ts';
import { createRecordSplitter, type OnRecord, type RecordSplitter } from './streaming/record-splitter.ts';
import { createQuickReader } from './streaming/row-fast-path.ts';
import { fingerprintOf, type HistoryRow, type PlainRow, type RowCollector } from './row.ts';
import type { RepeatDetector } from './repeat-detector.ts';

// This file is the only entry to streaming/: nothing else imports it.
export { RecordStreamError } from './streaming/envelope.ts';

export type RowReader = {
  /** Splits a streamed body into the records of its list, and gives each to `take`. */
  cutRecords(take: OnRecord): RecordSplitter;
  /** Reads the record from `start` up to, not including, `end`. */
  read(bytes: Buffer, start: number, end: number): void;
};

/**
 * Reads records as the dialect says: those laid out like an earlier record without parsing, all others
 * by parsing. The two ways never differ (`history-row-fast-path.test.ts`). The fast path reads no fees:
 * where the dialect names them, every record is parsed.
 * @param assumedCurrency the currency of an amount without one, where the dialect allows that; null: unknown
 * @param collector receives every row
 * @param names receives a name for each row, to detect repeated pages
 */
export function createRowReader(
  dialect: Dialect,
  assumedCurrency: string | null,
  collector: Pick<RowCollector<unknown>, 'addPlain' | 'add'>,
  names?: Pick<RepeatDetector, 'isNoting' | 'note'>,
): RowReader {
  const quick = createQuickReader(dialect);
  const isPlainEnough = dialect.history.fee === undefined;
  const readWithCare = createCarefulReader(dialect, assumedCurrency, quick.learn);
  return {
    cutRecords: (take) => createRecordSplitter(dialect.history.records, take),
    read: (bytes, start, end) => {
      const plain = isPlainEnough ? quick.read(bytes, start, end) : null;
      if (plain !== null) {
        if (names?.isNoting() === true) names.note(nameOfPlain(plain));
        collector.addPlain(plain);
        return;
      }
      const row = readWithCare(bytes, start, end);
      if (names?.isNoting() === true) names.note(nameOf(row));
      collector.add(row);
    },
  };
}

// Not the reference alone: a page of refunds has the references of an earlier page and is not
// a repetition of it. Refunds of one amount are told apart by their bytes.
const isNamedByBytes = (status: HistoryRow['status']): boolean =>
  status === 'reversed' || status === 'unknown';

function nameOf({ reference, serviceId, status, statusWord, amount, digest }: HistoryRow): string {
  const own = status === 'reversed' ? digest : (serviceId ?? (isNamedByBytes(status) ? digest : null));
  return [reference ?? digest, own, statusWord, amount].join(' ');
}

function nameOfPlain(row: PlainRow): string {
  const { bytes, referenceFrom, referenceTo, serviceIdFrom, serviceIdTo } = row;
  const own =
    row.status === 'reversed' || (serviceIdTo === 0 && isNamedByBytes(row.status))
      ? fingerprintOf(bytes, row.from, row.to)
      : bytes.toString('latin1', serviceIdFrom, serviceIdTo);
  return `${bytes.toString('latin1', referenceFrom, referenceTo)} ${own} ${row.statusWord} ${row.amount}`;
}
