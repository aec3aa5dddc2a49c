import { systemClock, type Clock } from '../../platform/clock.ts';
import type { ClientAnswer } from './client.ts';

/** An hour: a service that asks for more is broken or hostile, and the operator should know. */
const MAX_SEC = 3_600;

/** How long a pause the service asks for, and whether it asked for more than we grant. */
type RetryAfter = { sec: number; isCut: boolean };

/**
 * A `Retry-After` header, in either form of RFC 9110 (seconds or a date). Null for an invalid header, a
 * repeated one and a time in the past: then the caller's own pause applies.
 * @param date the `Date` header of the same answer: a date means a time by the sender's clock
 */
export function readRetryAfter(
  header: string | string[] | undefined,
  date: string | string[] | undefined,
  clock: Clock = systemClock,
): RetryAfter | null {
  if (typeof header !== 'string') return null;
  const text = header.trim();
  const seconds = /^\d{1,12}$/.test(text)
    ? Number(text)
    : /^[A-Z][a-z]{2}, /.test(text)
      ? Math.ceil((Date.parse(text) - sendersTimeMs(date, clock)) / 1_000)
      : NaN;
  return seconds > 0 ? { sec: Math.min(seconds, MAX_SEC), isCut: seconds > MAX_SEC } : null;
}

/** By the sender's own clock, where the answer tells it: ours may be minutes apart, and a pause with it. */
function sendersTimeMs(date: string | string[] | undefined, clock: Clock): number {
  const sentMs = typeof date === 'string' ? Date.parse(date) : NaN;
  return Number.isNaN(sentMs) ? clock.now().getTime() : sentMs;
}

/**
 * How long an answer asks us to wait, by whichever header says so: `Retry-After`, or on a 429 the end of the
 * exhausted rate-limit window. On any other answer such a window is information only, and no reason to wait.
 */
export function readRetryHint(
  { status, headers }: Pick<ClientAnswer, 'status' | 'headers'>,
  clock: Clock = systemClock,
): RetryAfter | null {
  const { date } = headers;
  const asked = readRetryAfter(headers['retry-after'], date, clock);
  if (asked !== null || status !== 429) return asked;
  const nowMs = sendersTimeMs(date, clock);
  return readReset(headers['ratelimit-reset'], nowMs) ?? readReset(headers['x-ratelimit-reset'], nowMs);
}

/** Seconds from now, seconds since 1970 or milliseconds since 1970: the size distinguishes them. */
function readReset(header: string | string[] | undefined, nowMs: number): RetryAfter | null {
  if (typeof header !== 'string' || !/^\d{1,13}$/.test(header.trim())) return null;
  const value = Number(header);
  const sinceEpochSec = value >= 1e12 ? value / 1_000 : value;
  const isEpoch = sinceEpochSec >= 1e9;
  const sec = isEpoch ? Math.ceil(sinceEpochSec - nowMs / 1_000) : value;
  return sec > 0 ? { sec: Math.min(sec, MAX_SEC), isCut: sec > MAX_SEC } : null;
}
