import { SHOP } from './cancel.ts';
import type { Database, Queryable } from '../platform/database/database.ts';
import { newId, type OrderId } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';

/** Money given back for a paid order, as the shop wrote it down. Nothing here moves money. */
type Refund = {
  /** `re_` and 24 letters and digits. */
  id: string;
  orderId: OrderId;
  /** Minor units. */
  amount: bigint;
  currency: string;
  reason: string;
  /** The shop's or the service's number of the refund. */
  externalId: string | null;
  /** A person's name, or `shop` for a call of the shop's own system. */
  refundedBy: string;
  refundedAt: Date;
};

type NewRefund = Pick<Refund, 'orderId' | 'amount' | 'reason' | 'externalId'> & { by: string };

/**
 * What became of it. `repeated`: its number was written down before, with the same amount, and the reason of
 * that time stays; `differs`: with another amount. `too-much`: only `left` minor units of what was paid have
 * not gone back.
 */
export type RefundOutcome =
  | { outcome: 'recorded' | 'repeated'; refund: Refund; refunded: bigint }
  | { outcome: 'differs'; refund: Refund }
  | { outcome: 'too-much'; left: bigint; currency: string }
  | { outcome: 'not-paid' | 'unknown' };

const COLUMNS = `id, order_id AS "orderId", amount, currency, reason, external_id AS "externalId",
  refunded_by AS "refundedBy", refunded_at AS "refundedAt"`;

/** Digest of a row of refunds `r`, as its journal entry keeps it. */
export const REFUND_DIGEST = `text_hash(concat_ws(E'\\x1f', r.id, r.order_id, r.mode, r.amount::text,
  r.currency, r.reason, coalesce(r.external_id, ''), r.refunded_by,
  extract(epoch FROM r.refunded_at)::text))`;

/**
 * Writes a refund down, with its journal entry. All refunds of one order queue at its row: of ten at once
 * each sees those before it, and their sum is never above what was paid (the database refuses that to any
 * program).
 */
export function recordRefund(database: Database, mode: Mode, given: NewRefund): Promise<RefundOutcome> {
  const { orderId, amount, reason, externalId, by } = given;
  return database.transaction(async (tx) => {
    const [order] = await tx.query<{ status: string }>(
      `SELECT status FROM orders WHERE id = $1 AND mode = $2 FOR NO KEY UPDATE`,
      [orderId, mode],
    );
    if (order === undefined) return { outcome: 'unknown' };
    const [paid] = await tx.query<{ amount: bigint; currency: string }>(
      'SELECT money_that_came(r) AS amount, currency FROM releases r WHERE order_id = $1',
      [orderId],
    );
    if (order.status !== 'paid' || paid === undefined) return { outcome: 'not-paid' };
    const before = await refundsOf(tx, orderId);
    const refunded = before.reduce((sum, refund) => sum + refund.amount, 0n);
    const same = before.find((refund) => externalId !== null && refund.externalId === externalId);
    if (same !== undefined) {
      return { outcome: same.amount === amount ? 'repeated' : 'differs', refund: same, refunded };
    }
    const left = paid.amount - refunded;
    if (amount > left) return { outcome: 'too-much', left, currency: paid.currency };
    const [refund] = await tx.query<Refund>(
      `WITH r AS (
         INSERT INTO refunds (id, order_id, mode, amount, currency, reason, external_id, refunded_by)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING *
       ), entry AS (
         INSERT INTO journal (order_id, event, reference, cause, detail)
         SELECT r.order_id, 'refund-recorded', (SELECT reference FROM releases WHERE order_id = r.order_id),
           $9, jsonb_strip_nulls(jsonb_build_object('refund', r.id, 'amount', r.amount::text,
             'currency', r.currency, 'number', r.external_id, 'digest', ${REFUND_DIGEST})) FROM r
       )
       SELECT ${COLUMNS} FROM r`,
      [
        `re_${newId()}`,
        orderId,
        mode,
        amount,
        paid.currency,
        reason,
        externalId,
        by,
        by === SHOP ? SHOP : `operator:${by}`,
      ],
    );
    if (refund === undefined) throw new Error('Bug: a refund was written and is not there');
    return { outcome: 'recorded', refund, refunded: refunded + amount };
  });
}

/** The refunds of an order, oldest first. */
function refundsOf(db: Queryable, orderId: OrderId): Promise<Refund[]> {
  return db.query(`SELECT ${COLUMNS} FROM refunds WHERE order_id = $1 ORDER BY refunded_at, id`, [orderId]);
}

/** The newest refunds of a mode. @param limit how many at most */
export async function latestRefunds(database: Database, mode: Mode, limit: number): Promise<Refund[]> {
  const { refund } = await database.prisma();
  const refunds = await refund.findMany({
    where: { mode },
    orderBy: [{ refundedAt: 'desc' }, { id: 'desc' }],
    take: limit,
    omit: { mode: true },
  });
  return refunds as Refund[];
}
