import type { HistoryCheckpoint } from '../../gateway/history/history.ts';
import type { Queryable } from '../../platform/database/database.ts';
import type { Mode } from '../../platform/mode.ts';

/** How far the history was read and staged. */
export type Checkpoint = {
  /** The database's time at which the list was begun. */
  startedAt: Date;
  records: number;
  unreadable: number;
  place: HistoryCheckpoint;
};

/** A list read longer ago than this is too old to compare with the current state. */
const MAX_AGE = '1 hour';

/**
 * The checkpoint of a run that was killed, or had to stop, while it read the answer to the
 * same question; else null.
 */
export async function findCheckpoint(
  db: Queryable,
  mode: Mode,
  question: string,
): Promise<Checkpoint | null> {
  const [row] = await db.query<{ startedAt: Date; state: string }>(
    `SELECT started_at AS "startedAt", state #>> '{}' AS state FROM history_checkpoints
     WHERE mode = $1 AND question = $2 AND started_at > clock_timestamp() - interval '${MAX_AGE}'`,
    [mode, question],
  );
  if (row === undefined) return null;
  return { startedAt: row.startedAt, ...(JSON.parse(row.state) as Omit<Checkpoint, 'startedAt'>) };
}

/** Call it when all rows before the place are staged. */
export async function saveCheckpoint(
  db: Queryable,
  mode: Mode,
  question: string,
  { startedAt, ...state }: Checkpoint,
): Promise<void> {
  await db.query(
    `INSERT INTO history_checkpoints (mode, question, started_at, state) VALUES ($1, $2, $3, $4)
     ON CONFLICT (mode) DO UPDATE SET question = excluded.question,
       started_at = excluded.started_at, state = excluded.state`,
    // A JSON string that contains JSON: jsonb rejects characters that a cursor or a name of the
    // service may contain.
    [mode, question, startedAt, JSON.stringify(JSON.stringify(state))],
  );
}

export async function removeCheckpoint(db: Queryable, mode: Mode): Promise<void> {
  await db.query('DELETE FROM history_checkpoints WHERE mode = $1', [mode]);
}
