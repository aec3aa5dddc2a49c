import { systemClock, type Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { ClientAnswer } from '../http/client.ts';

/** The kinds of calls; the service may slow down each separately. */
export const ENDPOINTS = ['initialize', 'verify', 'history'] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

/** The endpoints that the service asked us to pause, and for how long. Each process obeys its own answers. */
export type Pauses = {
  /** Milliseconds until calls of this kind may go out; 0: now. */
  remainingMs(endpoint: Endpoint): number;
  /** Must be called with every answer. */
  note(endpoint: Endpoint, answer: Pick<ClientAnswer, 'status' | 'headers'>): void;
};

/**
 * The first pause after a 429 that does not say how long. All calls must pause: the back-off of a single
 * check slows down only one payment, and hundreds may be due. It is short, because checkouts wait for
 * it, too, and doubles each time, because some services lock out a client that keeps asking.
 */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

type Pause = { untilMs: number; isCut: boolean; unexplained: number };

export function createBackoff({ clock, logger }: { clock: Clock; logger: Logger }): Pauses {
  const pauses = new Map<Endpoint, Pause>(
    ENDPOINTS.map((endpoint) => [endpoint, { untilMs: -Infinity, isCut: false, unexplained: 0 }]),
  );
  const remainingMs = (endpoint: Endpoint): number =>
    Math.max((pauses.get(endpoint)?.untilMs ?? 0) - clock.elapsedMs(), 0);

  /** Never shortens a pause: the service has not withdrawn what it asked for. */
  function pauseFor(pause: Pause, ms: number): void {
    pause.untilMs = Math.max(pause.untilMs, clock.elapsedMs() + ms);
  }

  return {
    remainingMs,
    note: (endpoint, answer) => {
      const { status } = answer;
      const pause = pauses.get(endpoint);
      if (pause === undefined) return;
      if (status !== 429 && status !== 503) {
        if (status < 500) pause.unexplained = 0;
        return;
      }
      const asked = readRetryHint(answer, clock);
      const isPaused = remainingMs(endpoint) > 0;
      if (asked !== null) {
        // Calls in flight get the same answer: one line is enough.
        if (asked.isCut && !(isPaused && pause.isCut))
          logger.warn({ endpoint, pauseSec: asked.sec }, 'Retry-After above one hour, capped');
        pause.isCut = asked.isCut || (isPaused && pause.isCut);
        pauseFor(pause, asked.sec * 1_000);
      } else if (status === 429 && !isPaused) {
        pauseFor(pause, Math.min(FIRST_PAUSE_MS * 2 ** pause.unexplained, MAX_PAUSE_MS));
        pause.unexplained += 1;
      }
    },
  };
}

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
