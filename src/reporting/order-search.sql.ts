import type { OrderStatus } from '../orders/order.ts';
import type { Queryable } from '../platform/database/database.ts';
import type { OrderId } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';

/**
 * Views of the orders beside their statuses: those with an open case, with money given back, without money.
 */
export const ORDER_VIEWS = ['todo', 'refunded', 'unpaid'] as const;
export type OrderView = OrderStatus | (typeof ORDER_VIEWS)[number];

/**
 * What searched words turned out to be: names of these orders, a whole e-mail address, or a part of
 * something.
 */
export type OrderMatch = { ids: OrderId[] } | { email: string } | { part: string };

/** Shorter beginnings of an order id or a reference are words like others. */
const BEGINNING = /^[A-Za-z0-9]{8,23}$/;
const MAX_NAMED = 50;
/** The newest of what people did, and of decided money, that a search reads. */
const MAX_DEEDS = 10_000;

// No index compares letter by letter: the range finds the place, and `starts_with` what really begins so.
const begins = (table: string, column: string, order: string): string =>
  `(SELECT ${order} FROM ${table} WHERE ${column} >= $3 AND ${column} <= $3 || repeat('z', 24)
    AND starts_with(${column}, $3) AND mode = $2 LIMIT ${MAX_NAMED})`;
const NAMED = `
  SELECT DISTINCT id FROM (
    SELECT id FROM orders WHERE id = $1
    UNION ALL SELECT order_id FROM payments WHERE reference = $1
    UNION ALL SELECT id FROM orders WHERE mode = $2 AND external_id = $1
    UNION ALL SELECT order_id FROM refunds WHERE (external_id = $1 OR id = $1) AND mode = $2
    UNION ALL SELECT order_id FROM (SELECT * FROM suspense_items ORDER BY id DESC LIMIT ${MAX_DEEDS}) s
      WHERE $1 IN (refund_note, surplus_refund) AND mode = $2 AND order_id IS NOT NULL
    UNION ALL ${begins('orders', 'id', 'id')}
    UNION ALL ${begins('payments', 'reference', 'order_id')}
  ) named LIMIT ${MAX_NAMED}`;

/**
 * Asks the indexes first: an order id or a reference, whole or its first eight letters, the shop's own
 * number, the number of a refund, a whole address. What none of them knows is a part of something.
 */
export async function matchOf(db: Queryable, mode: Mode, words: string): Promise<OrderMatch> {
  const named = await db.query<{ id: OrderId }>(NAMED, [words, mode, BEGINNING.test(words) ? words : null]);
  if (named.length > 0) return { ids: named.map(({ id }) => id) };
  const isAddress = await db.query('SELECT FROM orders WHERE lower(email) = lower($1) LIMIT 1', [words]);
  return isAddress.length > 0 ? { email: words } : { part: words };
}

/**
 * Condition: the order has this text in its address, its own number, its goods, or the name of a person who
 * acted on it.
 */
export function hasPartSql(order: string, part: string): string {
  const has = (text: string): string => `position(lower(${part}) in lower(${text})) > 0`;
  return `(${has(`${order}.email`)} OR coalesce(${has(`${order}.external_id`)}, false)
    OR ${order}.id IN (SELECT order_id FROM (SELECT order_id, cause FROM journal WHERE cause LIKE 'operator:%'
      ORDER BY at DESC, order_id DESC, seq DESC LIMIT ${MAX_DEEDS}) deeds WHERE ${has('substr(cause, 10)')})
    OR (SELECT true FROM order_lines WHERE order_id = ${order}.id AND ${has('description')} LIMIT 1))`;
}

/** Condition: the order is in the view. @param mode of the open cases, as a parameter */
export function inViewSql(order: string, view: string, mode: string): string {
  return `CASE ${view}
    WHEN 'todo' THEN ${order}.status = 'review' OR ${order}.id IN (
      SELECT order_id FROM suspense_items WHERE mode = ${mode} AND closed_at IS NULL AND order_id IS NOT NULL
      UNION ALL SELECT order_id FROM findings
      WHERE mode = ${mode} AND closed_at IS NULL AND raised_at IS NOT NULL AND order_id IS NOT NULL)
    WHEN 'refunded' THEN CASE ${order}.status
      WHEN 'paid' THEN (SELECT true FROM refunds WHERE order_id = ${order}.id LIMIT 1)
      ELSE ${order}.cancel_reason = 'its money was decided about: refund' END
    WHEN 'unpaid' THEN ${order}.status IN ('pending', 'failed', 'expired', 'cancelled')
    ELSE ${order}.status = ${view} END`;
}
