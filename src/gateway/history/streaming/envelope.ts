import { readJson, type Json } from '../../dialect/json-pointer.ts';

/** The text around the list: small, kept whole, and parsed at the end of the body. */
export type Envelope = {
  /** Takes bytes up to the list or to the end of the chunk. @returns the index of the first byte not taken */
  walk(chunk: Buffer, from: number): number;
  /** Whether the byte taken last opened the list. */
  isAtList(): boolean;
  /** The list is over; its closing bracket was seen. */
  endList(): void;
  hasList(): boolean;
  /** @throws {RecordStreamError} */
  parse(): Json;
};

const MAX_BYTES = 1024 * 1024;

export function createEnvelope(pointers: readonly string[]): Envelope {
  const places = new Set(pointers);
  const path = createJsonPath();
  const parts: Buffer[] = [];
  let bytes = 0;
  let lists = 0;
  let isAtList = false;

  function keep(part: Buffer): void {
    bytes += part.length;
    if (bytes > MAX_BYTES) throw new RecordStreamError(`more than ${MAX_BYTES} bytes stand around the list`);
    parts.push(part);
  }

  /** Whether this byte opens the list. */
  function opensList(byte: number): boolean {
    const pointer = path.take(byte);
    if (pointer === null || !places.has(pointer)) return false;
    lists += 1;
    // Which of two lists holds the transactions is unknown, so such an answer is refused.
    if (lists > 1) throw new RecordStreamError('the answer holds more than one list');
    return true;
  }

  return {
    walk: (chunk, from) => {
      isAtList = false;
      let at = from;
      for (; at < chunk.length && !isAtList; at += 1) isAtList = opensList(chunk[at] ?? 0);
      keep(chunk.subarray(from, at));
      return at;
    },
    isAtList: () => isAtList,
    endList: () => {
      isAtList = false;
      path.leaveList();
      keep(Buffer.from(']'));
    },
    hasList: () => lists === 1,
    parse: () => {
      try {
        return readJson(Buffer.concat(parts));
      } catch {
        throw new RecordStreamError(bytes === 0 ? 'the answer is empty' : 'the answer is not whole JSON');
      }
    },
  };
}

/** Follows a JSON document outside of its list byte by byte, just far enough to know each value's path. */
export type JsonPath = {
  /** @returns the RFC 6901 pointer of a list that opens here, else null. @throws {RecordStreamError} */
  take(byte: number): string | null;
  /** Ends the list that was opened. Its content is not followed: the caller has skipped it. */
  leaveList(): void;
};

/** An object or list that is open around the current byte, and the position in it. */
type Frame = { isList: boolean; key: string; index: number; isAtKey: boolean };

/** Answers are a few levels deep; a text of opening brackets must not fill the memory. */
const MAX_DEPTH = 64;

export function createJsonPath(): JsonPath {
  const frames: Frame[] = [];
  const string = createString();

  function open(isList: boolean): string | null {
    if (frames.length === MAX_DEPTH) throw new RecordStreamError('the answer is nested too deeply');
    const here = frames.map(tokenOf).join('');
    frames.push({ isList, key: '', index: 0, isAtKey: !isList });
    return isList ? here : null;
  }

  function outside(byte: number): string | null {
    const frame = frames.at(-1);
    switch (byte) {
      case 0x22: // "
        string.begin();
        return null;
      case 0x3a: // :
        if (frame) frame.isAtKey = false;
        return null;
      case 0x2c: // ,
        if (frame?.isList === true) frame.index += 1;
        else if (frame) frame.isAtKey = true;
        return null;
      case 0x5b: // [
      case 0x7b: // {
        return open(byte === 0x5b);
      case 0x5d: // ]
      case 0x7d: // }
        frames.pop();
        return null;
      default:
        return null;
    }
  }

  return {
    take: (byte) => {
      if (!string.isOpen()) return outside(byte);
      const text = string.take(byte);
      const frame = frames.at(-1);
      if (text !== null && frame?.isAtKey === true) frame.key = text;
      return null;
    },
    leaveList: () => {
      frames.pop();
    },
  };
}

function tokenOf({ isList, key, index }: Frame): string {
  return isList ? `/${index}` : `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function createString() {
  let bytes: number[] | null = null;
  let isEscaped = false;
  return {
    begin: (): void => {
      bytes = [];
    },
    isOpen: (): boolean => bytes !== null,
    /** @returns the string's text when this byte ends it */
    take: (byte: number): string | null => {
      if (byte === 0x22 && !isEscaped) {
        const text = unescape(Buffer.from(bytes ?? []).toString('utf8'));
        bytes = null;
        return text;
      }
      isEscaped = byte === 0x5c && !isEscaped;
      bytes?.push(byte);
      return null;
    },
  };
}

function unescape(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text; // not JSON: the parser of the whole envelope reports it
  }
}

/** Not one whole JSON document with one list. The records so far are real; what is missing is unknown. */
export class RecordStreamError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RecordStreamError';
  }
}
