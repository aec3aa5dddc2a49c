import type { Database } from '../platform/database/database.ts';
import { createPoller, type Poller, type LoopWatch } from '../platform/poller/poller.ts';
import type { Logger } from '../platform/logger.ts';
import type { Mode } from '../platform/mode.ts';
import { systemClock } from '../platform/clock.ts';
import type { Alarm } from '../cases/alert.ts';
import { createDeliveryWatch, type DeliveryWatch } from './delivery-watch.ts';
import { messageOf } from './message.ts';
import { ReleaseRefused, type Receiver, type ReleasePlan } from './release.ts';
import {
  claimDueReleases,
  keepMessage,
  markDelivered,
  markUndelivered,
  type DueRelease,
} from './releases.sql.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Pauses in seconds after each failed delivery; the last one repeats. A receiver may ask for longer ones. */
const PAUSES_SEC = [5, 30, 2 * MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR];
/** Pauses grow by up to this share, at random: what failed together must not be tried again together. */
const JITTER = 0.2;
/** A weekend and a bit: after a longer outage an operator can tell the receiver what it missed. */
const GIVE_UP_AFTER_SEC = 72 * HOUR;
/** After a 429 this process sends nothing for as long as the receiver asked, up to this limit. */
const QUIET_AT_MOST_SEC = MINUTE;
const CONCURRENCY = 8;
/**
 * How many of these may be deliveries that failed before. A release on which the receiver hangs comes
 * back again and again; it then waits for other repeats, while releases that were never tried still have
 * places of their own.
 */
const REPEATS = 4;
const POLL_MS = 1_000;
/** Shorter than the lease, or a second delivery would begin beside the first. */
const DEADLINE_MS = 10_000;

export type DeliveryParts = {
  database: Database;
  mode: Mode;
  receiver: Receiver | null;
  /** Raised for a release that is given up, and while deliveries fail. */
  alarm: Alarm;
  logger: Logger;
  /** Milliseconds that one delivery may take; ten seconds unless given, and never as long as the lease. */
  deadlineMs?: number;
  /** Gives numbers from 0 up to 1; `Math.random` unless given. */
  random?: () => number;
  watch?: LoopWatch | undefined;
};

/** A release as it would be recorded now. */
export function planRelease(receiver: Receiver | null, id: string): ReleasePlan {
  return { id, delivery: receiver === null ? 'unneeded' : 'waiting' };
}

/** Delivers recorded releases until each is received: at least once, always under the same id. */
export function createDueReleases(parts: DeliveryParts): Poller {
  const { database, mode, receiver, logger } = parts;
  const watch = createDeliveryWatch({ mode, alarm: parts.alarm, clock: systemClock });
  let repeating = 0;
  let quietUntilMs = 0;

  async function claim(limit: number): Promise<DueRelease[]> {
    // Without a receiver, releases that wait for one (configured until yesterday) are left waiting.
    if (receiver === null || systemClock.elapsedMs() < quietUntilMs) return [];
    const releases = await claimDueReleases(database, mode, limit, REPEATS - repeating);
    repeating += releases.filter(isRepeated).length;
    return releases;
  }

  async function work(release: DueRelease): Promise<void> {
    const refusal = await deliver(parts, release, watch).finally(() => {
      if (isRepeated(release)) repeating -= 1;
    });
    if (refusal instanceof ReleaseRefused && refusal.isOverloaded) {
      const quietSec = Math.min(refusal.retryAfterSec ?? 0, QUIET_AT_MOST_SEC);
      quietUntilMs = Math.max(quietUntilMs, systemClock.elapsedMs() + quietSec * 1_000);
    }
  }

  return createPoller({
    name: 'releases',
    claim,
    work,
    label: ({ id, reference, orderId }) => ({ reference, orderId, release: id }),
    concurrency: CONCURRENCY,
    pollMs: POLL_MS,
    logger,
    watch: parts.watch,
  });
}

/** `attempts` includes the one in hand. */
function isRepeated({ attempts }: DueRelease): boolean {
  return attempts > 1;
}

/** @returns what the receiver threw, undefined when it took the release */
async function deliver(
  { database, mode, receiver, alarm, logger, deadlineMs = DEADLINE_MS, random = Math.random }: DeliveryParts,
  release: DueRelease,
  watch: DeliveryWatch,
): Promise<unknown> {
  const { id, reference, orderId, attempts } = release;
  const log = logger.child({ reference, orderId, release: id });
  const message = release.message ?? (await keepMessage(database, id, messageOf(release)));
  try {
    const deadline = AbortSignal.timeout(deadlineMs);
    await Promise.race([
      receiver?.({ ...release, message }, { database, signal: deadline }),
      lapse(deadline),
    ]);
  } catch (error) {
    const pauseSec = pauseAfter(release, error, random);
    const reason = reasonOf(error);
    const event = 'release-given-up';
    await database.transaction(async (tx) => {
      const isNoted = await markUndelivered(tx, release, reason, pauseSec);
      if (isNoted && pauseSec === null)
        await alarm({ event, mode, orderId, reference, release: id, reason, attempts }, tx);
    });
    if (pauseSec !== null) {
      log.warn({ reason, attempts, pauseSec }, 'release not delivered');
      watch.failed(error, reason);
    }
    return error;
  }
  await markDelivered(database, id);
  watch.delivered();
  log.info({ attempts }, 'release delivered');
  return undefined;
}

/** A receiver that ignores its deadline must not hold its place for ever. */
function lapse(deadline: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    deadline.addEventListener('abort', () => {
      reject(deadline.reason as Error);
    });
  });
}

/** For the row, the journal and the log: one short line, whatever the receiver threw. */
function reasonOf(thrown: unknown): string {
  const { name, message } = Object(thrown) as { name?: unknown; message?: unknown };
  if (name === 'TimeoutError') return 'the receiver took too long';
  return typeof message === 'string' ? message.replace(/\p{Cc}/gu, ' ').slice(0, 200) : 'unknown';
}

/** Seconds until the next attempt; null: there is none. */
function pauseAfter(
  { attempts, tryingForSec }: DueRelease,
  thrown: unknown,
  random: () => number,
): number | null {
  const refusal = thrown instanceof ReleaseRefused ? thrown : null;
  if (refusal?.isGone === true || tryingForSec > GIVE_UP_AFTER_SEC) return null;
  const ownSec = PAUSES_SEC[Math.min(attempts, PAUSES_SEC.length) - 1] ?? HOUR;
  return Math.max(ownSec, refusal?.retryAfterSec ?? 0) * (1 + JITTER * random());
}
