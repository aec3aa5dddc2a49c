import { isUtf8 } from 'node:buffer';
import { at, isRecord, type Json } from '../../dialect/json-pointer.ts';

/**
 * Records of one list nearly always have the same keys in the same order, and only the values differ. A
 * layout is the constant part, learnt from one record that was parsed. A record that matches it byte for
 * byte is JSON, has no key twice, and has its values in known places, so it need not be parsed. Any
 * other record is parsed. Numbers are their source text in either case.
 */
export type RecordLayout = {
  /**
   * @returns the index after the record that begins at `start`, or -1 when it does not match the layout
   *   or goes on in the next chunk. After a match, the positions below hold until the next call.
   */
  pass(bytes: Buffer, start: number): number;
  /** The position of value `slot` in the record, for texts without their quotes. */
  from(slot: number): number;
  to(slot: number): number;
  kind(slot: number): ValueKind;
  /**
   * The slot of the first usable value that `pointers` find; `absent` when no record of this layout has
   * one there, `odd` when the layout alone cannot tell.
   */
  slotOf(pointers: readonly string[]): number | 'absent' | 'odd';
  /** The slots at and below `pointer`: none where it is an empty object or list, or missing. */
  slotsIn(pointer: string): number[];
};

export const KIND = { WORD: 0, NUMBER: 1, PLAIN_TEXT: 2, OTHER_TEXT: 3 } as const;
/** WORD: true, false or null. PLAIN_TEXT: printable ASCII without escapes: its bytes are its characters. */
export type ValueKind = (typeof KIND)[keyof typeof KIND];

const WORDS = ['true', 'false', 'null'].map((word) => Buffer.from(word));

/**
 * @param record the parsed form of `sample`
 * @returns null when the sample has a key twice: the next record may give it two values
 */
export function learnLayout(sample: Buffer, record: Json): RecordLayout | null {
  const { pointers, literals } = templateOf(sample);
  if (new Set(pointers).size < pointers.length) return null;
  const count = pointers.length;
  const starts = new Int32Array(count);
  const ends = new Int32Array(count);
  const kinds = new Uint8Array(count);
  const scanner = createScalarScanner();
  const last = literals[count] ?? Buffer.alloc(0);

  return {
    pass: (bytes, start) => {
      let place = start;
      scanner.begin();
      for (let slot = 0; slot < count; slot += 1) {
        place = skipLiteral(bytes, place, literals[slot] ?? last);
        if (place === -1) return -1;
        starts[slot] = place;
        place = scanner.pass(bytes, place, bytes.length);
        if (place === -1) return -1;
        ends[slot] = place;
        kinds[slot] = scanner.kind();
      }
      place = skipLiteral(bytes, place, last);
      return place === -1 || !scanner.hasHighBytes() || isUtf8(bytes.subarray(start, place)) ? place : -1;
    },
    from: (slot) => (starts[slot] ?? 0) + (isText(kinds[slot]) ? 1 : 0),
    to: (slot) => (ends[slot] ?? 0) - (isText(kinds[slot]) ? 1 : 0),
    kind: (slot) => (kinds[slot] ?? KIND.WORD) as ValueKind,
    slotOf: (wanted) => {
      for (const pointer of wanted) {
        const value = at(record, pointer);
        // Objects and lists are no values, and remain objects and lists in every record of this layout.
        if (value === undefined || Array.isArray(value) || isRecord(value)) continue;
        const slot = pointers.indexOf(pointer);
        return slot === -1 ? 'odd' : slot;
      }
      return 'absent';
    },
    slotsIn: (pointer) =>
      pointers.flatMap((one, slot) => (one === pointer || one.startsWith(`${pointer}/`) ? [slot] : [])),
  };
}

function isText(kind: number | undefined): boolean {
  return kind === KIND.PLAIN_TEXT || kind === KIND.OTHER_TEXT;
}

/** @returns the index after the literal, or -1 when the bytes differ */
function skipLiteral(bytes: Buffer, from: number, literal: Buffer): number {
  const { length } = literal;
  for (let index = 0; index < length; index += 1) if (bytes[from + index] !== literal[index]) return -1;
  return from + length;
}

