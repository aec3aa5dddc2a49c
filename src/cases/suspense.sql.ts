import type { Queryable } from '../platform/database/database.ts';
import type { OrderId, RunId } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';

/**
 * How the money of an order left suspense, oldest first.
 * @returns null while some of it waits for a decision, or when there never was any
 */
export async function decisionsAbout(
  db: Queryable,
  orderId: OrderId,
): Promise<{ decision: string; refundNote: string | null }[] | null> {
  const rows = await db.query<{ decision: string | null; refundNote: string | null }>(
    `SELECT decision, refund_note AS "refundNote" FROM suspense_items WHERE order_id = $1 ORDER BY id`,
    [orderId],
  );
  const decided = rows.flatMap(({ decision, refundNote }) =>
    decision === null ? [] : [{ decision, refundNote }],
  );
  return decided.length === rows.length && rows.length > 0 ? decided : null;
}

/**
 * The money under a reference that operators have decided about: a row with `amount`, minor units. An
 * item holds only money that no decision has covered. Money that paid its order after all ("earned") is
 * not counted: it is that order's.
 * @param mode,reference,currency SQL for the three
 */
export function decidedMoneySql(mode: string, reference: string, currency: string): string {
  return `(SELECT coalesce(sum(i.amount), 0) AS amount FROM suspense_items i
    WHERE i.mode = ${mode} AND i.reference = ${reference} AND i.currency = ${currency}
      AND i.closed_at IS NOT NULL AND i.decision <> 'earned')`;
}

/**
 * Puts into suspense the money that only the service's history shows: paid transactions that are not
 * ours, and charges beyond the one that paid an order. Call it in the transaction that raises the
 * findings of `runId`; it reads them from there.
 */
export async function holdMoneyFound(db: Queryable, mode: Mode, runId: RunId): Promise<void> {
  await db.query(
    `WITH found AS (
       SELECT class, reference, NULL AS order_id, actual AS amount, currency FROM findings
       WHERE mode = $1 AND last_run_id = $2 AND closed_at IS NULL AND class = 'unknown_reference'
       UNION ALL
       SELECT f.class, f.reference, r.order_id, f.actual - r.amount, f.currency
       FROM findings f JOIN releases r USING (mode, reference, currency)
       WHERE f.mode = $1 AND f.last_run_id = $2 AND f.closed_at IS NULL AND f.class = 'duplicate_payment'
     ), locked AS MATERIALIZED (
       -- As confirming locks, which may be at the same money: the payment before its item.
       SELECT p.reference FROM found JOIN payments p USING (reference) JOIN orders o ON o.id = p.order_id
       WHERE p.mode = $1 ORDER BY p.order_id, p.reference FOR NO KEY UPDATE OF o, p
     ), held AS (
       INSERT INTO suspense_items (mode, class, reference, order_id, amount, currency)
       SELECT $1, class, reference, order_id, found.amount - decided.amount, currency
       FROM found, LATERAL ${decidedMoneySql('$1', 'found.reference', 'found.currency')} decided
       WHERE found.amount > decided.amount AND (SELECT count(*) FROM locked) >= 0
       ORDER BY order_id, reference
       ON CONFLICT (mode, reference) WHERE closed_at IS NULL DO UPDATE
         SET class = EXCLUDED.class, amount = EXCLUDED.amount, currency = EXCLUDED.currency
         WHERE (suspense_items.class, suspense_items.amount, suspense_items.currency)
           IS DISTINCT FROM (EXCLUDED.class, EXCLUDED.amount, EXCLUDED.currency)
       RETURNING order_id, reference, class, amount || ' ' || currency AS money
     )
     INSERT INTO journal (order_id, event, reference, cause, detail)
     SELECT order_id, 'money-held', reference, 'reconciliation',
       jsonb_build_object('suspense', class, 'money', money)
     FROM held WHERE order_id IS NOT NULL ORDER BY order_id, reference`,
    [mode, runId],
  );
}
