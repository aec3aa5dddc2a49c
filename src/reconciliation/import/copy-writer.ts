import {
  fingerprintOf,
  referenceOf,
  type HistoryRow,
  type RowCollector,
} from '../../gateway/history/history.ts';

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

/** The initial size in bytes: five thousand usual rows. It grows when rows are longer, and never shrinks. */
const ROOM = 512 * 1024;

/** Appends bytes to a buffer. Two buffers take turns: one is sent while the other is written. */
type ByteWriter = {
  /** Call it before putting this many bytes. */
  makeRoom(bytes: number): void;
  put(bytes: Buffer, from: number, to: number): void;
  putAll(bytes: Buffer): void;
  /** A 32-bit integer, big-endian. */
  putInt32(value: number): void;
  /** A 64-bit integer, big-endian: not negative, and at most Number.MAX_SAFE_INTEGER. */
  putInt64(value: number): void;
  /** The bytes put since the last call. They stay valid until the call after the next. */
  take(): Buffer;
  drop(): void;
};

export function createByteWriter(): ByteWriter {
  let buffer = Buffer.allocUnsafeSlow(ROOM);
  let other = Buffer.allocUnsafeSlow(ROOM);
  let length = 0;

  // A loop: texts are short, and each call into native code costs as much as forty bytes.
  function put(bytes: Buffer, from: number, to: number): void {
    const target = buffer;
    let end = length;
    for (let at = from; at < to; at += 1) target[end++] = bytes[at] ?? 0;
    length = end;
  }

  function putInt32(value: number): void {
    const target = buffer;
    target[length] = value >>> 24;
    target[length + 1] = value >>> 16;
    target[length + 2] = value >>> 8;
    target[length + 3] = value;
    length += 4;
  }

  return {
    makeRoom: (bytes) => {
      if (length + bytes <= buffer.length) return;
      const larger = Buffer.allocUnsafeSlow(2 * (length + bytes));
      buffer.copy(larger, 0, 0, length);
      buffer = larger;
    },
    put,
    putAll: (bytes) => {
      put(bytes, 0, bytes.length);
    },
    putInt32,
    putInt64: (value) => {
      const high = Math.floor(value / 2 ** 32);
      putInt32(high);
      putInt32(value - high * 2 ** 32);
    },
    take: () => {
      const written = buffer.subarray(0, length);
      [buffer, other] = [other, buffer];
      length = 0;
      return written;
    },
    drop: () => {
      length = 0;
    },
  };
}

/** Detects texts that may have been noted before. */
type BloomFilter = {
  /** Never false for a text that was there before; rarely true for one that was not. */
  note(bytes: Buffer, from: number, to: number): boolean;
};

/**
 * 32 million bits, 4 MiB, however long the list. With a million texts, one in eight
 * hundred is a false positive.
 */
const BITS = 2 ** 25;

/**
 * A Bloom filter of two hashes: grouping a million rows to find the few that repeat costs as
 * much as joining them.
 */
export function createBloomFilter(): BloomFilter {
  const words = new Uint32Array(BITS / 32);

  function take(hash: number): boolean {
    const bit = hash & (BITS - 1);
    const word = words[bit >>> 5] ?? 0;
    const mask = 1 << (bit & 31);
    words[bit >>> 5] = word | mask;
    return (word & mask) !== 0;
  }

  return {
    note: (bytes, from, to) => {
      // Hashes four bytes at a time, then mixes twice more (MurmurHash3), once for each bit position.
      let hash = to - from;
      let at = from;
      for (; at + 3 < to; at += 4) {
        const word =
          (bytes[at] ?? 0) |
          ((bytes[at + 1] ?? 0) << 8) |
          ((bytes[at + 2] ?? 0) << 16) |
          ((bytes[at + 3] ?? 0) << 24);
        hash = Math.imul(hash ^ word, 0x5bd1e995);
        hash ^= hash >>> 15;
      }
      for (; at < to; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
      hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
      hash ^= hash >>> 13;
      let other = Math.imul(hash, 0xc2b2ae35);
      other ^= other >>> 16;
      const isFirst = take(hash);
      return take(other) && isFirst;
    },
  };
}
