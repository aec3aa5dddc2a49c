import type { Queryable } from '../platform/database/database.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import type { Money } from '../platform/money.ts';
import {
  FINDINGS_OF_ITEM,
  findingsClosedWith,
  journalOfFindings,
  IS_WANTED,
  notesOf,
  SUSPENSE,
  versionOf,
  wantedValues,
  type ItemsWanted,
  type Note,
} from './work-lists.sql.ts';
import type { Resolution } from './resolution.ts';

/**
 * Money the shop holds and has not earned: it waits here until an operator gives it back
 * or the shop earns it.
 */
export type SuspenseItem = {
  id: bigint;
  class: string;
  /** Minor units. */
  amount: bigint;
  currency: string;
  reference: Reference;
  /** Null: the money came under a reference that is not ours. */
  orderId: OrderId | null;
  openedAt: Date;
  /** Whole days since then, by the database's clock. */
  ageDays: number;
  owner: string | null;
  assignedAt: Date | null;
  /** The notes of operators. */
  notes: Note[];
  /**
   * Changes when something changes that an operator sees and decides upon: the money,
   * the owner, the notes.
   */
  version: string;
};

/** The open items, oldest first, that is, ordered by id. */
export function openSuspense(db: Queryable, mode: Mode, wanted: ItemsWanted = {}): Promise<SuspenseItem[]> {
  return db.query(
    `SELECT id, class, amount, currency, reference, order_id AS "orderId", opened_at AS "openedAt", owner,
       floor(extract(epoch FROM now() - opened_at) / 86400)::int AS "ageDays", assigned_at AS "assignedAt",
       ${notesOf(SUSPENSE)} AS notes, ${versionOf(SUSPENSE)} AS version
     FROM suspense_items i WHERE ${IS_WANTED} AND closed_at IS NULL
     ORDER BY id LIMIT $4`,
    wantedValues(mode, wanted),
  );
}

// The payment before its item, in the same order as confirmation: it may be writing an answer about this very
// money. PostgreSQL runs a SELECT in WITH only as far as it is read: `count(*) >= 0` makes it lock all rows
// first.
const LOCKED = `
  SELECT p.status FROM suspense_items s
  JOIN payments p USING (mode, reference) JOIN orders o ON o.id = p.order_id
  WHERE s.id = $1 AND s.mode = $2 AND (SELECT count(*) FROM same) >= 0 FOR NO KEY UPDATE OF o, p`;

const CLOSED = `
  UPDATE suspense_items i SET closed_at = now(), closed_by = $3, note = $4, decision = $5, refund_note = $6
  WHERE id = $1 AND mode = $2 AND closed_at IS NULL AND ($7::text IS NULL OR ${versionOf(SUSPENSE)} = $7)
    AND (SELECT count(*) FROM locked) >= 0 AND (surplus_refund IS NULL OR $5 = 'other'
      -- Accepted, it holds the surplus alone, which went back under that number.
      OR $5 = 'refund' AND ($6 = surplus_refund OR NOT EXISTS (SELECT FROM locked WHERE status = 'paid')))
  RETURNING id, order_id, reference, class, amount, currency, decision, note, refund_note`;

const EARNED = `(
    SELECT coalesce(sum(c.amount), 0) FROM confirmed_money c
    WHERE c.mode = $2 AND c.reference = i.reference)`;
const COVERED = `i.amount + ${EARNED} + decided_now($2, i.reference, i.currency, ${EARNED}::bigint,
  i.class IN ('charged_again', 'duplicate_payment') OR ${EARNED} = 0,
  i.class = 'duplicate_payment' AND ${EARNED} > 0, f.actual)`;

// The item first, then the findings about it.
const RESOLVED_ENTRIES = `
  INSERT INTO journal (order_id, event, reference, cause, detail)
  SELECT order_id, event, reference, 'operator:' || $3, detail FROM (
    SELECT 1 AS place, order_id, 'suspense-resolved' AS event, reference,
      jsonb_strip_nulls(jsonb_build_object(
        'item', id, 'class', class, 'decision', decision, 'note', note, 'refund', refund_note)) AS detail
    FROM closed WHERE order_id IS NOT NULL
    UNION ALL ${journalOfFindings(2)}) entries
  ORDER BY place`;

