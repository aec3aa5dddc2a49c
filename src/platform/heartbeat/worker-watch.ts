import type { Clock } from '../clock.ts';
import type { Queryable } from '../database/database.ts';
import type { Logger } from '../logger.ts';
import type { Mode } from '../mode.ts';
import { sinceHeartbeat } from './heartbeat.sql.ts';

/** How often a worker says that it lives, and a server without one looks, in milliseconds. */
export const BEAT_MS = 15_000;
/** Seconds without a heartbeat after which there is no worker. */
const MISSING_SEC = 60;

export type WorkerWatch = {
  /** Whether this process leaves the clock's work to a worker (`WORKER=off`). */
  isExpected: boolean;
  /** Whether it does, and no worker has said for a minute that it lives. */
  isMissing(): Promise<boolean>;
  /** Looks now, and tells a change. */
  look(): Promise<void>;
  /** Looks every few seconds. @returns what ends that */
  start(): () => void;
};

export type WorkerWatchParts = {
  db: Queryable;
  mode: Mode;
  isExpected: boolean;
  clock: Clock;
  /** Called when there is no worker any more. */
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
        look().catch(() => undefined); // the database is away, and others say so
      }, BEAT_MS);
      return () => {
        clearInterval(timer);
      };
    },
  };
}
