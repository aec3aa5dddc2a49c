import type { Due } from './delivery.sql.ts';
import { ReleaseRefused } from './release.ts';
import type { Alarm } from '../alerts/alert.ts';
import type { Clock } from '../platform/clock.ts';
import type { Mode } from '../platform/mode.ts';

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

/** A receiver that is restarted fails for seconds; one that is down, for longer. */
const MIN_FAILURES = 3;
const MIN_MS = 60_000;

export type DeliveryWatch = {
  delivered(): void;
  failed(thrown: unknown, reason: string): void;
};

/**
 * Tells that deliveries fail: at once when the receiver throws something of its own, because waiting mends
 * no EACCES, no refused signature and no TypeError; else when for a minute, and three times at least, this
 * process had failures only, whatever the orders. A {@link ReleaseRefused}, the deadline and what `fetch`
 * throws when the network fails speak of the other side.
 */
export function createDeliveryWatch(parts: { mode: Mode; alarm: Alarm; clock: Clock }): DeliveryWatch {
  const { mode, alarm, clock } = parts;
  let failures = 0;
  let firstMs = 0;

  return {
    delivered: () => {
      failures = 0;
    },
    failed: (thrown, reason) => {
      if (failures === 0) firstMs = clock.elapsedMs();
      failures += 1;
      const isLasting = failures >= MIN_FAILURES && clock.elapsedMs() - firstMs >= MIN_MS;
      if (isOwnFault(thrown) || isLasting) void alarm({ event: 'release-failing', mode, reason });
    },
  };
}

function isOwnFault(thrown: unknown): boolean {
  const { name, message, cause } = Object(thrown) as Partial<Error>;
  // The code is that of the socket: a wrong address or a forbidden port has none.
  const { code } = Object(cause) as { code?: unknown };
  const isOfTheNetwork = (message === 'fetch failed' || message === 'terminated') && code !== undefined;
  return !(thrown instanceof ReleaseRefused) && name !== 'TimeoutError' && !isOfTheNetwork;
}
