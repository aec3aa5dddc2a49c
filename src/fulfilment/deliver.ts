import type { Database } from '../platform/database.ts';
import { createDueLoop, type DueLoop } from '../platform/due-loop.ts';
import { newId } from '../platform/ids.ts';
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
/** A receiver that takes its time holds one of these, and nobody else. */
const CONCURRENCY = 8;
const POLL_MS = 1_000;
/** Shorter than the lease, or a second delivery would begin beside the first. */
const DEADLINE_MS = 10_000;

export type DeliveryParts = { database: Database; mode: Mode; receiver: Receiver | null; logger: Logger };

/** A release as it would be recorded now. */
export function planRelease(receiver: Receiver | null): ReleasePlan {
  return { id: `rel_${newId()}`, delivery: receiver === null ? 'unneeded' : 'waiting' };
}

/** Delivers recorded releases until each is received: at least once, always under the same id. */
export function createDueReleases({ database, mode, receiver, logger }: DeliveryParts): DueLoop {
  async function deliver(release: DueRelease): Promise<void> {
    const log = logger.child({ reference: release.reference, orderId: release.orderId, release: release.id });
    try {
      await withinDeadline(receiver?.(release));
    } catch (error) {
      const pauseSec = pauseAfter(release);
      const reason = error instanceof Error ? error.message : 'unknown';
      await markUndelivered(database, release.id, reason, pauseSec);
      if (pauseSec === null)
        log.error({ reason, attempts: release.attempts }, 'release given up, redeliver it by hand');
      else log.warn({ reason, attempts: release.attempts, pauseSec }, 'release not delivered');
      return;
    }
    await markDelivered(database, release.id);
    log.info({ attempts: release.attempts }, 'release delivered');
  }

  return createDueLoop({
    name: 'releases',
    // Without a receiver, releases that wait for one (configured until yesterday) are left waiting.
    claim: (limit) => (receiver === null ? Promise.resolve([]) : claimDueReleases(database, mode, limit)),
    work: deliver,
    concurrency: CONCURRENCY,
    pollMs: POLL_MS,
    logger,
  });
}

/** What {@link Receiver} is told: longer is a failure. A receiver that hangs must not hold its place for ever. */
async function withinDeadline(delivery: Promise<void> | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error('the receiver took too long'));
    }, DEADLINE_MS);
  });
  await Promise.race([delivery, late]).finally(() => {
    clearTimeout(timer);
  });
}

function pauseAfter({ attempts, ageSec }: DueRelease): number | null {
  if (ageSec > GIVE_UP_AFTER_SEC) return null;
  return PAUSES_SEC[Math.min(attempts, PAUSES_SEC.length) - 1] ?? null;
}
