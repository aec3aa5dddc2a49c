/** A range of a text; `end` is exclusive. */
export type Stretch = { start: number; end: number };

/** Layers of escapes that are removed: JSON in a JSON text in a URL. */
const LAYERS = 3;
/** Bytes of the longest escape of one character: `\u0073` with each of its six characters percent-encoded. */
const WIDEST_ESCAPE = 18;
/** A text is searched in steps of this size, which bounds the memory for its unescaped copies. */
const STEP_BYTES = 64 * 1024;
const WORD_BYTES = 4;
/** Lower-cases ASCII, and maps some signs onto each other: it only decides where to look. */
const FOLD_WORD = 0x20202020;
const SPREAD = 0x9e3779b1;
const { imul } = Math;

export type KeySearch = {
  /** The ranges that hold the key or a piece of it: in order, without overlaps. */
  find(text: Buffer): Stretch[];
  /** Bytes of the longest form of the key. */
  longest: number;
};

/**
 * Searches a text for the key, in every form and behind escapes. Of each eight bytes one aligned word of
 * four is looked up in a table: any piece of twelve bytes holds one. So a text without the key costs a
 * fraction of reading it, and no text costs more than a few passes.
 */
export function createKeySearch(key: string): KeySearch {
  const forms = formsOf(key);
  const { isKnown, words: known } = wordsOf(forms);
  const least = Math.min(...forms.map(({ leastPiece }) => leastPiece));
  const step = least >= 3 * WORD_BYTES - 1 ? 2 : 1;
  const longest = WIDEST_ESCAPE * Math.max(...forms.map(({ text }) => text.length));
  const hasBare = forms.some(({ text }) => /["/\\]/.test(text.toString('latin1')));
  const unescapers = Array.from({ length: LAYERS }, () => createUnescaper(STEP_BYTES + longest, hasBare));

  /** @param found is called with each piece; the search continues after it */
  function findPlain(text: Buffer, found: (start: number, end: number) => void): void {
    const head = (WORD_BYTES - (text.byteOffset % WORD_BYTES)) % WORD_BYTES;
    const count = Math.floor((text.length - head) / WORD_BYTES);
    if (count < 1) return;
    const words = new Int32Array(text.buffer, text.byteOffset + head, count);
    for (let index = 0; index < count; index += step) {
      const word = (words[index] ?? 0) | FOLD_WORD;
      if (isKnown[imul(word, SPREAD) >>> 16] === 0) continue;
      const from = head + index * WORD_BYTES;
      let behind = 0;
      for (const { form, place } of known.get(word) ?? []) {
        const [left, right] = extend(text, from, form.text, place);
        if (right - left < form.leastPiece) continue;
        found(left, right);
        behind = Math.max(behind, right);
      }
      // A piece that begins in this range and extends beyond it is found after its end.
      if (behind > 0) index = Math.max(index, Math.floor((behind - head) / WORD_BYTES) - step);
    }
  }

  function findLayered(text: Buffer, offset: number, found: Stretch[]): void {
    const layers: Int32Array[] = [];
    let layer: Buffer | null = text;
    while (layer !== null) {
      findPlain(layer, (start, end) => {
        // Maps an index from the innermost layer out to the text.
        const out = (index: number): number => layers.reduceRight((inner, at) => at[inner] ?? 0, index);
        found.push({ start: offset + out(start), end: offset + out(end) });
      });
      const behind: Unescaped | null = unescapers[layers.length]?.(layer) ?? null;
      if (behind !== null) layers.push(behind.at);
      layer = behind?.text ?? null;
    }
  }

  return {
    longest,
    find: (text) => {
      const found: Stretch[] = [];
      // Each step extends beyond its end, so that a key that begins in it is whole.
      for (let from = 0; from < text.length; from += STEP_BYTES)
        findLayered(text.subarray(from, from + STEP_BYTES + longest), from, found);
      return found.length > 1 ? merged(found) : found;
    },
  };
}

type Word = { form: KeyForm; place: number };

/** Every four-byte word of every form, and a small table that quickly rules out other words. */
function wordsOf(forms: readonly KeyForm[]): { isKnown: Uint8Array; words: Map<number, Word[]> } {
  const isKnown = new Uint8Array(65_536);
  const words = new Map<number, Word[]>();
  const bytes = new Uint8Array(WORD_BYTES);
  const word = new Int32Array(bytes.buffer);
  for (const form of forms) {
    for (let place = 0; place + WORD_BYTES <= form.text.length; place += 1) {
      bytes.set(form.text.subarray(place, place + WORD_BYTES));
      const value = (word[0] ?? 0) | FOLD_WORD;
      isKnown[imul(value, SPREAD) >>> 16] = 1;
      words.set(value, [...(words.get(value) ?? []), { form, place }]);
    }
  }
  return { isKnown, words };
}

/** How far the text around `from` matches the form around `place`. */
function extend(text: Buffer, from: number, form: Buffer, place: number): [number, number] {
  let left = 0;
  let right = 0;
  while (left < place && left < from && FOLD[text[from - left - 1] ?? 0] === form[place - left - 1])
    left += 1;
  while (place + right < form.length && FOLD[text[from + right] ?? 0] === form[place + right]) right += 1;
  return [from - left, from + right];
}

function merged(stretches: Stretch[]): Stretch[] {
  const ordered = stretches.sort((one, other) => one.start - other.start);
  const whole: Stretch[] = [];
  for (const { start, end } of ordered) {
    const last = whole.at(-1);
    if (last !== undefined && start < last.end) last.end = Math.max(last.end, end);
    else whole.push({ start, end });
  }
  return whole;
}

/** A way in which a key can be written, and the length from which a piece of it is worth hiding. */
type KeyForm = { text: Buffer; leastPiece: number };

/** Characters of a key that make a piece worth hiding; fewer could be anything. */
const PIECE = 12;

/** The forms that are searched for, in lower case: raw, hex, base64 and base64url. */
function formsOf(key: string): KeyForm[] {
  const isShort = key.replace(/^sk_(?:test|live)_/, '').length < PIECE;
  // Of a short key only the whole is a secret: twelve characters are mostly the prefix that all keys have.
  const leastOf = (whole: number, piece: number): number => (isShort ? whole : Math.min(whole, piece));
  const form = (text: string, piece: number): KeyForm => ({
    text: folded(Buffer.from(text)),
    leastPiece: leastOf(text.length, piece),
  });
  const raw = form(key, PIECE);
  if (key.length < PIECE) return [raw];
  const inBase64 = base64Of(key).map((text) => form(text, (PIECE / 3) * 4));
  return [raw, form(Buffer.from(key).toString('hex'), PIECE * 2), ...inBase64];
}

/** The base64 of a key depends on its offset in the text: three forms, without what neighbours change. */
function base64Of(key: string): string[] {
  return [0, 1, 2].flatMap((phase) => {
    const full = Buffer.from('\0'.repeat(phase) + key).toString('base64');
    const middle = full.slice(phase === 0 ? 0 : 4, -4);
    return [...new Set([middle, middle.replaceAll('+', '-').replaceAll('/', '_')])];
  });
}

/** The byte in lower case. A key whose case was folded on the way is as good as the key. */
const FOLD = Uint8Array.from({ length: 256 }, (_none, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte,
);

function folded(text: Buffer): Buffer {
  return text.map((byte) => FOLD[byte] ?? 0) as Buffer;
}

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
type Unescaped = { text: Buffer; at: Int32Array };

/**
 * Removes one layer of escapes: `%73`, `\u0073`, `\x73`, `\/`, `\"` and `\\`. Linear in the text,
 * whatever is in it.
 * @param length bytes of the longest text
 * @param isBareEscaped whether `\/`, `\"` and `\\` alone are worth removing
 * @returns null where the text holds no escape
 */
function createUnescaper(length: number, isBareEscaped: boolean): (text: Buffer) => Unescaped | null {
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
