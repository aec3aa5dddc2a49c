import type { Tx } from '../platform/db.ts';
import type { Mode, Order, OrderStatus } from '../platform/prisma/client.ts';

/**
 * Every state of an order, what it waits for, and where it goes.
 *
 * - `pending`: waits for a payment, or for the rest of it; paid, failed, review, expired,
 *   cancelled.
 * - `paid`: marked paid. For ever: what happens to the money later is a case, and never takes the
 *   proof back.
 * - `failed`: its payments failed or expired. The shopper may try again (pending), and late money
 *   counts (paid, review).
 * - `review`: money is held, or a case is open: waits for a person, or for an answer that pays it.
 *   Then paid, or the status that its payments give it.
 * - `expired`: its deadline has passed. Money that comes later is held. A person may reopen it.
 * - `cancelled`: a person ended it. Money that comes later is held. A person may reopen it.
 */
export type { OrderStatus };

type Facts = {
  isPaid: boolean;
  /** By a person, or by its deadline; null: it is open. */
  endedBy: string | null;
  /** Part payments do not count: the order waits for their rest. */
  hasHeldMoney: boolean;
  hasOpenCase: boolean;
  /** Part payments wait for the rest of the price, which is asked for as long as the order is open. */
  isRestDue: boolean;
  payments: readonly { status: string }[];
};

/** Who ends an order when its time is over. */
export const BY_DEADLINE = 'deadline';

const DAY_MS = 86_400_000;

/**
 * Until when an order may begin a payment at its price; null: for as long as the shop leaves it
 * open. A basket was priced from the catalogue, and its price holds for the days in which a payment
 * may be paid. The shop's own system names a deadline (`payBy`) where its prices end, and so does a
 * person who opens an order again or asks for the rest of its price.
 */
export function priceEndsAt(
  order: Pick<Order, 'payBy' | 'createdAt' | 'contentHash'>,
  payableDays: number,
): Date | null {
  if (order.payBy !== null) return order.payBy;
  const isOfShopSystem = order.contentHash !== null;
  return isOfShopSystem ? null : new Date(order.createdAt.getTime() + payableDays * DAY_MS);
}

/** The deadline that an order gets when a person gives it as many days as a new one has. */
export function deadlineFrom(now: Date, payableDays: number): Date {
  return new Date(now.getTime() + payableDays * DAY_MS);
}

type Payable = Pick<Order, 'amount' | 'partPaid' | 'status' | 'paidAt' | 'endedAt'>;

/** The price without the part payments, in minor units. */
export function restOf({ amount, partPaid }: Pick<Order, 'amount' | 'partPaid'>): bigint {
  return amount > partPaid ? amount - partPaid : 0n;
}

/** What is still to pay, in minor units: 0 if the order takes no payment now. */
export function dueOf(order: Payable): bigint {
  const isPayable = order.paidAt === null && order.endedAt === null && order.status !== 'review';
  return isPayable ? restOf(order) : 0n;
}

/**
 * The status of an order follows from its proof, its end, its money and its payments, in this
 * order. Pure.
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
 * What a lock gives: the database's time once it is held, and ids for rows that are ordered by
 * them.
 */
export type Locked = { now: Date; verification: bigint; refund: bigint };

/**
 * Locks the order and its payments, so that nobody else decides about its money until this
 * transaction ends. Every change of money or status takes it first. Inserts of children do not
 * wait; leases and notifications, which write to payments without it, do.
 * @returns null: there is no such order of this mode. As a plain column, the time would be that
 * before the wait. Ids of answers are taken behind the lock, because the newest answer of a payment
 * is the one with the largest id
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
 * Locks, as lockOrder does, those of several orders that nobody else has locked, and waits for
 * none.
 * @returns what each lock gives, by the order's id
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
