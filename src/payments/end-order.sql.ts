import { SHOP, type Cancelling } from '../orders/cancel.ts';
import type { OrderStatus } from '../orders/order.ts';
import type { Queryable, Statement } from '../platform/database/database.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';

/** An order that is to end, and its payments that may have brought money since the service was last asked. */
type Ending = {
  status: OrderStatus;
  isEndedByDeadline: boolean;
  /** The database's time at which this was read: what is asked from now on is fresh. */
  seenAt: string;
  unsure: Reference[];
};

// A shopper whose card was declined may have paid with another one on the same page since.
const MAY_HAVE_PAID = `('sending', 'open', 'ambiguous', 'held', 'failed', 'expired')`;

export async function readEnding(db: Queryable, orderId: OrderId, mode: Mode): Promise<Ending | null> {
  const [row] = await db.query<Ending>(
    // As text: a Date would lose the microseconds.
    `SELECT status, expired_at IS NOT NULL AS "isEndedByDeadline", clock_timestamp()::text AS "seenAt",
       ARRAY(SELECT reference FROM payments p
         WHERE p.order_id = o.id AND p.status IN ${MAY_HAVE_PAID} ORDER BY reference) AS unsure
     FROM orders o WHERE id = $1 AND mode = $2`,
    [orderId, mode],
  );
  return row ?? null;
}

/** How an order ends: a hand cancels it, or its deadline has passed. */
export type End = Cancelling | 'deadline';

const MAY_EXPIRE = `('pending', 'failed', 'expired')`;

const EXPIRE = `
  WITH expired AS (
    UPDATE orders SET status = 'expired', expired_at = now(), deadline_check_at = NULL
    WHERE id = $1 AND status IN ${MAY_EXPIRE} AND expired_at IS NULL AND pay_by <= now()
    RETURNING id
  )
  INSERT INTO journal (order_id, event, cause, detail)
  SELECT id, 'order-expired', 'schedule', jsonb_build_object('was', $2::text) FROM expired
  RETURNING order_id`;

const CANCEL = `
  WITH cancelled AS (
    UPDATE orders SET status = 'cancelled', cancelled_at = now(), cancelled_by = $2, cancel_reason = $3,
      deadline_check_at = NULL
    WHERE id = $1 AND status NOT IN ('paid', 'cancelled') RETURNING id
  )
  INSERT INTO journal (order_id, event, cause, detail)
  SELECT id, 'order-cancelled', $4, jsonb_build_object('was', $5::text, 'reason', $3::text) FROM cancelled
  RETURNING order_id`;

/**
 * Ends an order of which the service has answered about every payment since `seenAt`. Its payments stay
 * watched.
 * @returns false when a payment has been added, or the order has moved: read it again
 */
export async function endOrder(
  tx: Queryable,
  orderId: OrderId,
  { seenAt, status }: Ending,
  end: End,
): Promise<boolean> {
  const [order] = await tx.query<{ status: OrderStatus }>(
    'SELECT status FROM orders WHERE id = $1 FOR NO KEY UPDATE',
    [orderId],
  );
  // A new statement, and so a new look: a payment may have been added while this one waited for the lock.
  const unasked = await tx.query(
    `SELECT FROM payments WHERE order_id = $1 AND status IN ${MAY_HAVE_PAID}
       AND coalesce(last_answer_at, '-infinity') < $2::timestamptz LIMIT 1`,
    [orderId, seenAt],
  );
  if (order === undefined || unasked.length > 0) return false;
  const rows =
    end === 'deadline'
      ? await tx.query(EXPIRE, [orderId, status])
      : await tx.query(CANCEL, [orderId, end.by ?? SHOP, end.reason, causeOf(end), order.status]);
  return rows.length === 1;
}

function causeOf({ by }: Cancelling): string {
  return by === null ? SHOP : `operator:${by}`;
}

/** The next look at an order that could not be ended, and how long one look may take. */
const LOOK_AGAIN_SEC = 60;

const LEASE: Statement = {
  name: 'lease-orders-past-deadline',
  text: `
    WITH due AS MATERIALIZED (
      SELECT id FROM orders
      WHERE deadline_check_at <= now() AND mode = $1 AND status IN ${MAY_EXPIRE}
      ORDER BY deadline_check_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE orders o SET deadline_check_at = now() + interval '${LOOK_AGAIN_SEC} s'
    FROM due WHERE o.id = due.id RETURNING o.id AS "orderId"`,
};

/** Leases up to `limit` orders whose deadline has passed. One under review waits for a person first. */
export function leasePastDeadline(db: Queryable, mode: Mode, limit: number): Promise<{ orderId: OrderId }[]> {
  return db.query(LEASE, [mode, limit]);
}
