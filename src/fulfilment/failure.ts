import type { Due } from './delivery.sql.ts';
import { ReleaseRefused } from './release.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Pauses in seconds after each failed delivery; the last one repeats. A receiver may ask for longer ones. */
const PAUSES_SEC = [5, 30, 2 * MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR];
/** Pauses grow by up to this share, at random: what failed together must not be tried again together. */
const JITTER = 0.2;
/** A weekend and a bit: after a longer outage an operator can tell the receiver what it missed. */
const GIVE_UP_AFTER_SEC = 72 * HOUR;

/** For the row, the journal and the log: one short line, whatever the receiver threw. */
export function reasonOf(thrown: unknown): string {
  const { name, message } = Object(thrown) as { name?: unknown; message?: unknown };
  if (name === 'TimeoutError') return 'the receiver took too long';
  return typeof message === 'string' ? message.replace(/\p{Cc}/gu, ' ').slice(0, 200) : 'unknown';
}

/** Seconds until the next attempt; null: there is none. */
export function pauseAfter(
  { attempts, tryingForSec }: Due,
  thrown: unknown,
  random: () => number,
): number | null {
  const refusal = thrown instanceof ReleaseRefused ? thrown : null;
  if (refusal?.isGone === true || tryingForSec > GIVE_UP_AFTER_SEC) return null;
  const ownSec = PAUSES_SEC[Math.min(attempts, PAUSES_SEC.length) - 1] ?? HOUR;
  return Math.max(ownSec, refusal?.retryAfterSec ?? 0) * (1 + JITTER * random());
}
