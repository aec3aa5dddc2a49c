import { fingerprintOf, type HistoryRow, type RowCollector } from '../../gateway/history/history.ts';

/** Facts about the rows besides their tuples. */
export type Tuples = {
  rows: number;
  unreadable: number;
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

/** An upper limit in bytes for a row without its texts: lengths, numbers and words. */
const REST_OF_TUPLE = 128;
const [FALSE, TRUE] = [Buffer.from([0, 0, 0, 1, 0]), Buffer.from([0, 0, 0, 1, 1])];

/**
 * Writes rows straight from the received bytes into COPY's binary format (PostgreSQL's manual, COPY,
 * "Binary Format": the number of fields, then each field behind its length). A plain row creates no
 * strings and no objects, so it leaves no garbage to collect: with lines of text the process needed twice the
 * processor time for a million rows, and the server as much as now.
 * @param seq number of the first row
 * @param hasFees whether a tuple ends with the row's fee; plain rows have none, so there are none then
 */
export function createCopyWriter(seq: number, hasFees = false): TupleWriter {
  const out = createByteWriter();
  let next = seq;
  let tuples = emptyTuples();

  function begin(roomForTexts: number): void {
    out.makeRoom(roomForTexts + REST_OF_TUPLE);
    out.putInt16(hasFees ? 9 : 8);
    out.putInt32(4);
    out.putInt32(next++);
    tuples.rows += 1;
  }

  return {
    addPlain: (row) => {
      const { bytes, referenceFrom, referenceTo, serviceIdFrom, serviceIdTo } = row;
      begin(referenceTo - referenceFrom + serviceIdTo - serviceIdFrom);
      out.putText(bytes, referenceFrom, referenceTo);
      out.putAll(TRUE);
      const isNamed = serviceIdTo > 0 && row.status !== 'reversed';
      if (isNamed) out.putText(bytes, serviceIdFrom, serviceIdTo);
      else {
        const id = bytes.toString('latin1', serviceIdFrom, serviceIdTo);
        out.putWhole(Buffer.from(id + BYTES + fingerprintOf(bytes, row.from, row.to)));
      }
      out.putWhole(wordOf(row.status));
      out.putInt32(8);
      out.putInt64(row.amount);
      out.putWhole(wordOf(row.currency));
      out.putAll(FALSE);
    },
    add: (row) => {
      const [name, identity] = [Buffer.from(nameOf(row)), identityOf(row)];
      begin(name.length + (identity?.length ?? 0));
      out.putWhole(name);
      out.putAll(row.reference === null ? FALSE : TRUE);
      out.putWhole(identity);
      out.putWhole(wordOf(row.status));
      out.putWhole(numberOf(row.amount));
      out.putWhole(row.currency === null ? null : wordOf(row.currency));
      out.putAll(row.isMoneyAssumed ? TRUE : FALSE);
      if (hasFees) out.putWhole(numberOf(row.fee));
      if (row.status === 'unreadable') tuples.unreadable += 1;
    },
    count: () => tuples.rows,
    handOver: () => {
      const all = tuples;
      tuples = emptyTuples();
      return all;
    },
    bytes: out.take,
    restart: (at) => {
      out.take();
      next = at;
      tuples = emptyTuples();
    },
  };
}

const emptyTuples = (): Tuples => ({ rows: 0, unreadable: 0 });

// A cache of status classes and currencies: there are few.
const words = new Map<string, Buffer>();

function wordOf(word: string): Buffer {
  const known = words.get(word) ?? Buffer.from(word);
  words.set(word, known);
  return known;
}

function numberOf(value: bigint | null): Buffer | null {
  if (value === null) return null;
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

/**
 * Comes before the fingerprint of a record without an id: equal bytes are one record that was read twice. Of
 * a refund its id comes first, which may be its own or its payment's.
 */
export const BYTES = ' bytes:';

/** Distinguishes the transactions of one reference. */
function identityOf({ reference, status, serviceId, digest }: HistoryRow): Buffer | null {
  if (serviceId !== null && status !== 'reversed') return Buffer.from(serviceId);
  return reference === null || digest === null ? null : Buffer.from((serviceId ?? '') + BYTES + digest);
}

/** The row's reference, or its digest where it has none. */
function nameOf({ reference, digest }: HistoryRow): string {
  return reference ?? `record:${digest ?? ''}`;
}

/** The initial size in bytes: five thousand usual rows. It grows when rows are longer, and never shrinks. */
const ROOM = 512 * 1024;

/** Appends bytes to a buffer. Two buffers take turns: one is sent while the other is written. */
function createByteWriter() {
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

  function putInt16(value: number): void {
    buffer[length] = value >>> 8;
    buffer[length + 1] = value;
    length += 2;
  }

  function putInt32(value: number): void {
    putInt16(value >>> 16);
    putInt16(value);
  }

  function putText(bytes: Buffer, from: number, to: number): void {
    putInt32(to - from);
    put(bytes, from, to);
  }

  return {
    /** Call it before putting this many bytes. */
    makeRoom: (bytes: number): void => {
      if (length + bytes <= buffer.length) return;
      const larger = Buffer.allocUnsafeSlow(2 * (length + bytes));
      buffer.copy(larger, 0, 0, length);
      buffer = larger;
    },
    putInt16,
    putInt32,
    /** Not negative, and at most Number.MAX_SAFE_INTEGER. */
    putInt64: (value: number): void => {
      const high = Math.floor(value / 2 ** 32);
      putInt32(high);
      putInt32(value - high * 2 ** 32);
    },
    putAll: (bytes: Buffer): void => {
      put(bytes, 0, bytes.length);
    },
    /** A field behind its length. */
    putText,
    putWhole: (bytes: Buffer | null): void => {
      if (bytes === null) putInt32(-1);
      else putText(bytes, 0, bytes.length);
    },
    /** The bytes put since the last call. They stay valid until the call after the next. */
    take: (): Buffer => {
      const written = buffer.subarray(0, length);
      [buffer, other] = [other, buffer];
      length = 0;
      return written;
    },
  };
}
