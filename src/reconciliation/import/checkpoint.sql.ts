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
 * By the database's clock, by which payments are written. `isLeft`: an earlier run left rows or a checkpoint.
 */
type Start = { now: Date; isLeft: boolean; checkpoint: Checkpoint | null };

/**
 * Looks for the checkpoint of a run that was killed, or had to stop, while it read the answer to the same
 * question.
 */
export async function findStart(db: Queryable, mode: Mode, question: string): Promise<Start> {
  const [row] = await db.query<Pick<Start, 'now' | 'isLeft'> & { startedAt: Date | null; state: string }>(
    `SELECT clock_timestamp() AS now, c.started_at AS "startedAt", c.state #>> '{}' AS state,
       EXISTS (SELECT FROM history_checkpoints WHERE mode = $1)
         OR EXISTS (SELECT FROM history_rows_${mode}) AS "isLeft"
     FROM (SELECT) one LEFT JOIN history_checkpoints c
       ON c.mode = $1 AND c.question = $2 AND c.started_at > clock_timestamp() - interval '${MAX_AGE}'`,
    [mode, question],
  );
  if (row === undefined) throw new Error('Bug: the database does not know the time');
  const { now, isLeft, startedAt, state } = row;
  if (startedAt === null) return { now, isLeft, checkpoint: null };
  const rest = JSON.parse(state) as Omit<Checkpoint, 'startedAt'>;
  return { now, isLeft, checkpoint: { startedAt, ...rest } };
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

/** Of so few rows, deleting takes less than TRUNCATE, which makes new files. */
const FEW = 5_000;

/**
 * Deletes what was read, in one transaction with its checkpoint, which would point at rows that are gone.
 * @param records how many rows there are about
 */
export async function clearHistory(db: Queryable, mode: Mode, records = Infinity): Promise<void> {
  const clear = records < FEW ? 'DELETE FROM' : 'TRUNCATE';
  await db.query(`DELETE FROM history_checkpoints WHERE mode = '${mode}'; ${clear} history_rows_${mode}`);
}

export async function removeCheckpoint(db: Queryable, mode: Mode): Promise<void> {
  await db.query('DELETE FROM history_checkpoints WHERE mode = $1', [mode]);
}
