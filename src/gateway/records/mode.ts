import type { Mode } from '../../platform/mode.ts';
import { foldWord } from '../dialect/dialect.ts';
import { at, stringOf, type Json } from '../dialect/json-pointer.ts';

const MODES: Record<string, Mode> = {
  test: 'test',
  'test mode': 'test',
  sandbox: 'test',
  live: 'live',
  'live mode': 'live',
  production: 'live',
};

/**
 * The mode that a record names, null when it names none. This is a second check after the key's prefix,
 * so only unambiguous values count. Any other word is ignored and not held against the payment: the
 * pointers are guesses, and `mode` may just as well be "card".
 */
export function readMode(record: Json, pointers: readonly string[]): Mode | null {
  for (const pointer of pointers) {
    const mode = modeOf(at(record, pointer), pointer);
    if (mode !== null) return mode;
  }
  return null;
}

/** @param pointer where the value is: the name decides what a flag means */
export function modeOf(value: Json, pointer: string): Mode | null {
  return typeof value === 'boolean' ? modeOfFlag(value, pointer) : modeOfWord(value);
}

function modeOfWord(value: Json): Mode | null {
  const word = foldWord(stringOf(value) ?? '');
  return Object.hasOwn(MODES, word) ? (MODES[word] ?? null) : null;
}

/** `livemode: false` is test and `is_test: false` is live: the name decides what a flag means. */
function modeOfFlag(isSet: boolean, pointer: string): Mode | null {
  const name = pointer.slice(pointer.lastIndexOf('/') + 1);
  if (/live/i.test(name)) return isSet ? 'live' : 'test';
  if (/test|sandbox/i.test(name)) return isSet ? 'test' : 'live';
  return null;
}
