/**
 * A query parameter, if it is a single text that matches the pattern; else null, which
 * means that it is ignored.
 */
export function fitting(value: unknown, pattern: RegExp): string | null {
  return typeof value === 'string' && pattern.test(value) ? value : null;
}
