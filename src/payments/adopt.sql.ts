import type { OrderStatus } from '../orders/order.ts';
import type { Queryable } from '../platform/database/database.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import { LEASE_SEC } from './hint.sql.ts';

/** What decides whether a lost reference may become a payment of an order. */
export type Adoptable = {
  orderId: OrderId;
  mode: Mode;
  /** Minor units. */
  amount: bigint;
  currency: string;
  status: OrderStatus;
  /** The order that has a payment of this reference already. */
  takenBy: OrderId | null;
  /** What a person has decided about money of this reference. */
  decision: string | null;
};

export async function readAdoptable(
  db: Queryable,
  orderId: OrderId,
  reference: Reference,
): Promise<Adoptable> {
  const [row] = await db.query<Adoptable>(
    `SELECT o.id AS "orderId", o.mode, o.amount, o.currency, o.status,
       (SELECT p.order_id FROM payments p WHERE p.reference = $2) AS "takenBy",
       (SELECT d.decision FROM decided_money d WHERE d.mode = o.mode AND d.reference = $2 LIMIT 1) AS decision
     FROM orders o WHERE o.id = $1`,
    [orderId, reference],
  );
  if (row === undefined) throw new Error(`Bug: order ${orderId} is gone`);
  return row;
}

/**
 * Locks the order, and the money of the reference that is in suspense: a person may be deciding about it, and
 * must find the payment, or be found by it. Confirmation locks in the same order.
 */
export async function lockForAdoption(
  tx: Queryable,
  { orderId, mode }: Adoptable,
  reference: Reference,
): Promise<void> {
  await tx.query('SELECT FROM orders WHERE id = $1 FOR NO KEY UPDATE', [orderId]);
  await tx.query(
    'SELECT FROM suspense_items WHERE mode = $1 AND reference = $2 AND closed_at IS NULL FOR UPDATE',
    [mode, reference],
  );
}

const ADOPTED = `
  INSERT INTO payments (reference, order_id, mode, amount, currency, status, reason,
    next_check_at, leased_until)
  SELECT $2, id, mode, amount, currency, 'ambiguous', 'adopted', now(), now() + interval '${LEASE_SEC} s'
  FROM orders WHERE id = $1
  ON CONFLICT (reference) DO NOTHING RETURNING order_id, reference, mode`;

const HELD = `
  UPDATE suspense_items i SET order_id = adopted.order_id FROM adopted
  WHERE i.mode = adopted.mode AND i.reference = adopted.reference
    AND i.closed_at IS NULL AND i.order_id IS NULL
  RETURNING i.class, i.amount || ' ' || i.currency AS money`;

/**
 * Writes the lost payment as if its initialize call had ended in doubt, leased to the caller. If the caller
 * dies, it is due for the poller. Its money in suspense is the order's from now on, whatever becomes of it.
 * @returns false when there is a payment of that reference
 */
export async function insertAdopted(
  tx: Queryable,
  orderId: OrderId,
  reference: Reference,
  by: string,
  note: string,
): Promise<boolean> {
  const rows = await tx.query(
    `WITH adopted AS (${ADOPTED}), held AS (${HELD})
     INSERT INTO journal (order_id, event, reference, cause, detail)
     SELECT order_id, 'payment-ambiguous', reference, 'operator:' || $3, jsonb_strip_nulls(jsonb_build_object(
       'reason', 'adopted', 'note', $4::text, 'suspense', held.class, 'money', held.money))
     FROM adopted LEFT JOIN held ON true RETURNING reference`,
    [orderId, reference, by, note],
  );
  if (rows.length === 0) return false;
  await tx.query('SELECT follow_payments($1)', [orderId]);
  return true;
}
