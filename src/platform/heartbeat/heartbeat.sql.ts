import type { Queryable } from '../database/database.ts';
import type { Mode } from '../mode.ts';

/** Records that a worker of the mode is alive. */
export async function beat(db: Queryable, mode: Mode): Promise<void> {
  await db.query(
    `INSERT INTO worker_heartbeats (mode) VALUES ($1) ON CONFLICT (mode) DO UPDATE SET beaten_at = now()`,
    [mode],
  );
}

/** Seconds since the last heartbeat of a worker of the mode; null: there never was one. */
export async function sinceHeartbeat(db: Queryable, mode: Mode): Promise<number | null> {
  const [row] = await db.query<{ sec: number }>(
    'SELECT extract(epoch FROM now() - beaten_at)::float8 AS sec FROM worker_heartbeats WHERE mode = $1',
    [mode],
  );
  return row?.sec ?? null;
}
