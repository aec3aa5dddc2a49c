import type { NewOrder } from '../orders/orders.sql.ts';
import type { Database, Queryable, Statement } from '../platform/database/database.ts';
import { asRows, batched } from '../platform/batcher.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import { EVERY_CURRENCY, checkoutStopSql } from '../payments/checkout-stops.sql.ts';
import { IMPLIED_KEY_PREFIX, type IdempotencyKey } from './idempotency-key.ts';
import { KEY_LOCK_SEC } from './idempotency.sql.ts';
import { SENDING_IS_LOST_AFTER_SEC } from '../payments/check-schedule.ts';

/** Twice as long as the first answer may take: a shopper who clicks again has not waited for longer. */
const FORM_REPEATS_SEC = 30;
/** Statuses of orders that the same shopper, asking for the same things again, is led back to. */
const WAITS_FOR_MONEY = "('pending', 'failed', 'expired', 'review')";

// One row per order, as `rowOf` builds it.
const GIVEN = `
  SELECT g.*, ${checkoutStopSql('g')} AS stopped
  FROM json_to_recordset($1) AS g (id text, mode text, email text, amount bigint, currency text,
    lines json, return_url text, details jsonb, reference text, key text, fingerprint bytea)
  WHERE g.mode = $2`;

// A key that was used before is found taken; two requests with one key queue at its index. But a form that
// was posted long ago, or whose order no longer waits for money, is a new wish.
const CLAIMED = `
  INSERT INTO idempotency_keys AS known (mode, key, fingerprint, order_id, locked_until)
  SELECT mode, key, fingerprint, id, now() + interval '${KEY_LOCK_SEC} s' FROM given
  WHERE key IS NOT NULL AND stopped IS NULL ORDER BY key
  ON CONFLICT (mode, key) DO UPDATE SET order_id = EXCLUDED.order_id, reference = NULL,
    locked_until = EXCLUDED.locked_until, created_at = now()
    WHERE starts_with(known.key, '${IMPLIED_KEY_PREFIX}')
      AND (known.created_at < now() - interval '${FORM_REPEATS_SEC} s'
      OR NOT EXISTS (SELECT FROM orders o WHERE o.id = known.order_id AND o.status IN ${WAITS_FOR_MONEY}
        AND (o.pay_by > now()) IS NOT FALSE))
  RETURNING order_id`;

const PLACED = `
  INSERT INTO orders (id, mode, email, amount, currency, return_url, shopper_details)
  SELECT id, mode, email, amount, currency, return_url, details FROM given
  WHERE stopped IS NULL AND (key IS NULL OR id IN (SELECT order_id FROM claimed))
  RETURNING id, email_salt`;

const LINES = `
  INSERT INTO order_lines (order_id, position, sku, description, unit_amount, quantity)
  SELECT placed.id, l.position, l.sku, l.description, l.unit_amount, l.quantity
  FROM placed JOIN given ON given.id = placed.id, json_to_recordset(given.lines)
    AS l (position int, sku text, description text, unit_amount bigint, quantity int)`;

// About to be sent. Should this process die now, the poller asks about the reference.
const PAYMENT = `
  INSERT INTO payments (reference, order_id, mode, amount, currency, status, next_check_at)
  SELECT given.reference, placed.id, mode, amount, currency, 'sending',
    now() + interval '${SENDING_IS_LOST_AFTER_SEC} s'
  FROM placed JOIN given ON given.id = placed.id`;

const ENTRY = `
  INSERT INTO journal (order_id, event, reference, cause, detail)
  SELECT placed.id, 'order-placed', given.reference, 'shopper', jsonb_build_object(
    'order', order_hash(placed.id, NULL, mode, amount, currency, given.lines::jsonb),
    'email', text_hash(placed.email_salt || email))
  FROM placed JOIN given ON given.id = placed.id`;

