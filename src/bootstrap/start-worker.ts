import { hostname } from 'node:os';
import type { Config } from '../config.ts';
import type { Program } from '../program.ts';
import { forgetOldKeys } from '../checkout/idempotency.sql.ts';
import { unsentReleases } from '../fulfilment/releases.sql.ts';
import { beat, BEAT_MS } from '../platform/heartbeat.sql.ts';
import { sumConfirmedHours } from '../reporting/money-by-day.sql.ts';
import { checkIntegrityWeekly } from '../reporting/integrity.ts';
import { systemClock } from '../platform/clock.ts';
import { forgetOldRefusals } from '../webhooks/refused-webhooks.sql.ts';
import { prune } from '../retention.ts';
import type { Logger } from '../platform/logger.ts';
import { createReconcileSchedule, type ReconcileSchedule } from '../reconciliation/schedule.ts';
import type { PrepareBackingServices } from '../config/backing-services.ts';
import { buildWorkerApp } from '../app.ts';
import { listen } from '../platform/http-server.ts';
import { isAnswered, usageText } from '../platform/usage.ts';
import { openProgram } from './open-program.ts';
import { runProcess, terminationSignal } from './run-process.ts';

export type Worker = {
  /** The name of a loop that has not gone round for too long; null: all do. */
  stuckLoop(): string | null;
  stop(): Promise<void>;
};

/** A loop goes round every second; its statement is given up after seconds. */
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
  let rounds = 0;
  const jobs = housekeeping(program, stopping.signal);
  let jobsDone = jobs.map(() => Promise.resolve());
  const keepHouse = (): void => {
    const round = rounds;
    rounds += 1;
    // A job waits for its own last time only: a check of all journals may take hours.
    jobsDone = jobsDone.map((done, at) => done.then(() => jobs[at]?.(round)));
  };
  keepHouse();
  const hourly = setInterval(keepHouse, HOUSEKEEPING_MS);
  return {
    stuckLoop,
    stop: async () => {
      clearInterval(hourly);
      clearInterval(beating);
      stopping.abort();
      await schedule.stop();
      await Promise.all([duePayments.stop(), dueReleases.stop(), dueEvents.stop(), ...jobsDone]);
    },
  };
}

type Job = (round: number) => Promise<void>;

/**
 * What is done every hour; pruning once a day. A job that fails says so and is done again at its next time.
 */
function housekeeping({ config, database, gateway, alarm, logger }: Program, signal: AbortSignal): Job[] {
  const { mode } = gateway;
  const days = config.RETAIN_BODIES_DAYS;
  const job =
    (name: string, work: (round: number) => Promise<unknown>): Job =>
    async (round) => {
      if (signal.aborted) return;
      await work(round).catch((error: unknown) => {
        if (!signal.aborted) logger.warn({ err: error }, `${name} failed`);
      });
    };
  return [
    job('hourly aggregation', () => sumConfirmedHours(database, mode, signal)),
    job('cleanup of idempotency keys', () => forgetOldKeys(database)),
    job('cleanup of refused webhooks', () => forgetOldRefusals(database)),
    job('integrity check', () => checkIntegrityWeekly({ database, mode, alarm, logger, signal })),
    job('pruning of old bodies', async (round) => {
      if (days === undefined || round % PRUNE_EVERY !== 1) return;
      logger.info(await prune(database, days, signal), 'old bodies pruned');
    }),
  ];
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

const HELP = usageText('npm run worker', {
  does: 'The background work in a process of its own, beside servers with WORKER=off.',
  forms: [''],
  options: {},
  exits: '0 after Ctrl-C, 1 it could not start, 78 the configuration is wrong',
  example: '',
});

/**
 * The process of `src/worker.ts`: the worker in a process of its own, beside servers with WORKER=off.
 * @param args what was typed after the command: it takes no options
 */
export async function work(prepare: PrepareBackingServices, args: readonly string[]): Promise<void> {
  if (isAnswered(HELP, args)) return;
  await runProcess(async (config) => {
    const stopped = terminationSignal();
    const { program, logger, close } = await openProgram(config, prepare, {
      purpose: 'npm run worker',
      logLevel: config.LOG_LEVEL,
      logTo: process.stdout,
      beforeOpening: (log) => {
        warnOf(config, log);
      },
    });
    // Listens first: a port that is taken ends the process before it has begun any work.
    let worker: Worker | null = null;
    const app = buildWorkerApp(program, () => worker?.stuckLoop() ?? null);
    const { HOST, WORKER_PORT: port } = config;
    const http = port === undefined ? null : await listen(app, HOST, port, { variable: 'WORKER_PORT' });
    worker = startWorker(program);
    logger.info({ ...(http && { port: http.port }) }, 'worker is running');
    await stopped;
    await Promise.all([worker.stop(), http?.close()]);
    await close();
    return 0;
  });
}
