import { bytesNameAddress, patternsOf } from '../orders/erasure.sql.ts';
import type { Queryable } from '../platform/database/database.ts';
import type { OrderId } from '../platform/ids.ts';

const NO_OPEN_FINDING = `NOT EXISTS (
  SELECT FROM findings f WHERE f.reference = v.reference AND f.closed_at IS NULL)`;

/**
 * Empties the answers about these orders, and each that names the address. Digests and what was read stay; so
 * does the evidence of an open finding.
 * @returns how many
 */
export async function emptyAnswersOf(
  db: Queryable,
  orderIds: readonly OrderId[],
  email: string,
): Promise<number> {
  const rows = await db.query(
    `UPDATE verifications v SET body = NULL
     WHERE body IS NOT NULL AND (order_id = ANY($1) OR ${bytesNameAddress('body', '$2')}) AND ${NO_OPEN_FINDING}
     RETURNING 1 AS emptied`,
    [orderIds, patternsOf(email)],
  );
  return rows.length;
}

/** What a batch did, and after which row the next one begins; null: there is nothing old behind it. */
export type Batch = { pruned: number; next: string | null };

// Of an order that waits for money or for a person, and of undecided money, everything stays.
const IS_OLD = `v.body IS NOT NULL AND v.answered_at < now() - make_interval(days => $1) AND ${NO_OPEN_FINDING}
  AND NOT EXISTS (SELECT FROM suspense_items s WHERE s.reference = v.reference AND s.closed_at IS NULL)
  AND NOT EXISTS (SELECT FROM orders o WHERE o.id = v.order_id AND o.status IN ('pending', 'review'))`;

/** Empties the old answers among the next rows. Their digests, and what was read from them, stay. */
export async function pruneAnswers(db: Queryable, days: number, after: string | null): Promise<Batch> {
  const [row] = await db.query<Batch>(
    `WITH batch AS (SELECT id, answered_at FROM verifications WHERE id > coalesce($2::bigint, 0) ORDER BY id LIMIT 1000),
     done AS (UPDATE verifications v SET body = NULL FROM batch WHERE v.id = batch.id AND ${IS_OLD} RETURNING 1)
     SELECT (SELECT count(*)::int FROM done) AS pruned,
       (SELECT CASE WHEN min(answered_at) < now() - make_interval(days => $1) THEN max(id)::text END FROM batch) AS next`,
    [days, after],
  );
  return row ?? { pruned: 0, next: null };
}

/** How many it would empty: reads every row. */
export async function countOldAnswers(db: Queryable, days: number): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM verifications v WHERE ${IS_OLD}`,
    [days],
  );
  return row?.count ?? 0;
}
