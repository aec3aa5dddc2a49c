import { referenceOf, type HistoryRow, type RowCollector } from '../../gateway/history.ts';
import { createByteWriter } from './byte-writer.ts';
import { createDoubles } from './doubles.ts';

/** Rows as lines of COPY's text format, and what is to be known of them besides. */
export type Lines = {
  rows: number;
  unreadable: number;
  /** References that may have been in the list before. */
  maybeRepeated: string[];
};

export type LineWriter = RowCollector<Lines> & {
  /** All lines since the last time. They stay as they are until the time after the next. */
  bytes(): Buffer;
  /** Forgets what {@link bytes} has not given out, and goes on with this number. */
  restart(seq: number): void;
};

/** The columns of a line, in its order. */
export const COLUMNS =
  'seq, reference, is_named, service_id, status, amount, currency, is_money_assumed' as const;

/** Of a plain row, without its texts: numbers, words and tabs. */
const REST_OF_LINE = 128;

/**
 * Writes rows straight from the bytes in which they came into the bytes that COPY takes: no text and no object is made of
 * a plain row, so there is nothing to collect.
 * @param seq number of the first row
 */
export function createLineWriter(seq: number): LineWriter {
  const doubles = createDoubles();
  const out = createByteWriter();
  let next = seq;
  let lines = NO_LINES();
  return {
    addPlain: (row) => {
      const { bytes, referenceFrom, referenceTo, serviceIdFrom, serviceIdTo } = row;
      out.makeRoom(referenceTo - referenceFrom + serviceIdTo - serviceIdFrom + REST_OF_LINE);
      out.putNumber(next++);
      out.putAll(TAB);
      out.put(bytes, referenceFrom, referenceTo);
      out.putAll(NAMED);
      if (serviceIdTo === 0) out.putAll(NULL);
      else out.put(bytes, serviceIdFrom, serviceIdTo);
      out.putAll(TAB);
      out.putAll(wordOf(row.status));
      out.putAll(TAB);
      out.putNumber(row.amount);
      out.putAll(TAB);
      out.putAll(wordOf(row.currency));
      out.putAll(NOT_ASSUMED);
      lines.rows += 1;
      if (doubles.note(bytes, referenceFrom, referenceTo)) lines.maybeRepeated.push(referenceOf(row));
    },
    add: (row) => {
      const line = Buffer.from(lineOf(row, next++));
      out.makeRoom(line.length);
      out.putAll(line);
      lines.rows += 1;
      if (row.status === 'unreadable') lines.unreadable += 1;
      const name = Buffer.from(nameOf(row));
      if (doubles.note(name, 0, name.length)) lines.maybeRepeated.push(nameOf(row));
    },
    count: () => lines.rows,
    handOver: () => {
      const all = lines;
      lines = NO_LINES();
      return all;
    },
    bytes: out.take,
    restart: (at) => {
      out.drop();
      next = at;
      lines = NO_LINES();
    },
  };
}

const NO_LINES = (): Lines => ({ rows: 0, unreadable: 0, maybeRepeated: [] });
const [TAB, NULL] = [Buffer.from('\t'), Buffer.from('\\N')];
const NAMED = Buffer.from('\tt\t');
const NOT_ASSUMED = Buffer.from('\tf\n');

// The classes of status and the currencies: few, and all of them letters.
const words = new Map<string, Buffer>();

function wordOf(word: string): Buffer {
  const known = words.get(word);
  if (known !== undefined) return known;
  const bytes = Buffer.from(word);
  words.set(word, bytes);
  return bytes;
}

function lineOf(row: HistoryRow, seq: number): string {
  const isNamed = row.reference === null ? 'f' : 't';
  const isAssumed = row.isMoneyAssumed ? 't' : 'f';
  return `${seq}\t${textOf(nameOf(row))}\t${isNamed}\t${textOf(row.serviceId)}\t${row.status}\t${row.amount ?? '\\N'}\t${row.currency ?? '\\N'}\t${isAssumed}\n`;
}

/** What stands for a row's reference: its digest where it has none. */
function nameOf({ reference, digest }: HistoryRow): string {
  return reference ?? `record:${digest ?? ''}`;
}

const SPECIAL = /[\\\t\n\r]/;
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** What would end a field or a row is escaped. */
export function textOf(value: string | null): string {
  if (value === null) return '\\N';
  if (!SPECIAL.test(value)) return value;
  return value.replace(/[\\\t\n\r]/g, (found) => ESCAPES[found] ?? found);
}
