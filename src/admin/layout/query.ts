/**
 * A query parameter, if it is a single text that matches the pattern; else null, which
 * means that it is ignored.
 */
export function fitting(value: unknown, pattern: RegExp): string | null {
  return typeof value === 'string' && pattern.test(value) ? value : null;
}

/** A day of the calendar that PostgreSQL can read, like `2026-01-31`; null for anything else. */
export function dayOf(value: unknown): string | null {
  const day = fitting(value, /^(?!0000)\d{4}-\d{2}-\d{2}$/);
  const at = Date.parse(day ?? '');
  return Number.isNaN(at) || !new Date(at).toISOString().startsWith(`${day}`) ? null : day;
}
