import type { Database, Queryable } from '../platform/database/database.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import { maskEmail } from './activity.ts';
import type { Mode } from '../platform/mode.ts';
import type { Money } from '../platform/money.ts';

/** Money as a text in minor units, so that it can be written as JSON. */
export type MinorText = { amount: string; currency: string };

/** Something of an order that waits for a person: money in suspense, a finding, or both about one payment. */
export type OpenCase = {
  class: string;
  reference: Reference;
  /** What the service says came in. */
  actual: MinorText | null;
  held: MinorText | null;
  /** The number of a refund of the surplus, for which the service is waited. */
  surplusRefund: string | null;
};

/** What the first sentence about an order needs beside the order itself. */
export type Circumstances = {
  placedAt: Date;
  /** The masked e-mail address; null once it was erased. */
  customer: string | null;
  paidAt: Date | null;
  /** When it expired permanently. */
  expiredAt: Date | null;
  cancelledAt: Date | null;
  cancelledBy: string | null;
  cancelReason: string | null;
  /** How much of what was asked for has come, in minor units; null: nothing was released. */
  cameAmount: string | null;
  /** Minor units that the service took back and no refund explains; null: there is no such finding. */
  unexplained: string | null;
  /** Null: nothing was released. */
  delivery: 'unneeded' | 'waiting' | 'delivered' | 'dead' | 'withheld' | null;
  attempts: number | null;
  lastError: string | null;
  deliveredAt: Date | null;
  nextDeliveryAt: Date | null;
  /** Who accepted what came though something else was asked for, and how much came, in minor units. */
  acceptedBy: string | null;
  acceptedAmount: string | null;
  cases: OpenCase[];
};

/** @returns null when there is no such order */
export async function circumstancesOf(db: Queryable, orderId: OrderId): Promise<Circumstances | null> {
  const [row] = await db.query<Omit<Circumstances, 'customer' | 'cases'> & { email: string }>(
    `SELECT o.created_at AS "placedAt", o.email, o.paid_at AS "paidAt", o.expired_at AS "expiredAt",
       o.cancelled_at AS "cancelledAt", o.cancelled_by AS "cancelledBy", o.cancel_reason AS "cancelReason",
       money_that_came(r)::text AS "cameAmount", r.delivery, r.attempts, r.last_error AS "lastError",
         r.delivered_at AS "deliveredAt",
       (SELECT greatest(0, (f.evidence ->> 'refunded')::bigint + (f.evidence ->> 'unexplained')::bigint
          - (SELECT coalesce(sum(amount), 0) FROM refunds WHERE order_id = o.id))::bigint::text
        FROM findings f WHERE f.order_id = o.id AND f.class = 'reversed' AND f.closed_at IS NULL
          AND f.raised_at IS NOT NULL ORDER BY f.id DESC LIMIT 1) AS unexplained,
       r.next_check_at AS "nextDeliveryAt", a.accepted_by AS "acceptedBy", a.amount::text AS "acceptedAmount"
     FROM orders o LEFT JOIN releases r ON r.order_id = o.id LEFT JOIN acceptances a ON a.id = r.acceptance_id
     WHERE o.id = $1`,
    [orderId],
  );
  if (row === undefined) return null;
  const { email, ...circumstances } = row;
  const cases = await db.query<OpenCase>(OPEN_CASES, [orderId]);
  return { ...circumstances, customer: email === 'erased' ? null : maskEmail(email), cases };
}

const MONEY_IN_SUSPENSE = `
  SELECT s.opened_at AS since, s.class, s.reference,
    jsonb_build_object('amount', coalesce(v.amount, s.amount)::text,
      'currency', coalesce(v.currency, s.currency)) AS actual,
    jsonb_build_object('amount', s.amount::text, 'currency', s.currency) AS held,
    s.surplus_refund AS "surplusRefund"
  FROM suspense_items s LEFT JOIN verifications v ON v.id = s.verification_id
  WHERE s.order_id = $1 AND s.closed_at IS NULL`;

// A finding about money in suspense is the same case.
const OTHER_FINDINGS = `
  SELECT f.first_seen_at, f.class, f.reference, CASE WHEN f.actual IS NOT NULL AND f.currency IS NOT NULL
    THEN jsonb_build_object('amount', f.actual::text, 'currency', f.currency) END, NULL, NULL
  FROM findings f WHERE f.order_id = $1 AND f.closed_at IS NULL AND f.raised_at IS NOT NULL
    AND NOT EXISTS (SELECT FROM suspense_items s
      WHERE s.mode = f.mode AND s.reference = f.reference AND s.closed_at IS NULL)`;

const OPEN_CASES = `
  SELECT class, reference, actual, held, "surplusRefund"
  FROM (${MONEY_IN_SUSPENSE} UNION ALL ${OTHER_FINDINGS}) cases ORDER BY since, reference, class`;

/** The whole address; null once it was erased. */
export async function emailOf(database: Database, orderId: OrderId): Promise<string | null> {
  const { order } = await database.prisma();
  const row = await order.findUnique({ where: { id: orderId }, select: { email: true } });
  return row === null || row.email === 'erased' ? null : row.email;
}

/** An order among several that a name fits. */
export type NamedOrder = {
  id: OrderId;
  status: string;
  /** Minor units. */
  amount: bigint;
  currency: string;
  placedAt: Date;
};

/** The newest are enough to choose from; one more says that there are others. */
export const MAX_NAMED = 20;
const PREFIX = /^[A-Za-z0-9]{8,23}$/;

/**
 * The orders of an e-mail address, capitals or not, or those whose id, or the reference of whose payment,
 * begins with these letters; newest first. Reads every order for a beginning: for a person's question, not
 * for a page.
 */
export async function ordersNamed(db: Queryable, name: string): Promise<NamedOrder[]> {
  const condition = name.includes('@')
    ? 'lower(email) = lower($1)'
    : `starts_with(id, $1) OR id IN (SELECT order_id FROM payments WHERE starts_with(reference, $1))`;
  if (!name.includes('@') && !PREFIX.test(name)) return [];
  return db.query(
    `SELECT id, status, amount, currency, created_at AS "placedAt" FROM orders WHERE ${condition}
     ORDER BY created_at DESC, id DESC LIMIT ${MAX_NAMED + 1}`,
    [name],
  );
}

/** The masked customers of these orders. */
export async function customersOf(
  database: Database,
  orderIds: readonly OrderId[],
): Promise<Map<OrderId, string>> {
  const { order } = await database.prisma();
  const orders = await order.findMany({
    where: { id: { in: [...new Set(orderIds)] } },
    select: { id: true, email: true },
  });
  return new Map(orders.map(({ id, email }) => [id as OrderId, maskEmail(email)]));
}

/** What the lists of cases show of a payment of ours: its customer is masked. */
type CasePayment = { expected: Money; customer: string };

/** The payments of ours under these references. */
export async function casePayments(
  db: Queryable,
  mode: Mode,
  references: readonly Reference[],
): Promise<Map<string, CasePayment>> {
  const rows = await db.query<Money & { reference: Reference; email: string }>(
    `SELECT p.reference, p.amount, p.currency, o.email FROM payments p JOIN orders o ON o.id = p.order_id
     WHERE p.mode = $1 AND p.reference = ANY($2)`,
    [mode, references],
  );
  return new Map(
    rows.map(({ reference, email, ...expected }) => [reference, { expected, customer: maskEmail(email) }]),
  );
}
