import type { InitializeResult } from '../gateway/initialize.ts';
import type { OrderStatus } from '../orders/order.ts';
import { lineColumns, type NewOrder } from '../orders/repository.ts';
import type { Database, Queryable, Statement } from '../platform/database.ts';
import type { Mode } from '../platform/mode.ts';
import type { Money } from '../platform/money.ts';
import type { PaymentStatus } from '../settlement/payment.ts';
import { FIRST_CHECK_AFTER_OPENING_SEC, SENDING_IS_LOST_AFTER_SEC } from '../settlement/schedule.ts';

// One statement, so one round trip and one commit, before the service is called: whatever happens to the call or to
// this process, the order and its payment exist, and the clock will ask about the reference.
const PLACE: Statement = {
  name: 'place-order',
  text: `
    WITH placed AS (
      INSERT INTO orders (id, mode, email, amount, currency) VALUES ($1, $2, $3, $4, $5)
      RETURNING id, mode, amount, currency
    ), lines AS (
      INSERT INTO order_lines (order_id, position, sku, description, unit_amount, quantity)
      SELECT $1, l.position, l.sku, l.description, l.unit_amount, l.quantity
      FROM unnest($6::text[], $7::text[], $8::bigint[], $9::int[])
        WITH ORDINALITY AS l (sku, description, unit_amount, quantity, position)
    ), payment AS (
      INSERT INTO payments (reference, order_id, mode, amount, currency, status, next_check_at)
      SELECT $10, id, mode, amount, currency, 'sending', now() + interval '${SENDING_IS_LOST_AFTER_SEC} s' FROM placed
    )
    INSERT INTO journal (order_id, event, reference, cause) VALUES ($1, 'order-placed', $10, 'shopper')`,
};

/** Writes a new order and its first payment, about to be sent. */
export async function placeOrder(db: Queryable, order: NewOrder, reference: string): Promise<void> {
  const { id, mode, email, amount, currency, lines } = order;
  await db.query(PLACE, [id, mode, email, amount, currency, ...lineColumns(lines), reference]);
}

// The payment may have moved meanwhile: a webhook can be faster than the answer to initialize.
const RECORD: Statement = {
  name: 'record-initialize',
  text: `
    WITH recorded AS (
      UPDATE payments SET
        status = CASE WHEN status IN ('sending', 'ambiguous') THEN $2 ELSE status END,
        checkout_url = $3, reason = $4,
        next_check_at = CASE WHEN hints > hints_answered THEN now() ELSE now() + make_interval(secs => $5) END
      WHERE reference = $1 RETURNING order_id, reference
    )
    INSERT INTO journal (order_id, event, reference, cause, detail)
    SELECT order_id, 'payment-' || $2, reference, 'shopper', jsonb_strip_nulls(jsonb_build_object('reason', $4::text))
    FROM recorded`,
};

/** An order that was never sent is offered again by the next click, for this long. */
const UNSENT_LIVES_SEC = 3_600;

/** Writes down how initialize ended, whichever way. */
export async function recordInitialize(
  db: Queryable,
  reference: string,
  result: InitializeResult,
): Promise<void> {
  const [status, nextSec] = consequence(result);
  const url = result.outcome === 'opened' ? result.checkoutUrl : null;
  const reason = result.outcome === 'opened' ? null : result.reason;
  await db.query(RECORD, [reference, status, url, reason, nextSec]);
}

function consequence({ outcome }: InitializeResult): [PaymentStatus, number | null] {
  switch (outcome) {
    case 'opened':
      return ['open', FIRST_CHECK_AFTER_OPENING_SEC];
    case 'not-sent':
      return ['created', UNSENT_LIVES_SEC];
    case 'ambiguous':
      return ['ambiguous', 0];
    case 'refused':
      return ['refused', null];
  }
}

/** An unpaid order and its payments, with the order row locked until the transaction ends. */
export type PayableOrder = {
  status: OrderStatus;
  email: string;
  money: Money;
  payments: { reference: string; status: PaymentStatus; checkoutUrl: string | null; ageSec: number }[];
};

/** Locks an order for a further payment. Two clicks queue here, so that the second sees what the first began. */
export async function lockPayableOrder(
  tx: Queryable,
  orderId: string,
  mode: Mode,
): Promise<PayableOrder | null> {
  const [order] = await tx.query<{ status: OrderStatus; email: string; amount: bigint; currency: string }>(
    'SELECT status, email, amount, currency FROM orders WHERE id = $1 AND mode = $2 FOR UPDATE',
    [orderId, mode],
  );
  if (order === undefined) return null;
  const payments = await tx.query<PayableOrder['payments'][number]>(
    `SELECT reference, status, checkout_url AS "checkoutUrl", extract(epoch FROM now() - created_at)::float8 AS "ageSec"
     FROM payments WHERE order_id = $1 ORDER BY created_at DESC`,
    [orderId],
  );
  const { amount, currency, ...rest } = order;
  return { ...rest, money: { amount, currency }, payments };
}

/** Begins a further payment of a locked order. */
export async function addPayment(tx: Queryable, orderId: string, reference: string): Promise<void> {
  await tx.query(
    `WITH payment AS (
       INSERT INTO payments (reference, order_id, mode, amount, currency, status, next_check_at)
       SELECT $2, id, mode, amount, currency, 'sending', now() + interval '${SENDING_IS_LOST_AFTER_SEC} s'
       FROM orders WHERE id = $1
     ), waiting AS (
       UPDATE orders SET status = 'pending' WHERE id = $1 AND status IN ('failed', 'expired')
     )
     INSERT INTO journal (order_id, event, reference, cause) VALUES ($1, 'payment-added', $2, 'shopper')`,
    [orderId, reference],
  );
}

/** Takes a payment that was certainly never sent to be sent now. */
export async function sendUnsent(tx: Queryable, reference: string): Promise<void> {
  await tx.query(
    `UPDATE payments SET status = 'sending', next_check_at = now() + interval '${SENDING_IS_LOST_AFTER_SEC} s'
     WHERE reference = $1 AND status = 'created'`,
    [reference],
  );
}

export type CheckoutStore = Pick<Database, 'query' | 'transaction'>;