// One statement, so one round trip and one commit, before the service is called: whatever happens to the
// call or to this process, the order and its payment exist. With a key that is taken, or in a currency that
// is stopped, nothing is written. Shoppers who buy at the same time share the statement (see batched).
const PLACE: Statement = {
  name: 'place-order',
  text: `WITH given AS MATERIALIZED (${GIVEN}), claimed AS (${CLAIMED}), placed AS (${PLACED}),
    lines AS (${LINES}), payment AS (${PAYMENT}), entry AS (${ENTRY})
    SELECT given.id, stopped, placed.id IS NOT NULL AS "isPlaced"
    FROM given LEFT JOIN placed ON placed.id = given.id`,
};

export type Placed = 'placed' | 'key-is-taken' | StopRefusal;
/** Why no new checkout may begin: in this currency, or in any. */
export type StopRefusal = 'currency-stopped' | 'checkouts-stopped';

/** What `checkoutStopSql` found, as a refusal; null: nothing is stopped. */
export function refusalOf(stopped: string | null): StopRefusal | null {
  if (stopped === null) return null;
  return stopped === EVERY_CURRENCY ? 'checkouts-stopped' : 'currency-stopped';
}

type ToPlace = { order: NewOrder; reference: Reference; key: IdempotencyKey | null };

/**
 * Writes a new order and its first payment, about to be sent.
 * @returns 'placed', or why not: the idempotency key has been used before, or new checkouts are stopped
 */
export const placeOrder = batched<ToPlace, Placed>({
  keyOf: ({ order, key }) => key?.key ?? order.id,
  run: async (db, items) => {
    const rows = await db.query<{ id: OrderId; stopped: string | null; isPlaced: boolean }>(PLACE, [
      asRows(items.map(rowOf)),
      items[0]?.order.mode,
    ]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    return items.map(({ order }) => {
      const row = byId.get(order.id);
      if (row?.isPlaced) return 'placed';
      return refusalOf(row?.stopped ?? null) ?? 'key-is-taken';
    });
  },
});

function rowOf({ order, reference, key }: ToPlace): Record<string, unknown> {
  const { id, mode, email, amount, currency, details } = order;
  const lines = order.lines.map(({ sku, description, unitAmount, quantity }, at) => ({
    position: at + 1,
    sku,
    description,
    unit_amount: unitAmount.toString(),
    quantity,
  }));
  const [name, fingerprint] = [key?.key, key?.fingerprint];
  const contents = { amount, currency, lines, details };
  return { id, mode, email, ...contents, return_url: order.returnUrl, reference, key: name, fingerprint };
}

/** Gives an order that was just placed a deadline, as the catalogue reserved its things. */
export async function limitPayment(tx: Queryable, orderId: OrderId, withinSec: number): Promise<void> {
  await tx.query(
    `UPDATE orders SET (pay_by, deadline_check_at) =
       (SELECT at, at FROM (SELECT now() + make_interval(secs => $2) AS at) deadline) WHERE id = $1`,
    [orderId, withinSec],
  );
}

// The same lines, in the order of the form, at the same prices, for the same e-mail address. A line without a
// sku is known by its description.
const SAME: Statement = {
  name: 'same-open-order',
  text: `
    SELECT 1 FROM orders o WHERE o.id = $1 AND o.mode = $2 AND o.status IN ${WAITS_FOR_MONEY}
      AND (o.pay_by > now()) IS NOT FALSE
      AND o.email = $3 AND o.currency = $4
      AND (SELECT array_agg(concat_ws(' ', coalesce(l.sku, l.description), l.unit_amount, l.quantity)
          ORDER BY l.position)
        FROM order_lines l WHERE l.order_id = o.id) = $5::text[]`,
};

/** Whether an order is unpaid and for the very same things. No order may be paid beside one under review. */
export async function isSameOpenOrder(
  db: Queryable,
  orderId: OrderId,
  { mode, email, currency, lines }: Pick<NewOrder, 'mode' | 'email' | 'currency' | 'lines'>,
): Promise<boolean> {
  const things = lines.map(
    ({ sku, description, unitAmount, quantity }) => `${sku ?? description} ${unitAmount} ${quantity}`,
  );
  return (await db.query(SAME, [orderId, mode, email, currency, things])).length === 1;
}

export type CheckoutStore = Pick<Database, 'query' | 'transaction'>;
