import { isLosslessNumber, parse } from 'lossless-json';

/**
 * Reading values out of answers. Numbers keep their source text ({@link numberText}), because a float
 * has already lost digits of the amount to be compared. An object with a duplicate key is refused,
 * because two parsers would see two different amounts.
 */
export type Json = unknown;

/** @throws SyntaxError for anything but one JSON value in UTF-8 */
export function readJson(body: Buffer): Json {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  return parse(text);
}

/** The same; undefined where {@link readJson} throws. */
export function tryReadJson(body: Buffer): Json {
  try {
    return readJson(body);
  } catch {
    return undefined;
  }
}

/** The value that an RFC 6901 pointer names, or undefined. */
export function at(document: Json, pointer: string): Json {
  let value = document;
  for (const key of keysOf(pointer)) {
    if (Array.isArray(value)) value = /^\d+$/.test(key) ? (value as Json[])[Number(key)] : undefined;
    else if (isRecord(value)) value = Object.hasOwn(value, key) ? value[key] : undefined;
    else return undefined;
  }
  return value;
}

// Cached: a dialect has a few dozen pointers, and each is followed in up to a million history records.
const splitPointers = new Map<string, readonly string[]>();

function keysOf(pointer: string): readonly string[] {
  const known = splitPointers.get(pointer);
  if (known !== undefined) return known;
  const tokens = pointer.split('/').slice(1);
  const keys = tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  splitPointers.set(pointer, keys);
  return keys;
}

/** A plain object: neither null, nor a list, nor a number that kept its text. */
export function isRecord(value: Json): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}

/** The first result of `accept` that is not null, over the values at `pointers`; null when there is none. */
export function firstAt<T>(
  document: Json,
  pointers: readonly string[],
  accept: (value: Json) => T | null,
): T | null {
  for (const pointer of pointers) {
    const accepted = accept(at(document, pointer));
    if (accepted !== null) return accepted;
  }
  return null;
}

/** The trimmed text of a string; null for any other value and for a blank string. */
export function stringOf(value: Json): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

/** A number's source text, or the text of a string. Whether it is a usable decimal is decided in money.ts. */
export function numberText(value: Json): string | null {
  if (isLosslessNumber(value)) return value.value;
  return stringOf(value);
}

/**
 * Whether any of the pointers finds a value, for a field where none was accepted: null, or an object
 * or a list where a text was expected. Such evidence is unreadable, not absent, and unreadable
 * evidence is never excused.
 */
export function isPresent(document: Json, pointers: readonly string[]): boolean {
  return pointers.some((pointer) => at(document, pointer) !== undefined);
}
