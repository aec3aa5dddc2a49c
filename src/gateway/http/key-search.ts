/** A range of a text; `end` is exclusive. */
export type Stretch = { start: number; end: number };

/** A way in which a key can be written, and the length from which a piece of it is worth hiding. */
type KeyForm = { text: Buffer; leastPiece: number };

/** Characters of a key that make a piece worth hiding; fewer could be anything. */
const PIECE = 12;
/** Layers of escapes that are removed: JSON in a JSON text in a URL. */
const LAYERS = 3;
/** Bytes of the longest escape of one character: `\u0073` with each of its six characters percent-encoded. */
const WIDEST_ESCAPE = 18;
const WORD_BYTES = 4;
/**
 * Lower-cases ASCII: a key whose case was changed on the way is as good as the key. It also maps some signs
 * onto each other, which hides too much and never too little.
 */
const FOLD = 0x20;
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

  function findPlain(text: Buffer): Stretch[] {
    const found: Stretch[] = [];
    const head = (WORD_BYTES - (text.byteOffset % WORD_BYTES)) % WORD_BYTES;
    const count = Math.floor((text.length - head) / WORD_BYTES);
    if (count < 1) return found;
    const words = new Int32Array(text.buffer, text.byteOffset + head, count);
    for (let index = 0; index < count; index += step) {
      const word = (words[index] ?? 0) | FOLD_WORD;
      if (isKnown[imul(word, SPREAD) >>> 16] === 0) continue;
      for (const { form, place } of known.get(word) ?? []) {
        const [start, end] = extend(text, head + index * WORD_BYTES, form.text, place);
        if (end - start >= form.leastPiece) found.push({ start, end });
      }
    }
    return found;
  }

  return {
    longest: WIDEST_ESCAPE * Math.max(...forms.map(({ text }) => text.length)),
    find: (text) => {
      const found = findPlain(text);
      const layers: Int32Array[] = [];
      let layer = unescape(text);
      while (layer !== null) {
        layers.push(layer.at);
        // Maps an index from the innermost layer out to the text.
        const out = (index: number): number => layers.reduceRight((inner, at) => at[inner] ?? 0, index);
        for (const { start, end } of findPlain(layer.text)) found.push({ start: out(start), end: out(end) });
        layer = layers.length < LAYERS ? unescape(layer.text) : null;
      }
      return found.length > 1 ? merged(found) : found;
    },
  };
}

/** The forms that are searched for, folded: raw, hex, base64 and base64url. */
function formsOf(key: string): KeyForm[] {
  const isShort = key.replace(/^sk_(?:test|live)_/, '').length < PIECE;
  const form = (text: string, piece: number): KeyForm => ({
    text: Buffer.from(text).map((byte) => byte | FOLD) as Buffer,
    // Of a short key only the whole is a secret: twelve characters are mostly the prefix that all keys have.
    leastPiece: isShort ? text.length : Math.min(text.length, piece),
  });
  if (key.length < PIECE) return [form(key, PIECE)];
  const inBase64 = base64Of(key).map((text) => form(text, (PIECE / 3) * 4));
  return [form(key, PIECE), form(Buffer.from(key).toString('hex'), PIECE * 2), ...inBase64];
}

/** The base64 of a key depends on its offset in the text: three forms, without what neighbours change. */
function base64Of(key: string): string[] {
  return [0, 1, 2].flatMap((phase) => {
    const full = Buffer.from('\0'.repeat(phase) + key).toString('base64');
    const middle = full.slice(phase === 0 ? 0 : 4, -4);
    return [...new Set([middle, middle.replaceAll('+', '-').replaceAll('/', '_')])];
  });
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
      const value = word[0] ?? 0;
      isKnown[imul(value, SPREAD) >>> 16] = 1;
      words.set(value, [...(words.get(value) ?? []), { form, place }]);
    }
  }
  return { isKnown, words };
}

/** How far the text around `from` matches the form around `place`. */
function extend(text: Buffer, from: number, form: Buffer, place: number): [start: number, end: number] {
  let left = 0;
  let right = 0;
  while (left < place && left < from && ((text[from - left - 1] ?? 0) | FOLD) === form[place - left - 1])
    left += 1;
  while (place + right < form.length && ((text[from + right] ?? 0) | FOLD) === form[place + right])
    right += 1;
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

const [PERCENT, BACKSLASH, QUOTE, SLASH, LETTER_U, LETTER_X, ZERO] = [
  0x25, 0x5c, 0x22, 0x2f, 0x75, 0x78, 0x30,
];
/** The value of a hex digit; 255: the byte is none. */
const HEX = Uint8Array.from({ length: 256 }, (_none, byte) => {
  const value = parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(value) ? 255 : value;
});

/**
 * Removes one layer of escapes: `%73`, `\u0073`, `\x73`, `\/`, `\"` and `\\`. A key consists of ASCII, so
 * `\u00e9` stays. Linear in the text, whatever is in it.
 * @returns also where each byte begins in the original (`at[text.length]`: its end); null: there is no escape
 */
function unescape(text: Buffer): { text: Buffer; at: Int32Array } | null {
  if (!text.includes(PERCENT) && !text.includes(BACKSLASH)) return null;
  const own = Buffer.allocUnsafeSlow(text.length);
  const at = new Int32Array(text.length + 1);
  let to = 0;
  for (let from = 0; from < text.length; to += 1) {
    at[to] = from;
    const width = widthOf(text, from);
    own[to] = width <= 2 ? (text[from + width - 1] ?? 0) : hexAt(text, from + width - 2);
    from += width;
  }
  at[to] = text.length;
  return to === text.length ? null : { text: own.subarray(0, to), at };
}

/** Bytes of the escape that begins here; 1: none begins. */
function widthOf(text: Buffer, from: number): number {
  const byte = text[from];
  if (byte === PERCENT) return hexAt(text, from + 1) < 0x80 ? 3 : 1;
  if (byte !== BACKSLASH) return 1;
  const next = text[from + 1];
  if (next === QUOTE || next === SLASH || next === BACKSLASH) return 2;
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
