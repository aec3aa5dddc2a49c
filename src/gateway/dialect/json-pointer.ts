import { isLosslessNumber, parse } from 'lossless-json';

/**
 * Reading values out of answers. Numbers keep their source text ({@link numberText}), because a float has already
 * lost the amount that is to be compared; an object with the same key twice is refused, because two readers would see two amounts.
 */
export type Json = unknown;

/** @throws SyntaxError for anything but one JSON value in UTF-8 */
export function readJson(body: Buffer): Json {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  return parse(text);
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

// A dialect has a few dozen pointers, and a history a million records to follow them through.
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

/** The first of `pointers` whose value `accept` takes, as what `accept` makes of it; null when none does. */
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

/** Text of a string, trimmed; null for anything else or nothing in it. */
export function stringOf(value: Json): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

/** A number's source text, or a string as it is. Whether it is a usable decimal is for money to say. */
export function numberText(value: Json): string | null {
  if (isLosslessNumber(value)) return value.value;
  return stringOf(value);
}

/**
 * Whether a field holds something although no pointer accepted it: null, an object or a list where a text was
 * expected. Such evidence is odd, not absent, and odd evidence is never excused.
 */
export function isPresent(document: Json, pointers: readonly string[]): boolean {
  return pointers.some((pointer) => at(document, pointer) !== undefined);
}
