import type { Json } from '../../dialect/json-pointer.ts';
import { createEnvelope, RecordStreamError } from './envelope.ts';

/** A record: the part of `bytes` from `start` up to, not including, `end`. Valid only during the call. */
export type OnRecord = (bytes: Buffer, start: number, end: number) => void;

export type RecordSplitter = {
  /** Passes on every record that ends in the next bytes of the body. @throws {RecordStreamError} */
  push(chunk: Buffer): void;
  /**
   * The body is over. @returns the document with its list emptied, and whether it had one
   * @throws {RecordStreamError} when the body broke off or is not JSON
   */
  end(): { envelope: Json; hasList: boolean };
};

/** A record is a few hundred bytes. One that never ends must not fill the memory. */
const MAX_RECORD_BYTES = 1024 * 1024;
const LIST_END_BYTE = 0x5d;

/**
 * Splits a JSON body into the records of its list while it arrives, so that a list of any length takes
 * the memory of one record. Whether a record is JSON is checked by its reader.
 * @param pointers RFC 6901: where the list may be; the document must hold exactly one of them
 */
export function createRecordSplitter(pointers: readonly string[], onRecord: OnRecord): RecordSplitter {
  const envelope = createEnvelope(pointers);
  const gap = createGap();
  const scanner = createValueScanner();
  const begun = createBegunRecord();
  let where: 'outside' | 'between' | 'inside' = 'outside';

  function passOutside(chunk: Buffer, from: number): number {
    const at = envelope.walk(chunk, from);
    if (envelope.isAtList()) {
      where = 'between';
      gap.listOpens();
    }
    return at;
  }

  function passGap(chunk: Buffer, from: number): number {
    const at = gap.pass(chunk, from);
    if (at === chunk.length) return at;
    if (chunk[at] !== LIST_END_BYTE) {
      where = 'inside';
      return at;
    }
    where = 'outside';
    envelope.endList();
    return at + 1;
  }

  function passRecord(chunk: Buffer, from: number): number {
    const end = scanner.findEnd(chunk, from);
    if (end === -1) {
      begun.keep(chunk.subarray(from));
      return chunk.length;
    }
    where = 'between';
    gap.recordEnds();
    const whole = begun.finish(chunk, from, end);
    if (whole === null) onRecord(chunk, from, end);
    else onRecord(whole, 0, whole.length);
    return end;
  }

  return {
    push: (chunk) => {
      let at = 0;
      while (at < chunk.length) {
        if (where === 'inside') at = passRecord(chunk, at);
        else at = where === 'between' ? passGap(chunk, at) : passOutside(chunk, at);
      }
    },
    end: () => {
      if (where !== 'outside') throw new RecordStreamError('the list breaks off');
      return { envelope: envelope.parse(), hasList: envelope.hasList() };
    },
  };
}

/** The text between records: commas and space, or the end of the list, each only where it is allowed. */
function createGap() {
  let expected: 'record or end' | 'record' | 'comma or end' = 'record or end';
  return {
    listOpens: (): void => {
      expected = 'record or end';
    },
    recordEnds: (): void => {
      expected = 'comma or end';
    },
    /** @returns the index of the next record's first byte, of the closing bracket, or the chunk's length */
    pass: (chunk: Buffer, from: number): number => {
      for (let at = from; at < chunk.length; at += 1) {
        const byte = chunk[at] ?? 0;
        const kind = kindOf(byte);
        if (kind === BYTE.SPACE) continue;
        if (byte === LIST_END_BYTE && expected !== 'record') return at;
        if (kind === BYTE.COMMA && expected === 'comma or end') expected = 'record';
        else if (kind === BYTE.COMMA || kind === BYTE.CLOSE || expected === 'comma or end')
          throw new RecordStreamError('the list is not JSON');
        else return at;
      }
      return chunk.length;
    },
  };
}

/** A record whose first bytes came in an earlier chunk. */
function createBegunRecord() {
  let parts: Buffer[] = [];
  let bytes = 0;
  return {
    keep: (part: Buffer): void => {
      bytes += part.length;
      if (bytes > MAX_RECORD_BYTES)
        throw new RecordStreamError(`a record is larger than ${MAX_RECORD_BYTES} bytes`);
      parts.push(part);
    },
    /** @returns the whole record, or null when all of it lies in this chunk */
    finish: (chunk: Buffer, from: number, end: number): Buffer | null => {
      if (parts.length === 0) return null;
      const whole = Buffer.concat([...parts, chunk.subarray(from, end)]);
      parts = [];
      bytes = 0;
      return whole;
    },
  };
}

/** What a byte can mean to a scanner. All others are just bytes of a value. */
const BYTE = { ORDINARY: 0, QUOTE: 1, OPEN: 2, CLOSE: 3, COMMA: 4, SPACE: 5 } as const;

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

function kindOf(byte: number): number {
  return KINDS[byte] ?? BYTE.ORDINARY;
}

/** Finds the end of a JSON value across any number of chunks, by strings, escapes and depth alone. */
function createValueScanner() {
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
    /**
     * @param from the value's first byte, or the chunk's first byte when the value began in an earlier chunk
     * @returns the index after the value's last byte, or -1 when it goes on in the next chunk
     */
    findEnd: (chunk: Buffer, from: number): number => {
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
