import type { Clock } from '../clock.ts';
import type { Queryable } from '../database/database.ts';
import type { Logger } from '../logger.ts';
import type { Mode } from '../mode.ts';
import { sinceHeartbeat } from './heartbeat.sql.ts';

/** How often a worker sends a heartbeat, and a server without one checks for it, in milliseconds. */
export const BEAT_MS = 15_000;
/** Seconds without a heartbeat after which the worker counts as missing. */
const MISSING_SEC = 60;

export type WorkerWatch = {
  /** Whether this process leaves the scheduled work to a worker (`WORKER=off`). */
  isExpected: boolean;
  /** Whether a worker is expected and none has sent a heartbeat for a minute. */
  isMissing(): Promise<boolean>;
  /** Checks now, and reports a change. */
  look(): Promise<void>;
  /** Checks every {@link BEAT_MS} milliseconds. @returns the function that stops it */
  start(): () => void;
};

export type WorkerWatchParts = {
  db: Queryable;
  mode: Mode;
  isExpected: boolean;
  clock: Clock;
  /** Called when the worker has gone missing. */
  onMissing: () => void;
  logger: Logger;
};

export function createWorkerWatch({
  db,
  mode,
  isExpected,
  clock,
  onMissing,
  logger,
}: WorkerWatchParts): WorkerWatch {
  const startedMs = clock.elapsedMs();
  let wasMissing = false;

  async function isMissing(): Promise<boolean> {
    if (!isExpected) return false;
    const sec = await sinceHeartbeat(db, mode);
    // Server and worker start together: before the first heartbeat the minute counts from our own start.
    return (sec ?? (clock.elapsedMs() - startedMs) / 1_000) > MISSING_SEC;
  }

  async function look(): Promise<void> {
    const missing = await isMissing();
    if (missing && !wasMissing) onMissing();
    if (!missing && wasMissing) logger.info('a worker is running again');
    wasMissing = missing;
  }

  return {
    isExpected,
    isMissing,
    look,
    start: () => {
      if (!isExpected) return () => undefined;
      const timer = setInterval(() => {
        look().catch(() => undefined); // the database is away, which other code reports
      }, BEAT_MS);
      return () => {
        clearInterval(timer);
      };
    },
  };
}
