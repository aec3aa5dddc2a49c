/** Bytes to begin with: five thousand usual rows. It grows where rows are longer, and is never given back. */
const ROOM = 512 * 1024;

/** What a machine word of JavaScript holds. */
const WORD = 2 ** 31;

/** Puts bytes behind one another. Two buffers take turns: one is sent while the other is written. */
export type ByteWriter = {
  /** Call it before putting so many bytes. */
  makeRoom(bytes: number): void;
  put(bytes: Buffer, from: number, to: number): void;
  putAll(bytes: Buffer): void;
  /** Digits of a whole number, not negative and exact in a double. */
  putNumber(value: number): void;
  /** What was put since the last time. It stays as it is until the time after the next. */
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
    putNumber: (value) => {
      let digits = 1;
      for (let limit = 10; value >= limit; limit *= 10) digits += 1;
      const target = buffer;
      let at = length + digits;
      length = at;
      let rest = value;
      for (; rest >= WORD; digits -= 1) {
        const tenth = Math.floor(rest / 10);
        target[--at] = 0x30 + (rest - tenth * 10);
        rest = tenth;
      }
      // Whole numbers of a machine word divide several times faster than doubles.
      for (let word = rest | 0; digits > 0; digits -= 1) {
        const tenth = (word / 10) | 0;
        target[--at] = 0x30 + (word - tenth * 10);
        word = tenth;
      }
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