/**
 * Ends an item, with a decision, a name and what was done, and closes the open findings about the same. If it
 * was the last money of an order in review, that ends the order (`end_decided_order` in prisma/schema.sql).
 * @returns false when the mode has no such open item, or another version of it, or when its surplus went back
 * and the decision is about all of it (`isAllowed`)
 */
export async function resolveSuspense(
  db: Queryable,
  mode: Mode,
  id: bigint,
  { by, note, decision, refundNote }: Resolution,
  seen: string | null = null,
): Promise<boolean> {
  const rows = await db.query(
    `WITH same AS MATERIALIZED (${FINDINGS_OF_ITEM}), locked AS MATERIALIZED (${LOCKED}),
      closed AS (${CLOSED}),
       resolved AS (${findingsClosedWith('closed', COVERED)}), entry AS (${RESOLVED_ENTRIES})
     SELECT id FROM closed`,
    [id, mode, by, note, decision, refundNote, seen],
  );
  return rows.length === 1;
}

const SURPLUS_NOTED = `
  UPDATE suspense_items i SET surplus_refund = $5 FROM payments p
  WHERE i.id = $1 AND i.mode = $2 AND i.closed_at IS NULL AND i.class = 'overpaid'
    AND p.mode = i.mode AND p.reference = i.reference AND p.status = 'held' AND p.decided_at IS NULL
    AND i.surplus_refund IS NULL AND ($6::text IS NULL OR ${versionOf(SUSPENSE)} = $6)
  RETURNING i.id, i.order_id, i.reference`;

/**
 * Notes that the surplus of an overpayment was given back, under the number of that refund. The item stays
 * open: when verify shows exactly what was asked for, confirmation pays the order and closes it as earned.
 * @returns false when the mode has no such overpaid item of an order that is not paid, or another version of
 * it, or when its surplus was given back before
 */
export async function noteSurplusRefund(
  db: Queryable,
  mode: Mode,
  id: bigint,
  { by, note, refundNote }: Pick<Resolution, 'by' | 'note'> & { refundNote: string },
  seen: string | null = null,
): Promise<boolean> {
  const rows = await db.query(
    `WITH noted AS (${SURPLUS_NOTED}), said AS (
       INSERT INTO suspense_notes (item_id, written_by, note)
       SELECT id, $3, 'surplus refunded, number ' || $5 || ': ' || $4 FROM noted
     ), entry AS (
       INSERT INTO journal (order_id, event, reference, cause, detail)
       SELECT order_id, 'surplus-refunded', reference, 'operator:' || $3,
         jsonb_build_object('item', id, 'refund', $5::text, 'note', $4::text)
       FROM noted WHERE order_id IS NOT NULL
     )
     SELECT id FROM noted`,
    [id, mode, by, note, refundNote, seen],
  );
  return rows.length === 1;
}

/**
 * Some money of an order that is or was in suspense. `surplusRefund`: the number of the refund of its
 * surplus.
 */
type OrderMoney = { class: string; money: Money; surplusRefund: string | null };

/** Of one order, oldest first: what waits for a decision, and how the rest left suspense. */
type MoneyAbout = {
  /** A case is open because money of the paid order went back, and no refund of ours explains it. */
  isGoneBack: boolean;
  held: OrderMoney[];
  decisions: (OrderMoney & { decision: string; refundNote: string | null })[];
};

/** What is to be said about an order's money, beside what simply paid it. */
export async function moneyAbout(db: Queryable, orderId: OrderId): Promise<MoneyAbout> {
  const rows = await db.query<
    Omit<OrderMoney, 'money'> & Money & { decision: string | null; refundNote: string | null }
  >(
    `SELECT class, amount, currency, decision, refund_note AS "refundNote", surplus_refund AS "surplusRefund"
     FROM suspense_items WHERE order_id = $1 ORDER BY id`,
    [orderId],
  );
  const reversals = await db.query(
    `SELECT FROM findings
     WHERE order_id = $1 AND class = 'reversed' AND raised_at IS NOT NULL AND closed_at IS NULL LIMIT 1`,
    [orderId],
  );
  const items = rows.map(({ amount, currency, ...item }) => ({ ...item, money: { amount, currency } }));
  return {
    isGoneBack: reversals.length > 0,
    held: items.filter(({ decision }) => decision === null),
    decisions: items.flatMap(({ decision, ...item }) => (decision === null ? [] : [{ ...item, decision }])),
  };
}
