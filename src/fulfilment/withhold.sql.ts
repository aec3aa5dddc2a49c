import type { Queryable } from '../platform/database/database.ts';
import type { OrderId, Reference, RunId } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';

/**
 * Each entry locks its order's journal until the transaction ends, and a transaction has room for some
 * thousand.
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
  ORDER BY r.delivery = 'unneeded', r.released_at, r.id LIMIT ${AT_ONCE} FOR NO KEY UPDATE OF r`;

/**
 * Withholds the releases that were not delivered yet and whose money the service took back as a whole, as
 * `runId` sees it. What refunds took back, the database withholds by itself. Call it in the transaction that
 * raises the findings.
 */
export async function withholdReversed(db: Queryable, mode: Mode, runId: RunId): Promise<void> {
  await db.query(
    `WITH gone AS MATERIALIZED (${GONE})
     SELECT count(*) FROM (SELECT withhold_release(order_id, 'reversed', 'reconciliation')
       FROM (SELECT order_id FROM gone ORDER BY order_id) ordered OFFSET 0) withheld`,
    [mode, runId],
  );
}

/** Whose money went back before it was delivered, and is there again. */
export type Returned = { release: string; orderId: OrderId; reference: Reference; attempts: number };

/** Why a {@link Returned} release is given up. */
export const MONEY_IS_BACK = 'its money had gone back, and is there again';

/**
 * Gives up the withheld releases whose last finding this run has closed, because the service shows their money
 * again: a person is told, and sends them. Call it in the transaction that closes the findings.
 */
export function giveUpReturned(db: Queryable, mode: Mode): Promise<Returned[]> {
  return db.query(
    `WITH back AS MATERIALIZED (
       SELECT r.id FROM releases r WHERE r.mode = $1 AND r.delivery = 'withheld'
         AND EXISTS (SELECT FROM findings f WHERE f.order_id = r.order_id
           AND f.closed_at = now() AND f.closed_by = 'reconciliation')
         AND NOT EXISTS (SELECT FROM findings f WHERE f.order_id = r.order_id AND f.closed_at IS NULL)
         AND money_that_came(r) > (SELECT coalesce(sum(amount), 0) FROM refunds b WHERE b.order_id = r.order_id)
       ORDER BY r.released_at, r.id LIMIT ${AT_ONCE} FOR NO KEY UPDATE
     ), dead AS (
       UPDATE releases r SET delivery = 'dead', last_error = $2 FROM back WHERE r.id = back.id
       RETURNING r.id, r.order_id, r.reference, r.attempts
     ), entry AS (
       INSERT INTO journal (order_id, event, reference, cause, detail)
       SELECT order_id, 'release-dead', reference, 'reconciliation',
         jsonb_build_object('release', id, 'attempts', attempts, 'error', $2::text) FROM dead ORDER BY order_id
     )
     SELECT id AS release, order_id AS "orderId", reference, attempts FROM dead`,
    [mode, MONEY_IS_BACK],
  );
}
