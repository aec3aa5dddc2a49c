import {
  fingerprintOf,
  referenceOf,
  type HistoryRow,
  type RowCollector,
} from '../../gateway/history/history.ts';
import { createByteWriter } from './byte-writer.ts';
import { createBloomFilter } from './bloom-filter.ts';

/** Facts about the rows besides their tuples. */
export type Tuples = {
  rows: number;
  unreadable: number;
  /** References that may have been in the list before. */
  maybeRepeated: string[];
};

type TupleWriter = RowCollector<Tuples> & {
  /** All tuples since the last call. They stay valid until the call after the next. */
  bytes(): Buffer;
  /** Drops what {@link bytes} has not returned yet, and continues with this number. */
  restart(seq: number): void;
};

/** The columns of a tuple, in its order; `fee` follows them where fees are read. */
export const COLUMNS =
  'seq, reference, is_named, service_id, status, amount, currency, is_money_assumed' as const;

/** An upper limit in bytes for a plain row without its texts: lengths, numbers and words. */
const REST_OF_TUPLE = 128;

/**
 * Writes rows straight from the received bytes into COPY's binary format (PostgreSQL's manual, COPY,
 * "Binary Format": the number of fields, then each field behind its length). A plain row creates no
 * strings and no objects, so it leaves no garbage to collect; and the server needs a third less time
 * than for the text format, in which every byte could be an escape.
 * @param seq number of the first row
 * @param hasFees whether a tuple ends with the row's fee; plain rows have none, so there
 * are none in that case
 */
export function createCopyWriter(seq: number, hasFees = false): TupleWriter {
  const seenBefore = createBloomFilter();
  const out = createByteWriter();
  let next = seq;
  let tuples = emptyTuples();
  return {
    addPlain: (row) => {
      const { bytes, referenceFrom, referenceTo, serviceIdFrom, serviceIdTo } = row;
      out.makeRoom(referenceTo - referenceFrom + serviceIdTo - serviceIdFrom + REST_OF_TUPLE);
      out.putAll(BEGIN);
      out.putInt32(next++);
      out.putInt32(referenceTo - referenceFrom);
      out.put(bytes, referenceFrom, referenceTo);
      out.putAll(TRUE);
      if (serviceIdTo === 0) out.putAll(fieldOf(Buffer.from(BYTES + fingerprintOf(bytes, row.from, row.to))));
      else {
        out.putInt32(serviceIdTo - serviceIdFrom);
        out.put(bytes, serviceIdFrom, serviceIdTo);
      }
      out.putAll(wordOf(row.status));
      out.putAll(LENGTH_OF_AMOUNT);
      out.putInt64(row.amount);
      out.putAll(wordOf(row.currency));
      out.putAll(FALSE);
      tuples.rows += 1;
      if (seenBefore.note(bytes, referenceFrom, referenceTo)) tuples.maybeRepeated.push(referenceOf(row));
    },
    add: (row) => {
      const tuple = tupleOf(row, next++, hasFees);
      out.makeRoom(tuple.length);
      out.putAll(tuple);
      tuples.rows += 1;
      if (row.status === 'unreadable') tuples.unreadable += 1;
      const name = Buffer.from(nameOf(row));
      if (seenBefore.note(name, 0, name.length)) tuples.maybeRepeated.push(nameOf(row));
    },
    count: () => tuples.rows,
    handOver: () => {
      const all = tuples;
      tuples = emptyTuples();
      return all;
    },
    bytes: out.take,
    restart: (at) => {
      out.drop();
      next = at;
      tuples = emptyTuples();
    },
  };
}

const emptyTuples = (): Tuples => ({ rows: 0, unreadable: 0, maybeRepeated: [] });

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function int64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

function fieldOf(value: Buffer): Buffer {
  return Buffer.concat([int32(value.length), value]);
}

const NULL = int32(-1);
const [FALSE, TRUE] = [fieldOf(Buffer.from([0])), fieldOf(Buffer.from([1]))];
const LENGTH_OF_AMOUNT = int32(8);
/** Eight fields, and the length of the first. */
const BEGIN = Buffer.concat([Buffer.from([0, 8]), int32(4)]);
const BEGIN_WITH_FEE = Buffer.concat([Buffer.from([0, 9]), int32(4)]);

// A cache of status classes and currencies: there are few.
const words = new Map<string, Buffer>();

function wordOf(word: string): Buffer {
  const known = words.get(word);
  if (known !== undefined) return known;
  const bytes = fieldOf(Buffer.from(word));
  words.set(word, bytes);
  return bytes;
}

function tupleOf(row: HistoryRow, seq: number, hasFees: boolean): Buffer {
  return Buffer.concat([
    hasFees ? BEGIN_WITH_FEE : BEGIN,
    int32(seq),
    fieldOf(Buffer.from(nameOf(row))),
    row.reference === null ? FALSE : TRUE,
    identityOf(row),
    wordOf(row.status),
    numberOf(row.amount),
    row.currency === null ? NULL : wordOf(row.currency),
    row.isMoneyAssumed ? TRUE : FALSE,
    ...(hasFees ? [numberOf(row.fee)] : []),
  ]);
}

function numberOf(value: bigint | null): Buffer {
  return value === null ? NULL : fieldOf(int64(value));
}

/**
 * The prefix of the fingerprint of a record without an id: equal bytes are one
 * record that was read twice.
 */
const BYTES = 'bytes:';

/** Distinguishes the transactions of one reference. */
function identityOf({ reference, serviceId, digest }: HistoryRow): Buffer {
  if (serviceId !== null) return fieldOf(Buffer.from(serviceId));
  return reference === null || digest === null ? NULL : fieldOf(Buffer.from(BYTES + digest));
}

/** The row's reference, or its digest where it has none. */
function nameOf({ reference, digest }: HistoryRow): string {
  return reference ?? `record:${digest ?? ''}`;
}
