import type { Queryable } from '../platform/database/database.ts';
import type { Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';

/** Payments that the list lacks, by the times at which they were written. */
export type Missing = { count: bigint; oldest: Date; newest: Date };

/**
 * Confirmed payments of `differing` that the list lacks; null when there are none.
 * @param confirmedBefore leaves out what may be too young for the list
 * @param writtenFrom leaves out what is older
 */
export async function findMissing(
  db: Queryable,
  confirmedBefore: Date,
  writtenFrom: Date | null = null,
): Promise<Missing | null> {
  const [row] = await db.query<Missing>(
    `SELECT count(*) AS count, min(created_at) AS oldest, max(created_at) AS newest FROM differing
     WHERE is_released AND NOT is_listed AND NOT is_before AND released_at < $1 AND ($2::timestamptz IS NULL OR created_at >= $2)
     HAVING count(*) > 0`,
    [confirmedBefore, writtenFrom],
  );
  return row ?? null;
}

/** Our payments in the list: when the first and the last of them were written, and the order of the list. */
export type ListRange = {
  rows: bigint;
  oldest: Date | null;
  newest: Date | null;
  order: 'newest first' | 'oldest first' | 'none';
};

/**
 * A list counts as ordered when nine of ten neighbours are in order, because late payments are out of
 * place. Fewer than four pairs prove nothing.
 */
const ORDER = `CASE WHEN greatest(up, down) < 4 THEN 'none' WHEN down * 9 <= up THEN 'oldest first'
  WHEN up * 9 <= down THEN 'newest first' ELSE 'none' END`;

/** Joins the whole list with the payments: call it only where something is missing. */
export async function rangeOfList(db: Queryable, mode: Mode): Promise<ListRange> {
  const [row] = await db.query<ListRange>(
    `WITH ours AS (
       SELECT p.created_at, lag(p.created_at) OVER (ORDER BY h.seq) AS before
       FROM history_rows h JOIN payments p ON p.mode = $1 AND p.reference = h.reference
     ), counted AS (
       SELECT min(created_at) AS oldest, max(created_at) AS newest,
         count(*) FILTER (WHERE created_at > before) AS up,
         count(*) FILTER (WHERE created_at < before) AS down FROM ours
     )
     SELECT oldest, newest, ${ORDER} AS "order", (SELECT count(*) FROM history_rows) AS rows FROM counted`,
    [mode],
  );
  return row ?? { rows: 0n, oldest: null, newest: null, order: 'none' };
}

/**
 * When the sentinels that the list lacks were written; null when it has all of them, null times when
 * none of them is ours.
 */
export async function lostSentinels(
  db: Queryable,
  mode: Mode,
  references: readonly Reference[],
): Promise<{ oldest: Date | null; newest: Date | null } | null> {
  const [row] = await db.query<{ oldest: Date | null; newest: Date | null }>(
    `SELECT min(p.created_at) AS oldest, max(p.created_at) AS newest
     FROM unnest($2::text[]) sentinel (reference)
     LEFT JOIN payments p ON p.mode = $1 AND p.reference = sentinel.reference
     WHERE NOT EXISTS (SELECT FROM history_rows h WHERE h.reference = sentinel.reference)
     HAVING count(*) > 0`,
    [mode, references],
  );
  return row ?? null;
}
