import type { Database } from '../platform/database.ts';
import { createDueLoop, type DueLoop, type LoopWatch } from '../platform/due-loop.ts';
import type { Logger } from '../platform/logger.ts';
import type { Mode } from '../platform/mode.ts';
import type { Receiver, ReleasePlan } from './release.ts';
import { claimDueReleases, markDelivered, markUndelivered, type DueRelease } from './repository.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Pauses in seconds after each failed delivery; the last one repeats. */
const PAUSES_SEC = [5, 30, 2 * MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR];
/** A weekend and a bit: a receiver that is away longer has somebody to tell it what it missed. */
const GIVE_UP_AFTER_SEC = 72 * HOUR;
const CONCURRENCY = 8;
/**
 * So many of these may be deliveries that failed before. Whatever the receiver hangs on comes back again and again; it
 * then waits for its like, while releases that were never tried still have places of their own.
 */
const REPEATS = 4;
const POLL_MS = 1_000;
/** Shorter than the lease, or a second delivery would begin beside the first. */
const DEADLINE_MS = 10_000;

export type DeliveryParts = {
  database: Database;
  mode: Mode;
  receiver: Receiver | null;
  logger: Logger;
  /** Milliseconds that one delivery may take; ten seconds unless given, and never as long as the lease. */
  deadlineMs?: number;
  watch?: LoopWatch | undefined;
};

/**
 * A release as it would be recorded now. Its id is the order's: a database restored from a backup has forgotten what was
 * delivered since, releases again, and the receiver still knows the id. A random one would give the value twice.
 */
export function planRelease(receiver: Receiver | null, orderId: string): ReleasePlan {
  return { id: `rel_${orderId}`, delivery: receiver === null ? 'unneeded' : 'waiting' };
}

/** Delivers recorded releases until each is received: at least once, always under the same id. */
export function createDueReleases(parts: DeliveryParts): DueLoop {
  const { database, mode, receiver, logger } = parts;
  let repeating = 0;

  async function claim(limit: number): Promise<DueRelease[]> {
    // Without a receiver, releases that wait for one (configured until yesterday) are left waiting.
    if (receiver === null) return [];
    const releases = await claimDueReleases(database, mode, limit, REPEATS - repeating);
    repeating += releases.filter(isRepeated).length;
    return releases;
  }

  async function work(release: DueRelease): Promise<void> {
    await deliver(parts, release).finally(() => {
      if (isRepeated(release)) repeating -= 1;
    });
  }

  return createDueLoop({
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

/** Attempts count the one in hand. */
function isRepeated({ attempts }: DueRelease): boolean {
  return attempts > 1;
}

async function deliver(
  { database, receiver, logger, deadlineMs = DEADLINE_MS }: DeliveryParts,
  release: DueRelease,
): Promise<void> {
  const { id, reference, orderId, attempts } = release;
  const log = logger.child({ reference, orderId, release: id });
  try {
    const deadline = AbortSignal.timeout(deadlineMs);
    await Promise.race([receiver?.(release, deadline), lapse(deadline)]);
  } catch (error) {
    const pauseSec = pauseAfter(release);
    const reason = reasonOf(error);
    await markUndelivered(database, release, reason, pauseSec);
    if (pauseSec === null) log.error({ reason, attempts }, 'release given up, redeliver it by hand');
    else log.warn({ reason, attempts, pauseSec }, 'release not delivered');
    return;
  }
  await markDelivered(database, id);
  log.info({ attempts }, 'release delivered');
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

function pauseAfter({ attempts, tryingForSec }: DueRelease): number | null {
  if (tryingForSec > GIVE_UP_AFTER_SEC) return null;
  return PAUSES_SEC[Math.min(attempts, PAUSES_SEC.length) - 1] ?? null;
}
