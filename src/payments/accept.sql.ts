import type { ReleasePlan } from '../fulfilment/release.ts';
import {
  FINDINGS_OF_ITEM,
  findingsClosedWith,
  journalOfFindings,
  SUSPENSE,
  versionOf,
} from '../cases/work-lists.sql.ts';
import type { Queryable } from '../platform/database/database.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import { LOCK_ORDER } from './lock-order.ts';

/** Open money in suspense, in minor units, and whose it is. */
type HeldMoney = { class: string; amount: bigint; reference: Reference; orderId: OrderId | null };

/** @param seen the version that the operator saw; null: whatever it is now */
export async function readHeldMoney(
  db: Queryable,
  mode: Mode,
  id: bigint,
  seen: string | null,
): Promise<HeldMoney | null> {
  const [row] = await db.query<HeldMoney>(
    `SELECT class, amount, reference, order_id AS "orderId" FROM suspense_items i
     WHERE id = $1 AND mode = $2 AND closed_at IS NULL AND ($3::text IS NULL OR ${versionOf(SUSPENSE)} = $3)`,
    [id, mode, seen],
  );
  return row ?? null;
}

// The newest answer shows exactly the money of the item, and nothing else was decided about the payment. The
// findings in `same` are counted so that they are locked first: PostgreSQL runs a SELECT in WITH only as far
// as it is read.
const SEEN = `
  SELECT i.id AS item, i.class, i.amount AS came, p.order_id, p.reference, p.mode, p.amount, p.currency,
    v.id AS verification, evidence_hash(v) AS evidence
  FROM suspense_items i JOIN payments p USING (mode, reference) JOIN orders o ON o.id = p.order_id
  JOIN verifications v ON v.id = (SELECT max(id) FROM verifications last WHERE last.reference = p.reference)
    AND (v.outcome, v.amount, v.currency) = (i.class, i.amount, i.currency)
  WHERE i.id = $1 AND i.mode = $2 AND i.closed_at IS NULL AND i.class IN ('underpaid', 'overpaid')
    AND i.order_id = p.order_id AND p.status = 'held' AND p.decided_at IS NULL AND o.status = 'review'
    AND i.currency = p.currency AND (SELECT count(*) FROM same) >= 0
  ORDER BY ${LOCK_ORDER} FOR NO KEY UPDATE OF o, p`;

// Of too much, the surplus stays: it is to be given back, or kept by a decision of its own.
const TAKEN = `
  UPDATE suspense_items i SET
    amount = CASE WHEN i.amount > s.amount THEN i.amount - s.amount ELSE i.amount END,
    closed_at = CASE WHEN i.amount < s.amount THEN now() END,
    closed_by = CASE WHEN i.amount < s.amount THEN $3 END,
    decision = CASE WHEN i.amount < s.amount THEN 'accept' END,
    note = CASE WHEN i.amount < s.amount THEN $4 END
  FROM seen s WHERE i.id = s.item AND i.closed_at IS NULL AND i.class = s.class AND i.amount = s.came
  RETURNING s.*, i.amount || ' ' || i.currency AS money, i.closed_at IS NOT NULL AS is_closed`;

const ACCEPTED = `
  INSERT INTO acceptances
    (order_id, reference, mode, verification_id, outcome, amount, currency, accepted_by, note)
  SELECT order_id, reference, mode, verification, class, came, currency, $3, $4 FROM taken
  RETURNING id`;

const RELEASED = `
  INSERT INTO releases (id, order_id, reference, mode, amount, currency, outcome, verification_id,
    acceptance_id, delivery, next_check_at)
  SELECT $5, order_id, reference, mode, amount, currency, NULL, verification, accepted.id, $6,
    CASE WHEN $6 = 'waiting' THEN now() END
  FROM taken, accepted RETURNING id, order_id`;

const PAID = `
  UPDATE orders SET status = 'paid', release_id = released.id, paid_at = now(), deadline_check_at = NULL
  FROM released WHERE orders.id = released.order_id`;

const MOVED = `
  UPDATE payments p SET status = 'paid', next_check_at = NULL, leased_until = NULL
  FROM taken t WHERE p.reference = t.reference`;

const ENTRIES = `
  INSERT INTO journal (order_id, event, reference, cause, detail)
  SELECT order_id, event, reference, 'operator:' || $3, detail FROM (
    SELECT 1 AS place, order_id, 'order-paid' AS event, reference, jsonb_strip_nulls(jsonb_build_object(
      'release', $5::text, 'delivery', $6::text, 'verification', verification, 'outcome', class,
      'evidence', evidence, 'acceptance', accepted.id, 'accepted', came || ' ' || currency, 'note', $4::text,
      'suspense', CASE WHEN NOT is_closed THEN class END,
      'money', CASE WHEN NOT is_closed THEN money END)) AS detail
    FROM taken, accepted
    UNION ALL
    SELECT 2, order_id, 'suspense-resolved', reference,
      jsonb_build_object('item', item, 'class', class, 'decision', 'accept', 'note', $4::text)
    FROM taken WHERE is_closed
    UNION ALL ${journalOfFindings(3)}) entries
  ORDER BY place`;

/**
 * Pays an order with what came, on a person's word: acceptance, release, payment, order, suspense, findings
 * and journal in one statement.
 * @returns false when something of it has moved since, or does not allow it
 */
export async function recordAcceptance(
  db: Queryable,
  mode: Mode,
  { id, by, note }: { id: bigint; by: string; note: string },
  plan: ReleasePlan,
): Promise<boolean> {
  const rows = await db.query(
    `WITH same AS MATERIALIZED (${FINDINGS_OF_ITEM}), seen AS MATERIALIZED (${SEEN}),
       taken AS (${TAKEN}), accepted AS (${ACCEPTED}),
       released AS (${RELEASED}), paid AS (${PAID}), moved AS (${MOVED}),
       resolved AS (${findingsClosedWith('taken', 'i.came')}), entries AS (${ENTRIES})
     SELECT item FROM taken`,
    [id, mode, by, note, plan.id, plan.delivery],
  );
  return rows.length === 1;
}
