import { stringify } from 'lossless-json';

/** JSON text whose numbers keep every digit: `JSON.stringify` would turn 25.00 into 25. */
export function toJsonText(value: unknown): string {
  return stringify(value) ?? 'null';
}
