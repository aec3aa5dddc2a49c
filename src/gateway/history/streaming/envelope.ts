import { createJsonPath } from './path-tracker.ts';
import { readJson, type Json } from '../../dialect/json-pointer.ts';
import { RecordStreamError } from './errors.ts';

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
