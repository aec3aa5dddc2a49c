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
