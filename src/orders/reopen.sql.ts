import type { Database } from '../platform/database/database.ts';
import type { OrderId } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';

const OPEN_MONEY = `SELECT FROM suspense_items s WHERE s.order_id = o.id AND s.closed_at IS NULL`;
const HELD_PAYMENT = `SELECT FROM payments p
  WHERE p.order_id = o.id AND p.status = 'held' AND p.decided_at IS NULL`;

/**
 * Takes back the end of an order: a new payment of it may begin, until its deadline where it has one.
 * Payments about whose money a person has decided pay nothing all the same; money of it that is in suspense
 * puts it under review.
 * @returns false when the mode has no such cancelled order, when its deadline has passed, or when the shop
 * has kept money of it
 */
export function reopenOrder(
  database: Database,
  mode: Mode,
  orderId: OrderId,
  { by, note }: { by: string; note: string },
): Promise<boolean> {
  return database.transaction(async (tx) => {
    // A statement of its own: the next one sees money that came while this one waited for the lock.
    await tx.query('SELECT FROM orders WHERE id = $1 AND mode = $2 FOR NO KEY UPDATE', [orderId, mode]);
    const rows = await tx.query(
      `WITH reopened AS (
         UPDATE orders o SET cancelled_at = NULL, cancelled_by = NULL, cancel_reason = NULL,
           deadline_check_at = pay_by, status = CASE WHEN EXISTS (${OPEN_MONEY}) OR EXISTS (${HELD_PAYMENT})
             THEN 'review' ELSE 'pending' END
         WHERE id = $1 AND mode = $2 AND status = 'cancelled'
           AND expired_at IS NULL AND (pay_by IS NULL OR pay_by > now())
           AND NOT EXISTS (SELECT FROM suspense_items s
             WHERE s.order_id = o.id AND s.decision IN ('keep', 'write_off', 'accept'))
         RETURNING o.id
       )
       INSERT INTO journal (order_id, event, cause, detail)
       SELECT id, 'order-reopened', 'operator:' || $3, jsonb_build_object('note', $4::text) FROM reopened
       RETURNING order_id`,
      [orderId, mode, by, note],
    );
    return rows.length === 1;
  });
}
