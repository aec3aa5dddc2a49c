import type { Gateway } from '../gateway/gateway.ts';
import type { Dialect } from '../gateway/dialect/dialect.ts';
import { sleep, type Clock } from '../platform/clock.ts';
import type { Queryable } from '../platform/database/database.ts';
import type { Logger } from '../platform/logger.ts';
import type { Alarm } from '../alerts/alert.ts';
import type { Reconcile } from './reconcile.ts';
import { ReconciliationNotDueError, ReconciliationRunningError } from './errors.ts';
import { lastRuns, type LastRuns } from './report/runs.sql.ts';

export type ReconcileSchedule = {
  start(): void;
  /** Milliseconds since the run in hand last made progress; 0: none is in hand. */
  stuckMs(): number;
  /** Stops the current run at its next step and starts no other. */
  stop(): Promise<void>;
};

export type ScheduleParts = {
  /**
   * Minutes between the end of one run and the start of the next, of all workers; 0: there is no schedule.
   */
  everyMin: number;
  reconcile: Reconcile;
  database: Queryable;
  gateway: Pick<Gateway, 'mode' | 'dialect'>;
  alarm: Alarm;
  clock: Clock;
  logger: Logger;
};

/**
 * The longest wait before the first run: a process that restarts often must reconcile, too, but one that
 * has just started has other work.
 */
const FIRST_AFTER_MS = 60_000;

/**
 * When no run of any node has ended for this many intervals, and for an hour, the skipped
 * runs are worth an alert.
 */
const MAX_SKIPPED = 4;
const MIN_OVERDUE_MS = 60 * 60_000;

/** Which payments a scheduled run expects; without `since`, all of them. */
export type PlannedWindow = { since?: Date };

/** The hour (UTC) from which the run over everything of a day may begin. */
const NIGHT_HOUR = 2;
/**
 * An incremental run begins its window so long before the last run began: what was confirmed, listed or
 * committed late is seen again. Longer than a list may be gone on with that a killed run has begun (an hour).
 */
const OVERLAP_MS = 2 * 60 * 60 * 1_000;

/**
 * Reconciles regularly: everything once a day, and in between what is new, where the service can list only
 * that. Runs never overlap, and a failed run does not prevent the next one.
 */
export function createReconcileSchedule(parts: ScheduleParts): ReconcileSchedule {
  const { everyMin, reconcile, database, gateway, clock, logger } = parts;
  const stopping = new AbortController();
  const { signal } = stopping;
  const pauseMs = everyMin * 60_000;
  let running: Promise<void> | undefined;
  let progressMs: number | null = null;
  const onProgress = (): void => {
    progressMs = clock.elapsedMs();
  };

  /** @returns in how many milliseconds the next one is due */
  async function runOnce(): Promise<number> {
    onProgress();
    try {
      const window = planRun(gateway.dialect.history, await lastRuns(database, gateway.mode));
      await reconcile({ ...window, dryRun: false, scheduledEveryMs: pauseMs, onProgress, signal });
    } catch (error) {
      // Every node has a schedule, and one run is enough.
      if (error instanceof ReconciliationNotDueError) return error.dueInMs;
      if (error instanceof ReconciliationRunningError) await tellOfSkipping(parts).catch(noteFault);
      else logger.error({ err: error }, 'reconciliation failed');
    } finally {
      progressMs = null;
    }
    return pauseMs;
  }

  function noteFault(error: unknown): void {
    logger.warn({ err: error }, 'reading the last reconciliation run failed');
  }

  async function loop(): Promise<void> {
    await sleep(Math.min(pauseMs, FIRST_AFTER_MS), signal);
    while (!signal.aborted) {
      await sleep(await runOnce(), signal);
    }
  }

  return {
    start: () => {
      if (everyMin > 0) running ??= loop();
    },
    stuckMs: () => (progressMs === null ? 0 : clock.elapsedMs() - progressMs),
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

/**
 * Whether the next run is over everything or is incremental: a run over a window without an end, from where
 * the runs before it have come, less an overlap. It is over everything where the service cannot list a part,
 * and as long as none over everything has completed since the night began.
 */
export function planRun(
  { paging, lagSec }: Pick<Dialect['history'], 'paging' | 'lagSec'>,
  { now, fullCompletedAt, comparedTo }: LastRuns,
): PlannedWindow {
  const canListPart =
    paging.sinceParam !== null || (paging.newestFirstBy !== null && paging.style !== 'none');
  const night = new Date(now);
  night.setUTCHours(NIGHT_HOUR, 0, 0, 0);
  if (night > now) night.setUTCDate(night.getUTCDate() - 1);
  if (!canListPart || comparedTo === null || fullCompletedAt === null || fullCompletedAt < night) return {};
  const overlapMs = Math.max(OVERLAP_MS, 2_000 * (lagSec ?? 0));
  return { since: new Date(comparedTo.getTime() - overlapMs) };
}

/**
 * It is normal that another node is reconciling. It is worth an alert only if no run has
 * ended for a long time.
 */
async function tellOfSkipping({
  everyMin,
  database,
  gateway,
  alarm,
  clock,
  logger,
}: ScheduleParts): Promise<void> {
  logger.debug('another node is reconciling');
  const { mode } = gateway;
  const { finishedAt } = await lastRuns(database, mode);
  const overdueMs = Math.max(MAX_SKIPPED * everyMin * 60_000, MIN_OVERDUE_MS);
  if (finishedAt !== null && clock.now().getTime() - finishedAt.getTime() < overdueMs) return;
  const last = finishedAt === null ? 'in thirty days' : `since ${finishedAt.toISOString()}`;
  await alarm({
    event: 'reconciliation-skipped',
    mode,
    reason: `another run is at work, and none has ended ${last}`,
  });
}
