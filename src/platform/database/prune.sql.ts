import type { Database, Queryable } from './database.ts';

/**
 * Rows of a table that are pruned when they are old. In its SQL `old` is a row, and $1 the number of days.
 */
export type Prunable = {
  table: string;
  /**
   * The columns it is read by, with their types: an index has them in this order, and time rises with them.
   */
  keys: Readonly<Record<string, string>>;
  /** When the row was written. */
  at: string;
  /** Begins the statement that writes: `UPDATE … FROM batch` or `DELETE … USING batch`. */
  write: string;
  /** What makes a row of it old enough. */
  isOld: string;
};

/** What a batch did, and after which row the next one begins; null: there is nothing old behind it. */
export type Batch = { pruned: number; next: string | null };

/**
 * Of one batch. Other statements have five seconds; this one may first have to pass over millions of rows
 * that were deleted before and that no vacuum has removed yet.
 */
const MAY_TAKE_MS = 60_000;

/**
 * Prunes what is old among the next thousand rows, in a transaction of its own: no lock is held for long.
 * @param after where the batch before it ended; null: the oldest row
 */
export async function pruneBatch(
  database: Pick<Database, 'transaction'>,
  { table, keys, at, write, isOld }: Prunable,
  days: number,
  after: string | null,
): Promise<Batch> {
  const names = Object.keys(keys);
  const each = (text: (name: string) => string): string => names.map(text).join(', ');
  const last = Object.values(keys).map((type, position) => `($2::json ->> ${position})::${type}`);
  const statement = `WITH batch AS (SELECT ${each((name) => name)}, ${at} AS at FROM ${table}
       WHERE $2::json IS NULL OR (${each((name) => name)}) > (${last.join(', ')})
       ORDER BY ${each((name) => name)} LIMIT 1000),
     done AS (${write} WHERE (${each((name) => `old.${name}`)}) = (${each((name) => `batch.${name}`)})
       AND ${isOld} RETURNING 1)
     SELECT (SELECT count(*)::int FROM done) AS pruned,
       (SELECT json_build_array(${each((name) => name)})::text FROM batch
        WHERE (SELECT min(at) FROM batch) < now() - make_interval(days => $1)
        ORDER BY ${each((name) => `${name} DESC`)} LIMIT 1) AS next`;
  const [row] = await database.transaction(async (tx) => {
    await tx.query(`SET LOCAL statement_timeout = ${MAY_TAKE_MS}`);
    return tx.query<Batch>(statement, [days, after]);
  });
  return row ?? { pruned: 0, next: null };
}

/** How many are old: reads every row. */
export async function countOld(db: Queryable, { table, isOld }: Prunable, days: number): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM ${table} old WHERE ${isOld}`,
    [days],
  );
  return row?.count ?? 0;
}
