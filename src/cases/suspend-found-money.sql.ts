import type { Queryable } from '../platform/database/database.ts';
import type { OrderId, Reference, RunId } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';

/**
 * Most findings of one call: an entry locks its order until its transaction ends, which has room for some
 * thousand.
 */
const AT_ONCE = 1_000;

/** Classes of findings, as a list in SQL, whose money is in suspense, too. */
export const SUSPENSE_CLASSES = `'underpaid', 'overpaid', 'charged_again', 'unit_error', 'currency_mismatch',
  'duplicate_payment', 'paid_after_cancel', 'paid_after_deadline'`;
/** All that say how much money has come that is not earned. */
export const MONEY_CLASSES = `${SUSPENSE_CLASSES}, 'paid_after_decision', 'unknown_reference'`;

// A further charge brings the rest of what a person accepted, unless refunds took back all that had come.
const EARNED = `CASE WHEN money_that_came(r) <= (SELECT sum(b.amount) FROM refunds b
  WHERE b.order_id = r.order_id)
  THEN money_that_came(r) ELSE r.amount END`;

// Paid transactions that are not ours, and charges beyond the one that paid an order, or beyond what a person
// has decided about, of the run $2.
const FOUND = `
  SELECT f.id, f.class, f.reference, p.order_id, f.actual, f.actual - coalesce(${EARNED}, 0) AS amount,
    f.currency, r.id IS NULL AS is_unpaid
  FROM findings f LEFT JOIN payments p ON f.class = 'duplicate_payment'
    AND (p.mode, p.reference) = (f.mode, f.reference)
    LEFT JOIN releases r ON (r.mode, r.reference, r.currency) = (p.mode, p.reference, f.currency)
  WHERE f.mode = $1 AND f.last_run_id = $2 AND f.closed_at IS NULL AND f.id > $3
    AND (f.class = 'unknown_reference' OR r.id IS NOT NULL OR p.status = 'held' AND p.decided_at IS NOT NULL)
  ORDER BY f.id LIMIT $4`;

// As confirming locks, which may be at the same money: the payment before its item. PostgreSQL runs a SELECT
// in WITH only as far as it is read: HELD counts the rows, so all of them are locked before it writes.
const LOCKED = `
  SELECT p.reference FROM found JOIN payments p USING (reference) JOIN orders o ON o.id = p.order_id
  WHERE p.mode = $1 ORDER BY p.order_id, p.reference FOR NO KEY UPDATE OF o, p`;

const DECIDED = `decided_now($1, found.reference, found.currency, found.actual - found.amount, true,
  NOT found.is_unpaid, found.actual)`;

// An item holds only money that no decision has covered. The same money keeps the class that verify gave it:
// else each run and each answer would write it anew, and a person's decision would come too late. Money in
// another currency waits for that decision: its finding stays open, and a later run holds it.
const HELD = `
  INSERT INTO suspense_items (mode, class, reference, order_id, amount, currency)
  SELECT $1, class, reference, order_id, found.amount - decided.amount, currency
  FROM found, LATERAL (SELECT ${DECIDED} AS amount OFFSET 0) decided
  WHERE found.amount > decided.amount AND (SELECT count(*) FROM locked) >= 0
  ORDER BY order_id, reference
  ON CONFLICT (mode, reference) WHERE closed_at IS NULL DO UPDATE
    SET class = EXCLUDED.class, amount = EXCLUDED.amount
    WHERE suspense_items.currency = EXCLUDED.currency AND suspense_items.amount <> EXCLUDED.amount
  RETURNING order_id, reference, class, amount || ' ' || currency AS money`;

/**
 * Puts into suspense the money that only the service's history shows. Call it in the transaction that raises
 * the findings of `runId`, from where it reads them, and again, in transactions of their own, after the
 * finding that it returns.
 * @returns the last finding that it saw; null: there are no more
 */
export async function suspendFoundMoney(
  db: Queryable,
  mode: Mode,
  runId: RunId,
  after = 0n,
  atOnce = AT_ONCE,
): Promise<bigint | null> {
  const [row] = await db.query<{ last: bigint | null }>(
    `WITH found AS MATERIALIZED (${FOUND}), locked AS MATERIALIZED (${LOCKED}), held AS (${HELD}), entry AS (
       INSERT INTO journal (order_id, event, reference, cause, detail)
       SELECT order_id, 'money-held', reference, 'reconciliation',
         jsonb_build_object('suspense', class, 'money', money)
       FROM held WHERE order_id IS NOT NULL ORDER BY order_id, reference
     )
     SELECT CASE WHEN count(*) = $4 THEN max(id) END AS last FROM found`,
    [mode, runId, after, atOnce],
  );
  return row?.last ?? null;
}

/** Items in suspense that were opened, for an alert. */
export type OpenedItems = {
  /** By class. */
  counts: Record<string, number>;
  /** The first few; all of them are in `npm run suspense`. */
  first: { id: string; class: string; reference: Reference; orderId: OrderId | null }[];
};

/** Money that comes in the meantime is told together: a hundred items are one alert, and not a hundred. */
const PAUSE = `interval '5 minutes'`;

/** An arbitrary advisory lock number that no other code uses; the second key is the mode. */
const LOCK_KEY = 7_203_449;

// What an alert of its own tells (a unit error, a finding) is taken with the rest, and not told again.
const TAKEN = `
  UPDATE suspense_items i SET alerted_at = now()
  FROM (SELECT id FROM suspense_items WHERE mode = $1 AND alerted_at IS NULL AND closed_at IS NULL
      AND NOT EXISTS (SELECT FROM alert_states WHERE mode = $1 AND event = 'suspense-opened'
        AND news_at > now() - ${PAUSE})
      ORDER BY id FOR NO KEY UPDATE SKIP LOCKED) untold
  WHERE i.id = untold.id
  RETURNING i.id, i.class, i.reference, i.order_id, i.class <> 'unit_error' AND NOT EXISTS (
    SELECT FROM findings f WHERE f.mode = i.mode AND f.reference = i.reference AND f.raised_at IS NOT NULL
      AND f.closed_at IS NULL) AS is_news`;

/**
 * Takes the open items that have no alert yet: each is taken once, by one process. Call it in the transaction
 * that notes the alert.
 * @param maxNamed how many of them are named one by one
 * @returns null: there are none, another process is taking them, or there was an alert within the last five
 * minutes
 */
export async function takeUntoldItems(
  tx: Queryable,
  mode: Mode,
  maxNamed: number,
): Promise<OpenedItems | null> {
  // Two processes that take at the same time would share the items out, and send two alerts.
  const [lock] = await tx.query<{ isOurs: boolean }>(
    'SELECT pg_try_advisory_xact_lock($1, hashtext($2)) AS "isOurs"',
    [LOCK_KEY, mode],
  );
  if (lock?.isOurs !== true) return null;
  const rows = await tx.query<OpenedItems['first'][number]>(
    `WITH taken AS (${TAKEN})
     SELECT id::text AS id, class, reference, order_id AS "orderId" FROM taken WHERE is_news
       ORDER BY taken.id`,
    [mode],
  );
  if (rows.length === 0) return null;
  const counts: OpenedItems['counts'] = {};
  for (const { class: name } of rows) counts[name] = (counts[name] ?? 0) + 1;
  return { counts, first: rows.slice(0, maxNamed) };
}
