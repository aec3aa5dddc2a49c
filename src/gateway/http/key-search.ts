import { FOLD, formsOf, type KeyForm } from './key-forms.ts';
import { createUnescaper, type Unescaped } from './unescape.ts';

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
