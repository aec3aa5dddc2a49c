import type { Queryable } from '../database/database.ts';
import type { Mode } from '../mode.ts';

/** Records that a worker of the mode is alive. @param by its host and process */
export async function beat(db: Queryable, mode: Mode, by: string): Promise<void> {
  await db.query(
    `INSERT INTO worker_heartbeats (mode, beaten_by) VALUES ($1, $2)
     ON CONFLICT (mode) DO UPDATE SET beaten_at = now(), beaten_by = excluded.beaten_by`,
    [mode, by],
  );
}

export type Heartbeat = {
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
