import type { Mode } from '../../platform/mode.ts';
import { foldWord } from '../dialect/dialect.ts';
import { at, isRecord, numberText, stringOf, type Json } from '../dialect/json-pointer.ts';
import { wordsOfName } from './field-name-words.ts';

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
  for (const pointer of placesOfMode(record, pointers)) {
    const mode = modeOf(at(record, pointer), pointer);
    if (mode !== null) return mode;
  }
  return null;
}

/**
 * The pointers, and where the record says by a flag whether it is a test: `isTest`, `sandbox`, `live_mode`.
 */
export function placesOfMode(record: Json, pointers: readonly string[]): string[] {
  if (!isRecord(record) || pointers.length === 0) return [...pointers];
  const names = Object.keys(record).filter(
    (name) => IS_OF_MODE.test(name) && wordsOfName(name).every((word) => WITH_MODE.has(word)),
  );
  return [...new Set([...pointers, ...names.map((name) => `/${name}`)])];
}

const IS_OF_MODE = /test|live|sandbox/i;
const WITH_MODE = new Set(['test', 'live', 'sandbox', 'is', 'in', 'mode', 'payment', 'transaction']);

/** @param pointer where the value is: the name decides what a flag means */
export function modeOf(value: Json, pointer: string): Mode | null {
  const flag = typeof value === 'boolean' ? value : FLAGS.get(foldWord(numberText(value) ?? ''));
  return (flag === undefined ? null : modeOfFlag(flag, pointer)) ?? modeOfWord(value);
}

const FLAGS = new Map(Object.entries({ true: true, yes: true, 1: true, false: false, no: false, 0: false }));

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
