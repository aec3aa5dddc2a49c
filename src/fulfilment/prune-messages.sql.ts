import type { Queryable } from '../platform/database/database.ts';

const IS_OLD = `r.message IS NOT NULL AND r.delivery = 'delivered'
  AND r.delivered_at < now() - make_interval(days => $1)`;

/**
 * Forgets the messages that were delivered long ago, among the next releases: delivered once more, one is
 * made anew.
 * @param after where the batch before it ended; null: the oldest release
 */
export async function pruneMessages(
  db: Queryable,
  days: number,
  after: string | null,
): Promise<{ pruned: number; next: string | null }> {
  const [row] = await db.query<{ pruned: number; next: string | null }>(
    `WITH batch AS (SELECT id, released_at FROM releases
       WHERE $2::json IS NULL OR (released_at, id) > (($2::json ->> 0)::timestamptz, $2::json ->> 1)
       ORDER BY released_at, id LIMIT 1000),
     done AS (UPDATE releases r SET message = NULL FROM batch WHERE r.id = batch.id AND ${IS_OLD} RETURNING 1)
     SELECT (SELECT count(*)::int FROM done) AS pruned,
       (SELECT json_build_array(released_at, id)::text FROM batch
        WHERE released_at < now() - make_interval(days => $1)
        ORDER BY released_at DESC, id DESC LIMIT 1) AS next`,
    [days, after],
  );
  return row ?? { pruned: 0, next: null };
}

/** The same of events. @param after where the batch before it ended; null: the oldest event */
export async function pruneEventMessages(
  db: Queryable,
  days: number,
  after: string | null,
): Promise<{ pruned: number; next: string | null }> {
  const [row] = await db.query<{ pruned: number; next: string | null }>(
    `WITH batch AS (SELECT id, seq, happened_at FROM events WHERE seq > coalesce($2::bigint, 0) ORDER BY seq LIMIT 1000),
     done AS (UPDATE events r SET message = NULL FROM batch WHERE r.id = batch.id AND ${IS_OLD} RETURNING 1)
     SELECT (SELECT count(*)::int FROM done) AS pruned,
       (SELECT CASE WHEN min(happened_at) < now() - make_interval(days => $1) THEN max(seq)::text END FROM batch) AS next`,
    [days, after],
  );
  return row ?? { pruned: 0, next: null };
}

/** How many both would forget: reads every row. */
export async function countOldMessages(db: Queryable, days: number): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    `SELECT (SELECT count(*) FROM releases r WHERE ${IS_OLD})::int
       + (SELECT count(*) FROM events r WHERE ${IS_OLD})::int AS count`,
    [days],
  );
  return row?.count ?? 0;
}
