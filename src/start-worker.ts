import type { Program } from './compose.ts';
import { createReconcileSchedule } from './reconciliation/schedule.ts';

export type Worker = { stop(): Promise<void> };

/** Starts the clock's work: due payments, due releases, and the reconciliation schedule. */
export function startWorker({
  config,
  duePayments,
  dueReleases,
  wakeUp,
  reconcile,
  logger,
}: Program): Worker {
  const schedule = createReconcileSchedule({ everyMin: config.RECONCILE_EVERY_MIN, reconcile, logger });
  wakeUp.listen(() => {
    duePayments.wake();
    dueReleases.wake();
  });
  duePayments.start();
  dueReleases.start();
  schedule.start();
  return {
    stop: async () => {
      await schedule.stop();
      await Promise.all([duePayments.stop(), dueReleases.stop()]);
    },
  };
}
