import type { Tx } from '../platform/db.ts';
import type { Mode, Order, OrderStatus } from '../platform/prisma/client.ts';

/**
 * Every state of an order, what it waits for, and its next states.
 *
 * - `pending`: waits for a payment, or for the rest of the price. Next: paid, failed, review,
 *   expired, cancelled.
 * - `paid`: marked paid. This is final: if the money changes later, a case opens, and the proof of
 *   payment stays.
 * - `failed`: its payments failed or expired. The shopper may try again (pending), and late money
 *   counts (paid, review).
 * - `review`: money is held, or a case is open. It waits for a person, or for an answer that pays
 *   it. Next: paid, or the status that follows from its payments.
 * - `expired`: its deadline has passed. Money that comes later is held. A person may reopen it.
 * - `cancelled`: a person ended it. Money that comes later is held. A person may reopen it.
 */
export type { OrderStatus };

type Facts = {
  isPaid: boolean;
  /** A person's name, or the deadline. null: the order is open. */
  endedBy: string | null;
  /** Part payments do not count, because the order waits for their rest. */
  hasHeldMoney: boolean;
  hasOpenCase: boolean;
  /** Part payments wait for the rest of the price. It can be paid as long as the order is open. */
  isRestDue: boolean;
  payments: readonly { status: string }[];
};

/** The name under which the deadline ends an order. */
export const BY_DEADLINE = 'deadline';

const DAY_MS = 86_400_000;

/**
 * The time until which an order may begin a payment at its price. null: as long as the shop leaves
 * the order open. The price of a basket comes from the catalogue and holds for the days in which a
 * payment may be paid. The shop's own system sets a deadline (`payBy`) if its price ends. A person
 * sets one by reopening an order or by asking for the rest of its price.
 */
export function priceEndsAt(
  order: Pick<Order, 'payBy' | 'createdAt' | 'contentHash'>,
  payableDays: number,
): Date | null {
  if (order.payBy !== null) return order.payBy;
  const isOfShopSystem = order.contentHash !== null;
  return isOfShopSystem ? null : new Date(order.createdAt.getTime() + payableDays * DAY_MS);
}

/** A deadline that gives an order as many days as a new order has. */
export function deadlineFrom(now: Date, payableDays: number): Date {
  return new Date(now.getTime() + payableDays * DAY_MS);
}

type Payable = Pick<Order, 'amount' | 'partPaid' | 'status' | 'paidAt' | 'endedAt'>;

/** The price less the part payments, in minor units. */
export function restOf({ amount, partPaid }: Pick<Order, 'amount' | 'partPaid'>): bigint {
  return amount > partPaid ? amount - partPaid : 0n;
}

/** The amount still to pay, in minor units. It is 0 if the order takes no payment now. */
export function dueOf(order: Payable): bigint {
  const isPayable = order.paidAt === null && order.endedAt === null && order.status !== 'review';
  return isPayable ? restOf(order) : 0n;
}

/**
 * Derives the status of an order from its proof of payment, its end, its money and its payments, in
 * this order. Pure.
 */
export function statusOf({ isPaid, endedBy, hasHeldMoney, hasOpenCase, isRestDue, payments }: Facts): OrderStatus {
  const has = (...statuses: string[]): boolean => payments.some(({ status }) => statuses.includes(status));
  if (isPaid) return 'paid';
  if (endedBy !== null) return endedBy === BY_DEADLINE ? 'expired' : 'cancelled';
  if (hasHeldMoney || hasOpenCase) return 'review';
  if (isRestDue || has('sending', 'open')) return 'pending';
  return has('failed', 'expired') ? 'failed' : 'pending';
}

/**
 * The result of a lock: the database's time after the wait for it, and ids for rows that are sorted
 * by id.
 */
export type Locked = { now: Date; verification: bigint; refund: bigint };

/**
 * Locks the order and its payments, so that nobody else decides about its money until this
 * transaction ends. Every change of money or status takes this lock first. Inserts of child rows do
 * not wait. Leases and notifications, which write to payments without this lock, do wait. The query
 * computes the time and the ids after the lock: a plain column would return the time before the
 * wait, and the newest answer of a payment must have the largest id.
 * @returns null: this mode has no such order
 */
export async function lockOrder(tx: Tx, mode: Mode, orderId: string): Promise<Locked | null> {
  const [row] = await tx.$queryRaw<Locked[]>`
    WITH locked AS MATERIALIZED (SELECT id FROM orders WHERE id = ${orderId} AND mode = ${mode}::mode FOR NO KEY UPDATE),
      theirs AS MATERIALIZED (
        SELECT 1 FROM payments WHERE order_id IN (SELECT id FROM locked) ORDER BY reference FOR NO KEY UPDATE)
    SELECT clock_timestamp() AS now, nextval('verifications_id_seq') AS verification,
      nextval('refunds_id_seq') AS refund
    FROM locked, (SELECT count(*) FROM theirs) AS waited`;
  return row ?? null;
}

/**
 * Locks several orders as lockOrder does. It skips those that others have locked, and never waits.
 * @returns the result of each lock, by the order's id
 */
export async function lockFree(tx: Tx, mode: Mode, orderIds: string[]): Promise<Map<string, Locked>> {
  const rows = await tx.$queryRaw<(Locked & { id: string })[]>`
    WITH locked AS MATERIALIZED (
        SELECT id FROM orders WHERE id = ANY(${orderIds}) AND mode = ${mode}::mode FOR NO KEY UPDATE SKIP LOCKED),
      theirs AS MATERIALIZED (
        SELECT order_id FROM payments WHERE order_id IN (SELECT id FROM locked) FOR NO KEY UPDATE SKIP LOCKED)
    SELECT id, clock_timestamp() AS now, nextval('verifications_id_seq') AS verification,
      nextval('refunds_id_seq') AS refund
    FROM locked
    WHERE (SELECT count(*) FROM theirs WHERE order_id = id) = (SELECT count(*) FROM payments WHERE order_id = id)`;
  return new Map(rows.map(({ id, ...locked }) => [id, locked]));
}
