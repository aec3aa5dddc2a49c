import { createHash } from 'node:crypto';
import type { Database, Queryable } from '../platform/database/database.ts';
import type { OrderId } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import type { Metadata, Order, OrderStatus } from './order.ts';
import { lineColumns, ORDER_WITH_LINES, orderOf, type NewOrder, type OrderRow } from './orders.sql.ts';

/** Payments are watched for as long. */
export const MAX_PAY_BY_DAYS = 8;

/** What only a shop that prices elsewhere gives with an order. */
type ShopOrder = NewOrder & { metadata: Metadata; payBy: Date | null };

// The id of the release of an order that the shop has numbered; null for another. It follows from that
// number: should a restored backup have lost the order and the shop place it again, its receiver knows the
// id already. The salt is of this installation: two that share a receiver may use the same numbers.
const PLANNED_RELEASE = `(
  SELECT 'rel_' || left(text_hash(release_salt || E'\\n' || $3 || E'\\n' || $2), 24) FROM installation)`;

// None where the number is taken, or the deadline is over or too far away.
const PLACED = `
  INSERT INTO orders (id, external_id, mode, email, amount, currency, return_url, shopper_details,
    planned_release_id, metadata, pay_by, deadline_check_at, content_hash)
  SELECT $1, $2, $3, $4, $5::bigint, $6, $11, $12::jsonb,
    ${PLANNED_RELEASE}, $13::jsonb, pay_by, pay_by, $15::bytea
  FROM (SELECT $14::timestamptz AS pay_by) deadline
  WHERE pay_by IS NULL OR pay_by > now() AND pay_by <= now() + interval '${MAX_PAY_BY_DAYS} days'
  ON CONFLICT (mode, external_id) DO NOTHING RETURNING *`;

const GIVEN_LINES = `
  SELECT * FROM unnest($7::text[], $8::text[], $9::bigint[], $10::int[])
    WITH ORDINALITY AS l (sku, description, unit_amount, quantity, position)`;

const ENTRY = `
  INSERT INTO journal (order_id, event, cause, detail)
  SELECT id, 'order-placed', 'shop', jsonb_build_object('order',
    order_hash(id, external_id, mode, amount, currency, (SELECT jsonb_agg(to_jsonb(l)) FROM given l)),
    'email', text_hash(email_salt || email)) FROM placed`;

/**
 * Writes an order that the shop priced itself.
 * @returns false when its `externalId` is taken, or when its deadline is over or too far away
 */
export async function insertOrder(db: Queryable, order: ShopOrder): Promise<boolean> {
  const rows = await db.query(
    `WITH placed AS (${PLACED}), given AS (${GIVEN_LINES}), lines AS (
       INSERT INTO order_lines (order_id, position, sku, description, unit_amount, quantity)
       SELECT placed.id, l.position, l.sku, l.description, l.unit_amount, l.quantity FROM placed, given l
     ), entry AS (${ENTRY})
     SELECT id FROM placed`,
    [
      order.id,
      order.externalId,
      order.mode,
      order.email,
      order.amount,
      order.currency,
      ...lineColumns(order.lines),
      order.returnUrl,
      order.details,
      order.metadata,
      order.payBy,
      contentHash(order),
    ],
  );
  return rows.length === 1;
}

/**
 * Of all that a shop says of an order but what is personal: that is compared with the row, where it can be
 * erased, and no digest of it is left.
 */
function contentHash({ currency, lines, metadata, returnUrl, payBy }: ShopOrder): Buffer {
  const things = lines.map(({ description, unitAmount, quantity }) => [
    description,
    String(unitAmount),
    quantity,
  ]);
  const content = [currency, things, Object.entries(metadata).sort(), returnUrl, payBy];
  return createHash('sha256').update(JSON.stringify(content)).digest();
}

/**
 * The order that has this order's `externalId`, and whether it was placed with the same content. What was
 * erased since counts as the same.
 */
export async function findPlaced(
  db: Queryable,
  order: ShopOrder,
): Promise<{ id: OrderId; isSame: boolean } | null> {
  const [row] = await db.query<{ id: OrderId; isSame: boolean }>(
    `SELECT id, coalesce(content_hash = $3, false)
       AND (email = 'erased' OR email = $4 AND shopper_details = $5) AS "isSame"
     FROM orders WHERE mode = $1 AND external_id = $2`,
    [order.mode, order.externalId, contentHash(order), order.email, order.details],
  );
  return row ?? null;
}

export type OrderQuestion = {
  externalId: string | null;
  status: OrderStatus | null;
  since: Date | null;
  /** The order after which the page begins. */
  after: OrderId | null;
  limit: number;
};

/**
 * The most orders that one page looks through: the status has no index, because maintaining it would cost at
 * every confirmed payment. A page may end before it is full; the next one goes on from there.
 */
const MAX_LOOKED_THROUGH = 20_000;
const NEWEST_FIRST = 'ORDER BY created_at DESC, id DESC';
const WINDOW = `
  SELECT id, created_at, mode, status FROM orders
  WHERE ($1::text IS NULL OR mode = $4 AND external_id = $1) AND ($2::timestamptz IS NULL OR created_at >= $2)
    AND ($3::text IS NULL OR (created_at, id) < ((SELECT created_at FROM orders WHERE id = $3), $3))
    AND $4::text IS NOT NULL
  ${NEWEST_FIRST}`;

/** A page of orders, newest first. Orders that come meanwhile move none from its page. */
export async function listOrders(
  db: Queryable,
  mode: Mode,
  { externalId, status, since, after, limit }: OrderQuestion,
): Promise<{ orders: Order[]; next: OrderId | null }> {
  const window = [externalId, since, after, mode];
  const rows = await db.query<OrderRow>(
    `${ORDER_WITH_LINES} JOIN (
       SELECT id FROM (${WINDOW} LIMIT ${MAX_LOOKED_THROUGH}) looked_through
       WHERE mode = $4 AND ($5::text IS NULL OR status = $5) ${NEWEST_FIRST} LIMIT $6
     ) page USING (id) ORDER BY o.created_at DESC, o.id DESC`,
    [...window, status, limit + 1],
  );
  const orders = rows.slice(0, limit).map(orderOf);
  if (rows.length > limit) return { orders, next: orders.at(-1)?.id ?? null };
  const [last] = await db.query<{ id: OrderId }>(
    `${WINDOW} OFFSET ${MAX_LOOKED_THROUGH - 1} LIMIT 1`,
    window,
  );
  return { orders, next: last?.id ?? null };
}

/** Whether there is such an order in the mode. */
export async function isOrder(database: Database, mode: Mode, id: OrderId): Promise<boolean> {
  const { order } = await database.prisma();
  return (await order.count({ where: { id, mode } })) === 1;
}
