import type { Dialect } from '../dialect/dialect.ts';
import { createCarefulReader } from './row-parser.ts';
import { createRecordCutter, type OnRecord, type RecordCutter } from './streaming/record-splitter.ts';
import { createQuickReader } from './streaming/row-fast-path.ts';
import type { HistoryRow, PlainRow, RowCollector } from './row.ts';
import type { Repetition } from './repeat-detector.ts';

// This file is the one door to streaming/: nothing else imports it.
export { RecordStreamError } from './streaming/errors.ts';

export type RowReader = {
  /** Cuts the records of a list out of a body while it arrives; each is given to `take`. */
  cutRecords(take: OnRecord): RecordCutter;
  /** @returns the index behind the record that begins at `start`, or -1: then it has to be cut out with care */
  pass(bytes: Buffer, start: number): number;
  /** Reads the record from `start` up to, not including, `end`. */
  read(bytes: Buffer, start: number, end: number): void;
};

/**
 * Reads records as the dialect says: those that are written like one before without parsing them, all others with care.
 * The two never differ (`history-row-quick.test.ts`). The quick one knows no fees: where the dialect names them, every record
 * is parsed.
 * @param assumedCurrency what an amount without a currency is in, where the dialect allows that; null: unknown
 * @param collector is given every row
 * @param names is told who stands on a page
 */
export function createRowReader(
  dialect: Dialect,
  assumedCurrency: string | null,
  collector: Pick<RowCollector<unknown>, 'addPlain' | 'add'>,
  names?: Pick<Repetition, 'isNoting' | 'note'>,
): RowReader {
  const quick = createQuickReader(dialect);
  const isPlainEnough = dialect.history.fee === undefined;
  const readWithCare = createCarefulReader(dialect, assumedCurrency, quick.learn);
  return {
    cutRecords: (take) => createRecordCutter(dialect.history.records, take, quick.pass),
    pass: quick.pass,
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

// Not the reference alone: a page of refunds names the references of a page before, and is a page of its own.
function nameOf({ reference, serviceId, statusWord, amount, digest }: HistoryRow): string {
  return [reference ?? digest, serviceId, statusWord, amount].join(' ');
}

function nameOfPlain({
  bytes,
  referenceFrom,
  referenceTo,
  serviceIdFrom,
  serviceIdTo,
  ...row
}: PlainRow): string {
  const id = bytes.toString('latin1', serviceIdFrom, serviceIdTo);
  return `${bytes.toString('latin1', referenceFrom, referenceTo)} ${id} ${row.statusWord} ${row.amount}`;
}
