/** Finds the end of a JSON value across any number of chunks, by strings, escapes and depth alone. */
export type ValueScanner = {
  /**
   * @param from the value's first byte, or the chunk's first byte when the value began in an earlier chunk
   * @returns the index after the value's last byte, or -1 when it goes on in the next chunk
   */
  findEnd(chunk: Buffer, from: number): number;
};

/** What a byte can mean to a scanner. All others are just bytes of a value. */
export const BYTE = { ORDINARY: 0, QUOTE: 1, OPEN: 2, CLOSE: 3, COMMA: 4, SPACE: 5 } as const;

const QUOTE_BYTE = 0x22;
const BACKSLASH_BYTE = 0x5c;
const KINDS = new Uint8Array(256);
for (const [kind, text] of [
  [BYTE.QUOTE, '"'],
  [BYTE.OPEN, '{['],
  [BYTE.CLOSE, '}]'],
  [BYTE.COMMA, ','],
  [BYTE.SPACE, ' \t\r\n'],
] as const) {
  for (const byte of Buffer.from(text)) KINDS[byte] = kind;
}

export function kindOf(byte: number): number {
  return KINDS[byte] ?? BYTE.ORDINARY;
}

export function createValueScanner(): ValueScanner {
  let depth = 0;
  let isInString = false;
  let isEscaped = false;

  // The bulk of a record is text, so this loop is the hot one: two comparisons per byte.
  /** @returns the index after the string's closing quote, or -1 */
  function passString(chunk: Buffer, from: number): number {
    const { length } = chunk;
    let at = from;
    if (isEscaped) {
      isEscaped = false;
      at += 1;
    }
    while (at < length) {
      const byte = chunk[at];
      if (byte === QUOTE_BYTE) {
        isInString = false;
        return at + 1;
      }
      at += byte === BACKSLASH_BYTE ? 2 : 1;
    }
    // The chunk ended between a backslash and what it escapes.
    isEscaped = at > length;
    return -1;
  }

  return {
    findEnd: (chunk, from) => {
      const { length } = chunk;
      let at = from;
      while (at < length) {
        if (isInString) {
          at = passString(chunk, at);
          if (at === -1) return -1;
          if (depth === 0) return at;
          continue;
        }
        const kind = kindOf(chunk[at] ?? 0);
        if (kind === BYTE.QUOTE) isInString = true;
        else if (kind === BYTE.OPEN) depth += 1;
        // A number or a word ends at the first byte of another kind.
        else if (kind !== BYTE.ORDINARY && depth === 0) return at;
        else if (kind === BYTE.CLOSE) {
          depth -= 1;
          if (depth === 0) return at + 1;
        }
        at += 1;
      }
      return -1;
    },
  };
}
