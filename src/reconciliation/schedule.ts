import { sleep } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import type { Reconcile } from './reconcile.ts';
import { ReconciliationRunningError } from './report.ts';

export type ReconcileSchedule = {
  start(): void;
  /** Ends the run in hand at its next step and starts none. */
  stop(): Promise<void>;
};

export type ScheduleParts = {
  /** Minutes between the end of one run and the start of the next; 0: there is no schedule. */
  everyMin: number;
  reconcile: Reconcile;
  logger: Logger;
};

/** A process that restarts often must reconcile, too; one that has just started has other things to do. */
const FIRST_AFTER_MS = 60_000;

/** Reconciles again and again. Runs never overlap, and one that fails does not keep the next one from running. */
export function createReconcileSchedule({ everyMin, reconcile, logger }: ScheduleParts): ReconcileSchedule {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pauseMs = everyMin * 60_000;
  let running: Promise<void> | undefined;

  async function runOnce(): Promise<void> {
    try {
      await reconcile({ dryRun: false, signal });
    } catch (error) {
      // Every node has a schedule, and one run is enough.
      if (error instanceof ReconciliationRunningError) logger.debug('another node is reconciling');
      else logger.error({ err: error }, 'reconciliation failed');
    }
  }

  async function loop(): Promise<void> {
    await sleep(Math.min(pauseMs, FIRST_AFTER_MS), signal);
    while (!signal.aborted) {
      await runOnce();
      await sleep(pauseMs, signal);
    }
  }

  return {
    start: () => {
      if (everyMin > 0) running ??= loop();
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
