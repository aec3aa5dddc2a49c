const PERCENT = 0x25;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const LETTER_X = 0x78;
const ZERO = 0x30;
/** A key consists of ASCII, so only these escapes matter: `\u00e9` belongs to an ordinary name. */
const ESCAPED_ASCII = ['\\u00', '\\x'].map((text) => Buffer.from(text));
/** Characters that JSON may write with a backslash without changing them: `"`, `/` and the backslash. */
const BARE = Uint8Array.from({ length: 256 }, (_none, byte) =>
  Number([0x22, 0x2f, BACKSLASH].includes(byte)),
);
/** The value of a hex digit; 255: the byte is none. */
const HEX = Uint8Array.from({ length: 256 }, (_none, byte) => {
  const value = parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(value) ? 255 : value;
});

/**
 * A text with one layer of escapes removed, and where each of its bytes begins in the original;
 * `at[text.length]` is the original's end. Both are valid only until the next call.
 */
export type Unescaped = { text: Buffer; at: Int32Array };

/**
 * Removes one layer of escapes: `%73`, `\u0073`, `\x73`, `\/`, `\"` and `\\`. Linear in the text,
 * whatever is in it.
 * @param length bytes of the longest text
 * @param isBareEscaped whether `\/`, `\"` and `\\` alone are worth removing
 * @returns null where the text holds no escape
 */
export function createUnescaper(length: number, isBareEscaped: boolean): (text: Buffer) => Unescaped | null {
  let room: Unescaped | null = null;
  const hasEscape = (text: Buffer): boolean =>
    text.includes(PERCENT) ||
    // Searching for one byte is many times faster than for two.
    (text.includes(BACKSLASH) && (isBareEscaped || ESCAPED_ASCII.some((escape) => text.includes(escape))));
  return (text) => {
    if (!hasEscape(text)) return null;
    room ??= { text: Buffer.alloc(length), at: new Int32Array(length + 1) };
    const { text: own, at } = room;
    let to = 0;
    for (let from = 0; from < text.length; to += 1) {
      at[to] = from;
      const byte = text[from] ?? 0;
      const width = byte === BACKSLASH || byte === PERCENT ? widthOf(text, from, byte) : 1;
      own[to] = width === 1 ? byte : width === 2 ? (text[from + 1] ?? 0) : hexAt(text, from + width - 2);
      from += width;
    }
    at[to] = text.length;
    if (to === text.length) return null;
    return { text: own.subarray(0, to), at };
  };
}

/** Bytes of the escape that begins here; 1: none begins. */
function widthOf(text: Buffer, from: number, byte: number): number {
  if (byte === PERCENT) return hexAt(text, from + 1) < 0x80 ? 3 : 1;
  const next = text[from + 1] ?? 0;
  if (BARE[next] === 1) return 2;
  if (next === LETTER_X) return hexAt(text, from + 2) < 0x80 ? 4 : 1;
  const isAscii = next === LETTER_U && text[from + 2] === ZERO && text[from + 3] === ZERO;
  return isAscii && hexAt(text, from + 4) < 0x80 ? 6 : 1;
}

/** The byte that two hex digits stand for; 255 or more: they are none. */
function hexAt(text: Buffer, from: number): number {
  const high = HEX[text[from] ?? 0] ?? 255;
  const low = HEX[text[from + 1] ?? 0] ?? 255;
  return high === 255 || low === 255 ? 255 : high * 16 + low;
}
