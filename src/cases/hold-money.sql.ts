import type { Queryable } from '../platform/database/database.ts';
import type { RunId } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';

// Paid transactions that are not ours, and charges beyond the one that paid an order, of the run $2.
const FOUND = `
  SELECT class, reference, NULL AS order_id, actual, actual AS amount, currency FROM findings
  WHERE mode = $1 AND last_run_id = $2 AND closed_at IS NULL AND class = 'unknown_reference'
  UNION ALL
  SELECT f.class, f.reference, r.order_id, f.actual, f.actual - r.amount, f.currency
  FROM findings f JOIN releases r USING (mode, reference, currency)
  WHERE f.mode = $1 AND f.last_run_id = $2 AND f.closed_at IS NULL AND f.class = 'duplicate_payment'`;

/**
 * SQL over `d`, a row of decided_money: verify has shown since that the money is gone, so what it shows now is
 * other money. Of a payment that is not paid, that it failed or went back; of a surplus, the exact money.
 * @param isSurplus whether it is the surplus of a paid payment
 * @param isUnpaid whether its payment is not paid
 */
export const isGoneSince = (isSurplus: string, isUnpaid: string): string => `EXISTS (
  SELECT FROM verifications v WHERE v.reference = d.reference AND v.answered_at > d.decided_at
    AND (v.outcome = 'paid' AND ${isSurplus} OR v.outcome IN ('failed', 'expired', 'reversed') AND ${isUnpaid}))`;

/**
 * SQL over `d`, a row of decided_money: its finding of several charges has disappeared (not grown, which is the
 * next finding), and the list shows as much again. So that is other money.
 * @param actual what the list shows now
 */
export const hasComeAgain = (actual: string): string => `EXISTS (
  SELECT FROM findings f WHERE f.mode = d.mode AND f.reference = d.reference AND f.closed_at = d.decided_at
    AND f.class = 'duplicate_payment' AND f.gone_at IS NOT NULL AND f.actual <= ${actual}
    AND NOT EXISTS (SELECT FROM findings g WHERE g.reference = f.reference AND g.first_seen_at = f.gone_at))`;

// As confirming locks, which may be at the same money: the payment before its item. PostgreSQL runs a SELECT
// in WITH only as far as it is read: HELD counts the rows, so all of them are locked before it writes.
const LOCKED = `
  SELECT p.reference FROM found JOIN payments p USING (reference) JOIN orders o ON o.id = p.order_id
  WHERE p.mode = $1 ORDER BY p.order_id, p.reference FOR NO KEY UPDATE OF o, p`;

// An item holds only money that no decision has covered.
const HELD = `
  INSERT INTO suspense_items (mode, class, reference, order_id, amount, currency)
  SELECT $1, class, reference, order_id, found.amount - decided.amount, currency
  FROM found, LATERAL (SELECT coalesce(sum(amount), 0) AS amount FROM decided_money d
    WHERE d.mode = $1 AND d.reference = found.reference AND d.currency = found.currency
      AND NOT ${hasComeAgain('found.actual')}) decided
  WHERE found.amount > decided.amount AND (SELECT count(*) FROM locked) >= 0
  ORDER BY order_id, reference
  ON CONFLICT (mode, reference) WHERE closed_at IS NULL DO UPDATE
    SET class = EXCLUDED.class, amount = EXCLUDED.amount, currency = EXCLUDED.currency
    WHERE (suspense_items.class, suspense_items.amount, suspense_items.currency)
      IS DISTINCT FROM (EXCLUDED.class, EXCLUDED.amount, EXCLUDED.currency)
  RETURNING order_id, reference, class, amount || ' ' || currency AS money`;

/**
 * Puts into suspense the money that only the service's history shows. Call it in the transaction that raises
 * the findings of `runId`; it reads them from there.
 */
export async function holdMoneyFound(db: Queryable, mode: Mode, runId: RunId): Promise<void> {
  await db.query(
    `WITH found AS (${FOUND}), locked AS MATERIALIZED (${LOCKED}), held AS (${HELD})
     INSERT INTO journal (order_id, event, reference, cause, detail)
     SELECT order_id, 'money-held', reference, 'reconciliation',
       jsonb_build_object('suspense', class, 'money', money)
     FROM held WHERE order_id IS NOT NULL ORDER BY order_id, reference`,
    [mode, runId],
  );
}
