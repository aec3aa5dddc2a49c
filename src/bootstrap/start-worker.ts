import { hostname } from 'node:os';
import type { Config } from '../config.ts';
import type { Program } from '../program.ts';
import { forgetOldKeys } from '../checkout/idempotency.sql.ts';
import { unsentReleases } from '../fulfilment/releases.sql.ts';
import { beat } from '../platform/heartbeat/heartbeat.sql.ts';
import { BEAT_MS } from '../platform/heartbeat/worker-watch.ts';
import { sumConfirmedHours } from '../reporting/money-by-day.sql.ts';
import { checkIntegrityWeekly } from '../reporting/integrity.ts';
import { systemClock } from '../platform/clock.ts';
import { forgetOldRefusals } from '../webhooks/refused-webhooks.sql.ts';
import { prune } from '../retention.ts';
import type { Logger } from '../platform/logger.ts';
import { createReconcileSchedule, type ReconcileSchedule } from '../reconciliation/schedule.ts';

export type Worker = {
  /** The name of a loop that has not gone round for too long; null: all do. */
  stuckLoop(): string | null;
  stop(): Promise<void>;
};

/** A loop goes round every second; a claim is given up after seconds. */
const LOOP_STUCK_MS = 120_000;
/** Comparing millions of records takes minutes without a word of progress. */
const RUN_STUCK_MS = 1_800_000;

const HOUSEKEEPING_MS = 3_600_000;
const PRUNE_EVERY = 24;

/** Logs what is legal and risky about the configuration, a line for each. */
export function warnOf({ warnings }: Config, logger: Logger): void {
  for (const warning of warnings) logger.warn(warning);
}

/** Starts the worker's loops: due payments, releases and events, and the reconciliation schedule. */
export function startWorker(program: Program): Worker {
  const { config, database, gateway, duePayments, dueReleases, dueEvents, wakeUp, logger } = program;
  const schedule = createReconcileSchedule({
    ...program,
    everyMin: config.RECONCILE_EVERY_MIN,
    clock: systemClock,
  });
  wakeUp.listen(() => {
    duePayments.wake();
    dueReleases.wake();
  });
  duePayments.start();
  dueReleases.start();
  // Events are few: it looks each second, and not at each payment.
  dueEvents.start();
  schedule.start();
  void warnOfUnsent(program);
  const stopping = new AbortController();
  const { sumHours, checkOnce, pruneOld } = jobsOf(program, stopping.signal);
  const stuckLoop = (): string | null => stuckLoopOf(program, schedule);
  const sayAlive = (): void => {
    void program.sendDueAlerts();
    // A worker that hangs is as good as none.
    if (stuckLoop() !== null) return;
    beat(database, gateway.mode, `${hostname()}, process ${process.pid}`).catch((error: unknown) => {
      logger.warn({ err: error }, 'worker heartbeat failed');
    });
  };
  sayAlive();
  const beating = setInterval(sayAlive, BEAT_MS);
  let summing = sumHours();
  let checking = checkOnce();
  let pruning = Promise.resolve();
  let rounds = 0;
  const housekeeping = setInterval(() => {
    forgetOldKeys(database).catch((error: unknown) => {
      logger.warn({ err: error }, 'idempotency key cleanup failed');
    });
    forgetOldRefusals(database).catch((error: unknown) => {
      logger.warn({ err: error }, 'cleanup of refused webhooks failed');
    });
    summing = summing.then(sumHours);
    checking = checking.then(checkOnce);
    if (rounds++ % PRUNE_EVERY === 0) pruning = pruning.then(pruneOld);
  }, HOUSEKEEPING_MS);
  return {
    stuckLoop,
    stop: async () => {
      clearInterval(housekeeping);
      clearInterval(beating);
      stopping.abort();
      await schedule.stop();
      const loops = [duePayments.stop(), dueReleases.stop(), dueEvents.stop()];
      await Promise.all([...loops, summing, checking, pruning]);
    },
  };
}

/** What is done now and then. A job that fails says so and is done again at its next time. */
function jobsOf({ config, database, gateway, alarm, logger }: Program, signal: AbortSignal) {
  const mode = gateway.mode;
  const saying = (what: string) => (error: unknown) => {
    if (!signal.aborted) logger.warn({ err: error }, what);
  };
  return {
    sumHours: (): Promise<void> =>
      sumConfirmedHours(database, mode, signal).catch(saying('hourly aggregation failed')),
    checkOnce: async (): Promise<void> => {
      await checkIntegrityWeekly({ database, mode, alarm, logger, signal }).catch(
        saying('integrity check failed'),
      );
    },
    pruneOld: async (): Promise<void> => {
      const days = config.RETAIN_BODIES_DAYS;
      if (days === undefined) return;
      const pruned = await prune(database, days, signal).catch(saying('pruning old bodies failed'));
      if (pruned) logger.info(pruned, 'old bodies pruned');
    },
  };
}

function stuckLoopOf(program: Program, schedule: ReconcileSchedule): string | null {
  const { duePayments, dueReleases, dueEvents } = program;
  if (duePayments.stuckMs() > LOOP_STUCK_MS) return 'payments';
  if (dueReleases.stuckMs() > LOOP_STUCK_MS) return 'releases';
  if (dueEvents.stuckMs() > LOOP_STUCK_MS) return 'events';
  return schedule.stuckMs() > RUN_STUCK_MS ? 'reconciliation' : null;
}

/** A receiver configured later gets nothing of what was recorded before, until an operator asks for it. */
async function warnOfUnsent({ database, gateway, hasReceiver, logger }: Program): Promise<void> {
  if (!hasReceiver) return;
  try {
    const { count, oldest } = await unsentReleases(database, gateway.mode);
    if (count > 0) logger.warn({ count, oldest }, 'releases never sent: npm run releases -- send-unsent');
  } catch (error) {
    logger.warn({ err: error }, 'counting releases that were never sent failed');
  }
}
