import type { Queryable } from '../platform/database/database.ts';
import type { OrderId, Reference, RunId } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';

/**
 * Most releases of one call: each entry locks its order's journal until the transaction ends, and a
 * transaction has room for some thousand.
 */
const AT_ONCE = 1_000;

// Those that `makeUnsentDue` locks, too, in its order. What a person has sent all the same is that person's
// decision.
const GONE = `
  SELECT r.order_id FROM findings f JOIN releases r ON r.order_id = f.order_id
  WHERE f.mode = $1 AND f.last_run_id = $2 AND f.class = 'reversed'
    AND f.closed_at IS NULL AND f.raised_at IS NOT NULL AND r.delivery IN ('unneeded', 'waiting', 'dead')
    AND (f.evidence ->> 'refunded')::bigint + (f.evidence ->> 'unexplained')::bigint >= money_that_came(r)
    AND NOT EXISTS (SELECT FROM journal j WHERE j.order_id = r.order_id
      AND j.event = 'release-redelivery' AND j.detail ->> 'was' = 'withheld')
  ORDER BY r.delivery = 'unneeded', r.released_at, r.id LIMIT $3 FOR NO KEY UPDATE OF r`;

/**
 * Withholds releases that were not delivered yet and whose money the service took back as a whole, as `runId`
 * sees it. What refunds took back, the database withholds by itself. Call it in the transaction that raises
 * the findings, and again, in transactions of their own, until it says that no more are left.
 * @returns whether more may be left
 */
export async function withholdReversed(
  db: Queryable,
  mode: Mode,
  runId: RunId,
  atOnce = AT_ONCE,
): Promise<boolean> {
  const rows = await db.query<{ count: number }>(
    `WITH gone AS MATERIALIZED (${GONE})
     SELECT count(*)::int FROM (SELECT withhold_release(order_id, 'reversed', 'reconciliation')
       FROM (SELECT order_id FROM gone ORDER BY order_id) ordered OFFSET 0) withheld`,
    [mode, runId, atOnce],
  );
  return rows[0]?.count === atOnce;
}

/** Whose money went back before it was delivered, and is there again: a person is to send it. */
export type Returned = { release: string; orderId: OrderId; reference: Reference; attempts: number };

/** Why a {@link Returned} release is given up. */
export const MONEY_IS_BACK = 'its money had gone back, and is there again';

// The last that was said of its money going back has ended by itself; what a person closed stays withheld.
const IS_BACK = `r.mode = $1 AND r.delivery = 'withheld'
  AND (SELECT f.closed_by FROM findings f WHERE f.order_id = r.order_id AND f.class = 'reversed'
    ORDER BY f.closed_at DESC NULLS FIRST, f.id DESC LIMIT 1) = 'reconciliation'
  AND NOT EXISTS (SELECT FROM findings f WHERE f.order_id = r.order_id AND f.closed_at IS NULL)
  AND money_that_came(r) > (SELECT coalesce(sum(amount), 0) FROM refunds b WHERE b.order_id = r.order_id)`;

// A statement of its own: the next one then sees each refund, and none is written down before it has ended.
// An order that another transaction has locked is left to the next run.
const LOCK_ORDERS = `
  SELECT id FROM orders WHERE id IN (
    SELECT r.order_id FROM releases r
    JOIN (SELECT DISTINCT order_id FROM findings
      WHERE mode = $1 AND class = 'reversed' AND closed_by = 'reconciliation') f USING (order_id)
    WHERE ${IS_BACK} ORDER BY r.released_at, r.id LIMIT $2)
  ORDER BY id FOR NO KEY UPDATE SKIP LOCKED`;

// Quiet only while the shop has no receiver: the newest release that is not withheld itself tells.
const BACK = `
  SELECT r.id, coalesce((SELECT j.detail ->> 'was' FROM journal j WHERE j.order_id = r.order_id
      AND j.event = 'release-withheld' ORDER BY j.seq DESC LIMIT 1) = 'unneeded', false)
    AND coalesce((SELECT n.delivery FROM releases n WHERE n.mode = $1 AND n.delivery <> 'withheld'
      ORDER BY n.released_at DESC, n.id DESC LIMIT 1), 'unneeded') = 'unneeded' AS was_unneeded
  FROM releases r WHERE r.order_id = ANY($3) AND ${IS_BACK}
  ORDER BY r.released_at, r.id FOR NO KEY UPDATE OF r`;

/**
 * Gives up withheld releases about whose money no finding is open any more, because the service shows it
 * again: a person is told, and sends them. One that was `unneeded` becomes that again. Call it in the
 * transaction that closes the findings, and again, in transactions of their own, until it says that no more
 * are left.
 */
export async function giveUpReturned(
  db: Queryable,
  mode: Mode,
  atOnce = AT_ONCE,
): Promise<{ returned: Returned[]; isAnyLeft: boolean }> {
  const orders = await db.query<{ id: OrderId }>(LOCK_ORDERS, [mode, atOnce]);
  if (orders.length === 0) return { returned: [], isAnyLeft: false };
  const rows = await db.query<Returned & { wasUnneeded: boolean }>(
    `WITH back AS MATERIALIZED (${BACK}), moved AS (
       UPDATE releases r SET delivery = CASE WHEN was_unneeded THEN 'unneeded' ELSE 'dead' END,
         last_error = CASE WHEN NOT was_unneeded THEN $2 END
       FROM back WHERE r.id = back.id
       RETURNING r.id, r.order_id, r.reference, r.attempts, r.delivery, r.last_error
     ), entry AS (
       INSERT INTO journal (order_id, event, reference, cause, detail)
       SELECT order_id, 'release-' || delivery, reference, 'reconciliation', jsonb_strip_nulls(
         jsonb_build_object('release', id, 'attempts', attempts, 'error', last_error)) FROM moved
           ORDER BY order_id
     )
     SELECT id AS release, order_id AS "orderId", reference, attempts, delivery = 'unneeded' AS "wasUnneeded"
     FROM moved`,
    [mode, MONEY_IS_BACK, orders.map(({ id }) => id)],
  );
  const returned = rows.flatMap(({ wasUnneeded, ...release }) => (wasUnneeded ? [] : [release]));
  return { returned, isAnyLeft: rows.length === atOnce };
}
