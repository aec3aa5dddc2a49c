import type { OrderStatus } from '../orders/order.ts';
import { checkoutStopSql } from '../payments/checkout-stops.sql.ts';
import type { PaymentStatus } from '../payments/payment.ts';
import { SENDING_IS_LOST_AFTER_SEC } from '../payments/check-schedule.ts';
import type { Queryable, Statement } from '../platform/database/database.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import type { Money } from '../platform/money.ts';
import { refusalOf, type StopRefusal } from './checkout.sql.ts';

/** Statuses in which a payment may still bring money. */
export const OPEN_STATUSES: readonly PaymentStatus[] = ['created', 'sending', 'open', 'ambiguous'];
/** More attempts within the hour than a person makes; a program that makes them is stopped here. */
export const MAX_OPEN_PAYMENTS = 5;
/** Hosted checkouts live for some hours at least; a second click within the first hour gets the same page. */
export const RESUME_WITHIN_SEC = 3_600;

/** An unpaid order and its payments, with the order row locked until the transaction ends. */
export type PayableOrder = {
  status: OrderStatus;
  email: string;
  money: Money;
  /** Whether its deadline has passed. */
  isPastDeadline: boolean;
  /** How new checkouts of its currency are stopped; null: they are not. */
  stopped: StopRefusal | null;
  payments: { reference: Reference; status: PaymentStatus; checkoutUrl: string | null; ageSec: number }[];
};

/** Locks an order for a further payment. Two clicks queue here: the second sees what the first began. */
export async function lockPayableOrder(
  tx: Queryable,
  orderId: OrderId,
  mode: Mode,
): Promise<PayableOrder | null> {
  const [order] = await tx.query<
    Pick<PayableOrder, 'status' | 'email' | 'isPastDeadline'> & Money & { stopped: string | null }
  >(
    `SELECT status, email, amount, currency, coalesce(pay_by <= now(), false) AS "isPastDeadline",
       ${checkoutStopSql('o')} AS stopped
     -- Nothing can be sent to the service for a shopper who asked to be forgotten.
     FROM orders o WHERE id = $1 AND mode = $2 AND email <> 'erased' FOR NO KEY UPDATE`,
    [orderId, mode],
  );
  if (order === undefined) return null;
  const payments = await tx.query<PayableOrder['payments'][number]>(
    // A hint may have had the service asked while the payment is still being sent: then it has no reason.
    `SELECT reference, checkout_url AS "checkoutUrl",
       CASE WHEN status = 'ambiguous' AND checkout_url IS NULL AND reason IS NULL THEN 'sending'
         ELSE status END AS status,
       extract(epoch FROM now() - created_at)::float8 AS "ageSec"
     FROM payments WHERE order_id = $1 ORDER BY created_at DESC`,
    [orderId],
  );
  const { amount, currency, stopped, ...rest } = order;
  return { ...rest, money: { amount, currency }, stopped: refusalOf(stopped), payments };
}

const ADD: Statement = {
  name: 'add-payment',
  text: `
    WITH payment AS (
      INSERT INTO payments (reference, order_id, mode, amount, currency, status, next_check_at)
      SELECT $2, id, mode, amount, currency, 'sending', now() + interval '${SENDING_IS_LOST_AFTER_SEC} s'
      FROM orders WHERE id = $1
    ), waiting AS (
      UPDATE orders SET status = 'pending' WHERE id = $1 AND status IN ('failed', 'expired')
    )
    INSERT INTO journal (order_id, event, reference, cause) VALUES ($1, 'payment-added', $2, 'shopper')`,
};

/** Begins a further payment of a locked order. */
export async function addPayment(tx: Queryable, orderId: OrderId, reference: Reference): Promise<void> {
  await tx.query(ADD, [orderId, reference]);
}

/** Chooses where the shopper of a locked order returns to, unless that is chosen already. */
export async function chooseReturnUrl(tx: Queryable, orderId: OrderId, returnUrl: string): Promise<void> {
  await tx.query('UPDATE orders SET return_url = $2 WHERE id = $1 AND return_url IS NULL', [
    orderId,
    returnUrl,
  ]);
}

/**
 * Marks a payment that was certainly never sent as being sent now, and as begun now: whether it is on its
 * way, how long its page is resumed, and when it is checked go by its age. A reason left over from before
 * would say that this call has ended, too.
 */
export async function sendUnsent(tx: Queryable, reference: Reference): Promise<void> {
  await tx.query(
    `UPDATE payments SET status = 'sending', reason = NULL, created_at = now(),
       next_check_at = now() + interval '${SENDING_IS_LOST_AFTER_SEC} s'
     WHERE reference = $1 AND status = 'created'`,
    [reference],
  );
}
