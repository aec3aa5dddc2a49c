import type { OrderStatus } from '../orders/order.ts';
import { lineColumns, type NewOrder } from '../orders/repository.ts';
import type { Database, Queryable, Statement } from '../platform/database.ts';
import type { Mode } from '../platform/mode.ts';
import type { Money } from '../platform/money.ts';
import type { PaymentStatus } from '../settlement/payment.ts';
import type { IdempotencyKey } from './idempotency/key.ts';
import { KEY_LOCK_SEC } from './idempotency/repository.ts';
import { isStoppedSql } from '../settlement/stops/repository.ts';
import { SENDING_IS_LOST_AFTER_SEC } from '../settlement/schedule.ts';

// One statement, so one round trip and one commit, before the service is called: whatever happens to the call or to
// this process, the order and its payment exist, and the clock will ask about the reference. With an idempotency key
// that somebody has used before, and in a currency that is stopped, nothing is written; two requests with one key queue at its index, and one is second.
const PLACE: Statement = {
  name: 'place-order',
  text: `
    WITH stop AS (
      SELECT ${isStoppedSql('$2', '$5')} AS is_on
    ), claimed AS (
      INSERT INTO idempotency_keys (mode, key, fingerprint, order_id, locked_until)
      SELECT $2, $11, $12, $1, now() + interval '${KEY_LOCK_SEC} s' FROM stop WHERE $11::text IS NOT NULL AND NOT is_on
      ON CONFLICT (mode, key) DO NOTHING
      RETURNING key
    ), placed AS (
      INSERT INTO orders (id, mode, email, amount, currency)
      SELECT $1, $2, $3, $4::bigint, $5 FROM stop
      WHERE NOT is_on AND ($11::text IS NULL OR EXISTS (SELECT FROM claimed))
      RETURNING id, mode, amount, currency
    ), lines AS (
      INSERT INTO order_lines (order_id, position, sku, description, unit_amount, quantity)
      SELECT placed.id, l.position, l.sku, l.description, l.unit_amount, l.quantity
      FROM placed, unnest($6::text[], $7::text[], $8::bigint[], $9::int[])
        WITH ORDINALITY AS l (sku, description, unit_amount, quantity, position)
    ), payment AS (
      INSERT INTO payments (reference, order_id, mode, amount, currency, status, next_check_at)
      SELECT $10, id, mode, amount, currency, 'sending', now() + interval '${SENDING_IS_LOST_AFTER_SEC} s' FROM placed
    ), entry AS (
      INSERT INTO journal (order_id, event, reference, cause) SELECT id, 'order-placed', $10, 'shopper' FROM placed
    )
    SELECT is_on AS "isStopped", EXISTS (SELECT FROM placed) AS "isPlaced" FROM stop`,
};

/**
 * Writes a new order and its first payment, about to be sent.
 * @returns why not, when it did not: the idempotency key has been used before, or the currency is stopped
 */
export async function placeOrder(
  db: Queryable,
  order: NewOrder,
  reference: string,
  key: IdempotencyKey | null,
): Promise<'placed' | 'key-is-taken' | 'currency-stopped'> {
  const { id, mode, email, amount, currency, lines } = order;
  const values = [id, mode, email, amount, currency, ...lineColumns(lines), reference];
  const [row] = await db.query<{ isStopped: boolean; isPlaced: boolean }>(PLACE, [
    ...values,
    key?.key ?? null,
    key?.fingerprint ?? null,
  ]);
  if (row?.isPlaced) return 'placed';
  return row?.isStopped ? 'currency-stopped' : 'key-is-taken';
}

/** An unpaid order and its payments, with the order row locked until the transaction ends. */
export type PayableOrder = {
  status: OrderStatus;
  email: string;
  money: Money;
  /** Whether new checkouts of its currency are stopped. */
  isStopped: boolean;
  payments: { reference: string; status: PaymentStatus; checkoutUrl: string | null; ageSec: number }[];
};

/** Locks an order for a further payment. Two clicks queue here, so that the second sees what the first began. */
export async function lockPayableOrder(
  tx: Queryable,
  orderId: string,
  mode: Mode,
): Promise<PayableOrder | null> {
  const [order] = await tx.query<Omit<PayableOrder, 'money' | 'payments'> & Money>(
    `SELECT status, email, amount, currency, ${isStoppedSql('orders.mode', 'orders.currency')} AS "isStopped"
     -- Nothing can be sent to the service for somebody who asked to be forgotten.
     FROM orders WHERE id = $1 AND mode = $2 AND email <> 'erased' FOR NO KEY UPDATE`,
    [orderId, mode],
  );
  if (order === undefined) return null;
  const payments = await tx.query<PayableOrder['payments'][number]>(
    `SELECT reference, status, checkout_url AS "checkoutUrl", extract(epoch FROM now() - CASE WHEN status = 'sending'
         -- One that could not be sent at once may be sent much later.
         THEN greatest(created_at, next_check_at - interval '${SENDING_IS_LOST_AFTER_SEC} s') ELSE created_at END)::float8 AS "ageSec"
     FROM payments WHERE order_id = $1 ORDER BY created_at DESC`,
    [orderId],
  );
  const { amount, currency, ...rest } = order;
  return { ...rest, money: { amount, currency }, payments };
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
export async function addPayment(tx: Queryable, orderId: string, reference: string): Promise<void> {
  await tx.query(ADD, [orderId, reference]);
}

/** Takes a payment that was certainly never sent to be sent now. */
export async function sendUnsent(tx: Queryable, reference: string): Promise<void> {
  await tx.query(
    `UPDATE payments SET status = 'sending', next_check_at = now() + interval '${SENDING_IS_LOST_AFTER_SEC} s'
     WHERE reference = $1 AND status = 'created'`,
    [reference],
  );
}

/** The checkout that a payment was opened with: the answer to a repeated request. */
export async function findCheckout(
  db: Queryable,
  reference: string,
): Promise<{ orderId: string; money: Money; checkoutUrl: string } | null> {
  const [row] = await db.query<{
    orderId: string;
    amount: bigint;
    currency: string;
    checkoutUrl: string | null;
  }>(
    'SELECT order_id AS "orderId", amount, currency, checkout_url AS "checkoutUrl" FROM payments WHERE reference = $1',
    [reference],
  );
  if (row === undefined || row.checkoutUrl === null) return null;
  const { orderId, amount, currency, checkoutUrl } = row;
  return { orderId, money: { amount, currency }, checkoutUrl };
}

// The same lines, in the order of the form, at the same prices, for the same person. An order that somebody else placed
// has lines without a sku, and is never the same.
const SAME: Statement = {
  name: 'same-open-order',
  text: `
    SELECT 1 FROM orders o WHERE o.id = $1 AND o.mode = $2 AND o.status = 'pending' AND o.email = $3 AND o.currency = $4
      AND (SELECT array_agg(concat_ws(' ', l.sku, l.unit_amount, l.quantity) ORDER BY l.position)
        FROM order_lines l WHERE l.order_id = o.id) = $5::text[]`,
};

/** Whether an order waits for its payment and is for the very same things. */
export async function isSameOpenOrder(
  db: Queryable,
  orderId: string,
  { mode, email, currency, lines }: Omit<NewOrder, 'id' | 'externalId' | 'amount'>,
): Promise<boolean> {
  const things = lines.map(({ sku, unitAmount, quantity }) => `${sku ?? ''} ${unitAmount} ${quantity}`);
  return (await db.query(SAME, [orderId, mode, email, currency, things])).length === 1;
}

export type CheckoutStore = Pick<Database, 'query' | 'transaction'>;
