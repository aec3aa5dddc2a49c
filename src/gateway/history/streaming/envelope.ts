import { tryReadJson, type Json } from '../../dialect/json-pointer.ts';

/** Not one whole JSON document with one list. The records so far are real; what is missing is unknown. */
export class RecordStreamError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RecordStreamError';
  }
}

const MAX_BYTES = 1024 * 1024;
/** Answers are a few levels deep; a text of opening brackets must not fill the memory. */
const MAX_DEPTH = 64;

/**
 * The text around the list: small, kept whole, and parsed at the end of the body.
 * @param pointers RFC 6901: where the list may be
 */
export function createEnvelope(pointers: readonly string[]) {
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
    /** Takes bytes up to the list or to the end of the chunk. @returns index of the first byte not taken */
    walk: (chunk: Buffer, from: number): number => {
      isAtList = false;
      let at = from;
      for (; at < chunk.length && !isAtList; at += 1) isAtList = opensList(chunk[at] ?? 0);
      keep(chunk.subarray(from, at));
      return at;
    },
    /** Whether the byte taken last opened the list. */
    isAtList: (): boolean => isAtList,
    /** The list is over; its closing bracket was seen. */
    endList: (): void => {
      isAtList = false;
      path.leaveList();
      keep(Buffer.from(']'));
    },
    hasList: (): boolean => lists === 1,
    /** @throws {RecordStreamError} */
    parse: (): Json => {
      const document = tryReadJson(Buffer.concat(parts));
      if (document !== undefined) return document;
      throw new RecordStreamError(bytes === 0 ? 'the answer is empty' : 'the answer is not whole JSON');
    },
  };
}

/** An object or list that is open around the current byte, and the position in it. */
type Frame = { isList: boolean; key: string; index: number; isAtKey: boolean };

/** Follows a JSON document outside of its list byte by byte, just far enough to know each value's path. */
function createJsonPath() {
  const frames: Frame[] = [];
  /** The bytes of the string that is open; null: none is. */
  let string: number[] | null = null;
  let isEscaped = false;

  function open(isList: boolean): string | null {
    if (frames.length === MAX_DEPTH) throw new RecordStreamError('the answer is nested too deeply');
    const here = frames.map(tokenOf).join('');
    frames.push({ isList, key: '', index: 0, isAtKey: !isList });
    return isList ? here : null;
  }

  function inString(byte: number, bytes: number[]): void {
    if (byte !== 0x22 || isEscaped) {
      isEscaped = byte === 0x5c && !isEscaped;
      bytes.push(byte);
      return;
    }
    string = null;
    const frame = frames.at(-1);
    if (frame?.isAtKey === true) frame.key = unescape(Buffer.from(bytes).toString('utf8'));
  }

  return {
    /** @returns the RFC 6901 pointer of a list that opens here, else null. @throws {RecordStreamError} */
    take: (byte: number): string | null => {
      const frame = frames.at(-1);
      if (string !== null) inString(byte, string);
      else if (byte === 0x5b || byte === 0x7b)
        return open(byte === 0x5b); // [ {
      else if (byte === 0x5d || byte === 0x7d)
        frames.pop(); // ] }
      else if (byte === 0x22) string = [];
      else if (byte === 0x3a && frame)
        frame.isAtKey = false; // :
      else if (byte === 0x2c && frame?.isList === true)
        frame.index += 1; // ,
      else if (byte === 0x2c && frame) frame.isAtKey = true;
      return null;
    },
    /** Ends the list that was opened. Its content is not followed: the caller has skipped it. */
    leaveList: (): void => {
      frames.pop();
    },
  };
}

function tokenOf({ isList, key, index }: Frame): string {
  return isList ? `/${index}` : `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function unescape(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text; // not JSON: the parser of the whole envelope reports it
  }
}
