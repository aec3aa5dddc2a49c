import type { Clock } from './clock.ts';
import type { Queryable } from './database/database.ts';
import type { Logger } from './logger.ts';
import type { Mode } from './mode.ts';

/** Records that a worker of the mode is alive. @param by its host and process */
export async function beat(db: Queryable, mode: Mode, by: string): Promise<void> {
  await db.query(
    `INSERT INTO worker_heartbeats (mode, beaten_by) VALUES ($1, $2)
     ON CONFLICT (mode) DO UPDATE SET beaten_at = now(), beaten_by = excluded.beaten_by`,
    [mode, by],
  );
}

type Heartbeat = {
  at: Date;
  /** Seconds since then, by the database's clock. */
  sec: number;
  /** Host and process; null: a worker of an older version. */
  by: string | null;
};

/** The last heartbeat of a worker of the mode; null: there never was one. */
export async function lastHeartbeat(db: Queryable, mode: Mode): Promise<Heartbeat | null> {
  const [row] = await db.query<Heartbeat>(
    `SELECT beaten_at AS at, extract(epoch FROM now() - beaten_at)::float8 AS sec, beaten_by AS by
     FROM worker_heartbeats WHERE mode = $1`,
    [mode],
  );
  return row ?? null;
}

/** How often a worker sends a heartbeat, and a server without one checks for it, in milliseconds. */
export const BEAT_MS = 15_000;
/** Seconds without a heartbeat after which the worker counts as missing. */
export const MISSING_SEC = 60;

/** Whether a worker is expected and none has sent a heartbeat for a minute, and which one sent the last. */
export type WorkerState = { isMissing: boolean; last: Heartbeat | null };

export type WorkerWatch = {
  /** Whether this process leaves the scheduled work to a worker (`WORKER=off`). */
  isExpected: boolean;
  state(): Promise<WorkerState>;
  /** Checks now, and reports what it sees. */
  look(): Promise<void>;
  /** Checks every {@link BEAT_MS} milliseconds. @returns the function that stops it */
  start(): () => void;
};

type WorkerWatchParts = {
  db: Queryable;
  mode: Mode;
  isExpected: boolean;
  clock: Clock;
  /** Called at each look. */
  onSeen: (state: WorkerState) => void;
  logger: Logger;
};

export function createWorkerWatch(parts: WorkerWatchParts): WorkerWatch {
  const { db, mode, isExpected, clock, onSeen, logger } = parts;
  const startedMs = clock.elapsedMs();
  let wasMissing = false;

  async function state(): Promise<WorkerState> {
    if (!isExpected) return { isMissing: false, last: null };
    const last = await lastHeartbeat(db, mode);
    // Server and worker start together: before the first heartbeat the minute counts from our own start.
    const sec = last?.sec ?? (clock.elapsedMs() - startedMs) / 1_000;
    return { isMissing: sec > MISSING_SEC, last };
  }

  async function look(): Promise<void> {
    const seen = await state();
    onSeen(seen);
    if (!seen.isMissing && wasMissing) logger.info('a worker is running again');
    wasMissing = seen.isMissing;
  }

  return {
    isExpected,
    state,
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

/** `2026-11-22T10:00:00.000Z (host, process 1)`, for a sentence or a field; null: there never was one. */
export function nameOf(last: Heartbeat | null): string | null {
  return last === null ? null : last.at.toISOString() + (last.by === null ? '' : ` (${last.by})`);
}
