import { RecordStreamError } from './errors.ts';

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