/** Skips one value that is no object and no list, by the grammar of JSON. */
function createScalarScanner() {
  let kind: ValueKind = KIND.WORD;
  let hasHighBytes = false;

  function passText(bytes: Buffer, from: number, end: number): number {
    kind = KIND.PLAIN_TEXT;
    for (let place = from + 1; place < end; place += 1) {
      const byte = bytes[place] ?? 0;
      if (byte === 0x22) return place + 1;
      if (byte < 0x20) return -1;
      if (byte === 0x5c) {
        kind = KIND.OTHER_TEXT;
        place = lastOfEscape(bytes, place);
        if (place === -1) return -1;
      } else if (byte >= 0x7f) {
        kind = KIND.OTHER_TEXT;
        hasHighBytes = true;
      }
    }
    return -1;
  }

  function passWord(bytes: Buffer, from: number): number {
    kind = KIND.WORD;
    for (const word of WORDS) {
      const place = skipLiteral(bytes, from, word);
      if (place !== -1) return place;
    }
    return -1;
  }

  return {
    begin: (): void => {
      hasHighBytes = false;
    },
    hasHighBytes: (): boolean => hasHighBytes,
    kind: (): ValueKind => kind,
    /** @returns the index after the value, or -1 when there is none */
    pass: (bytes: Buffer, from: number, end: number): number => {
      const byte = bytes[from] ?? 0;
      if (byte === 0x22) return passText(bytes, from, end);
      if (byte !== 0x2d && !isDigit(byte)) return passWord(bytes, from);
      kind = KIND.NUMBER;
      return passNumber(bytes, from);
    },
  };
}

/** @returns the index of the escape's last byte, or -1 when JSON has no such escape */
function lastOfEscape(bytes: Buffer, backslash: number): number {
  const letter = bytes[backslash + 1] ?? 0;
  if (letter !== 0x75) return ESCAPABLE[letter] === 1 ? backslash + 1 : -1;
  for (let place = backslash + 2; place < backslash + 6; place += 1)
    if (HEX[bytes[place] ?? 0] !== 1) return -1;
  return backslash + 5;
}

const ESCAPABLE = marked('"\\/bfnrt');
const HEX = marked('0123456789abcdefABCDEF');

function marked(letters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(letters)) table[byte] = 1;
  return table;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

// -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
function passNumber(bytes: Buffer, from: number): number {
  let place = bytes[from] === 0x2d ? from + 1 : from;
  const first = place;
  place = passDigits(bytes, place);
  if (place === first || (bytes[first] === 0x30 && place > first + 1)) return -1;
  if (bytes[place] === 0x2e) {
    const fraction = place + 1;
    place = passDigits(bytes, fraction);
    if (place === fraction) return -1;
  }
  if (bytes[place] !== 0x65 && bytes[place] !== 0x45) return place;
  place += bytes[place + 1] === 0x2b || bytes[place + 1] === 0x2d ? 2 : 1;
  const exponent = place;
  place = passDigits(bytes, exponent);
  return place === exponent ? -1 : place;
}

function passDigits(bytes: Buffer, from: number): number {
  let place = from;
  while (isDigit(bytes[place])) place += 1;
  return place;
}

/** Splits a record known to be JSON into its values' pointers and the literal bytes between them. */
function templateOf(sample: Buffer): { pointers: string[]; literals: Buffer[] } {
  const pointers: string[] = [];
  const literals: Buffer[] = [];
  const scanner = createScalarScanner();
  let literalFrom = 0;

  function skipSpace(from: number): number {
    let place = from;
    while ([0x20, 0x09, 0x0a, 0x0d].includes(sample[place] ?? 0)) place += 1;
    return place;
  }

  function pass(from: number, pointer: string): number {
    const opening = sample[from];
    if (opening === 0x7b || opening === 0x5b) return passItems(from, pointer, opening === 0x5b);
    literals.push(sample.subarray(literalFrom, from));
    pointers.push(pointer);
    literalFrom = scanner.pass(sample, from, sample.length);
    return literalFrom;
  }

  function passItems(opening: number, pointer: string, isList: boolean): number {
    let place = skipSpace(opening + 1);
    for (let index = 0; sample[place] !== 0x7d && sample[place] !== 0x5d; index += 1) {
      let token = String(index);
      if (!isList) {
        const keyEnd = scanner.pass(sample, place, sample.length);
        const key = String(JSON.parse(sample.toString('utf8', place, keyEnd)));
        token = key.replaceAll('~', '~0').replaceAll('/', '~1');
        place = skipSpace(skipSpace(keyEnd) + 1);
      }
      place = skipSpace(pass(place, `${pointer}/${token}`));
      if (sample[place] === 0x2c) place = skipSpace(place + 1);
    }
    return place + 1;
  }

  pass(0, '');
  literals.push(Buffer.from(sample.subarray(literalFrom)));
  return { pointers, literals: literals.map((literal) => Buffer.from(literal)) };
}
