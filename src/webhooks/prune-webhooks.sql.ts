import { bytesNameAddress, patternsOf } from '../orders/erasure.sql.ts';
import type { Queryable } from '../platform/database/database.ts';
import type { OrderId } from '../platform/ids.ts';
import type { Batch } from '../payments/prune-answers.sql.ts';

const NO_OPEN_FINDING = `NOT EXISTS (
  SELECT FROM findings f WHERE f.reference = w.reference AND f.closed_at IS NULL)`;

/**
 * Deletes the webhooks about these orders, and each that names the address, also one that named no payment of
 * ours. The evidence of an open finding stays.
 * @returns how many
 */
export async function deleteWebhooksOf(
  db: Queryable,
  orderIds: readonly OrderId[],
  email: string,
): Promise<number> {
  const rows = await db.query(
    `DELETE FROM webhooks w
     WHERE (reference IN (SELECT p.reference FROM payments p WHERE p.order_id = ANY($1))
       OR ${bytesNameAddress('body', '$2')}) AND ${NO_OPEN_FINDING}
     RETURNING 1 AS deleted`,
    [orderIds, patternsOf(email)],
  );
  return rows.length;
}

const IS_OLD = `w.last_received_at < now() - make_interval(days => $1) AND ${NO_OPEN_FINDING}
  AND NOT EXISTS (SELECT FROM suspense_items s WHERE s.reference = w.reference AND s.closed_at IS NULL)
  AND NOT EXISTS (SELECT FROM payments p JOIN orders o ON o.id = p.order_id
    WHERE p.reference = w.reference AND o.status IN ('pending', 'review'))`;

/** Deletes the old webhooks among the next rows. */
export async function pruneWebhooks(db: Queryable, days: number, after: string | null): Promise<Batch> {
  const [row] = await db.query<Batch>(
    `WITH batch AS (SELECT id, received_at FROM webhooks WHERE id > coalesce($2::bigint, 0) ORDER BY id LIMIT 1000),
     done AS (DELETE FROM webhooks w USING batch WHERE w.id = batch.id AND ${IS_OLD} RETURNING 1)
     SELECT (SELECT count(*)::int FROM done) AS pruned,
       (SELECT CASE WHEN min(received_at) < now() - make_interval(days => $1) THEN max(id)::text END FROM batch) AS next`,
    [days, after],
  );
  return row ?? { pruned: 0, next: null };
}

/** How many it would delete: reads every row. */
export async function countOldWebhooks(db: Queryable, days: number): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM webhooks w WHERE ${IS_OLD}`,
    [days],
  );
  return row?.count ?? 0;
}
