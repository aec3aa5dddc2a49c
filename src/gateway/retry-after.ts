import { systemClock, type Clock } from '../platform/clock.ts';

/** An hour: a service that asks for more is broken or hostile, and a person should know. */
const MAX_SEC = 3_600;

/** How long the service asks to be left alone, and whether it asked for more than we grant. */
export type RetryAfter = { sec: number; isCut: boolean };

/**
 * A `Retry-After` header, in either form of RFC 9110 (seconds or a date). Null for nonsense, for a repeated header and
 * for the past: the caller's own pause holds then.
 */
export function readRetryAfter(
  header: string | string[] | undefined,
  clock: Clock = systemClock,
): RetryAfter | null {
  if (typeof header !== 'string') return null;
  const text = header.trim();
  const seconds = /^\d{1,12}$/.test(text)
    ? Number(text)
    : /^[A-Z][a-z]{2}, /.test(text)
      ? Math.ceil((Date.parse(text) - clock.now().getTime()) / 1_000)
      : NaN;
  return seconds > 0 ? { sec: Math.min(seconds, MAX_SEC), isCut: seconds > MAX_SEC } : null;
}
