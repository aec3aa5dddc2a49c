import type { OrderStatus } from '../../orders/order.ts';
import type { Cause } from '../../payments/payment.ts';
import type { Queryable } from '../../platform/database/database.ts';
import type { OrderId, Reference } from '../../platform/ids.ts';
import type { Mode } from '../../platform/mode.ts';

export type WebhookRow = {
  id: bigint;
  receivedAt: Date;
  lastReceivedAt: Date;
  deliveries: number;
  authenticity: 'signed' | 'unsigned';
  outcome: 'hinted' | 'ignored';
  reference: Reference | null;
  /** The mode of its latest delivery. */
  mode: Mode;
  /** What it is about; null: no payment of ours, or of another mode. */
  orderId: OrderId | null;
  orderStatus: OrderStatus | null;
  /** When the service last answered about its payment. */
  checkedAt: Date | null;
  /** When its payment paid the order. */
  paidAt: Date | null;
};

export const PAGE_ROWS = 50;

const COLUMNS = `w.id, w.received_at AS "receivedAt", w.last_received_at AS "lastReceivedAt", w.deliveries,
  w.authenticity, w.outcome, w.reference, w.mode, o.id AS "orderId", o.status AS "orderStatus",
  p.last_answer_at AS "checkedAt", e.released_at AS "paidAt"`;
const JOINS = `LEFT JOIN payments p ON p.reference = w.reference AND p.mode = w.mode
  LEFT JOIN orders o ON o.id = p.order_id
  LEFT JOIN releases e ON (e.mode, e.reference) = (p.mode, p.reference)`;

/** `references`: only webhooks about these; null: all. `before`: the webhook after which the page begins. */
type Wanted = { references: readonly Reference[] | null; before: string | null };

/** Webhooks in order of arrival, newest first: their ids ascend in that order. */
export function latestWebhooks(db: Queryable, { references, before }: Wanted): Promise<WebhookRow[]> {
  const values: unknown[] = [];
  const given = (condition: string, value: unknown): string => {
    if (value === null) return '';
    values.push(value);
    return `AND ${condition.replace('?', `$${values.length}`)}`;
  };
  return db.query(
    `SELECT ${COLUMNS}
     FROM (SELECT * FROM webhooks WHERE true ${given('reference = ANY(?)', references)}
       ${given('id < ?', before)} ORDER BY id DESC LIMIT ${PAGE_ROWS + 1}) w ${JOINS}
     ORDER BY w.id DESC`,
    values,
  );
}

export type StoredWebhook = WebhookRow & { contentType: string; body: Buffer };

export async function webhookById(db: Queryable, id: string): Promise<StoredWebhook | null> {
  const [webhook] = await db.query<StoredWebhook>(
    `SELECT ${COLUMNS}, w.content_type AS "contentType", w.body FROM webhooks w ${JOINS} WHERE w.id = $1`,
    [id],
  );
  return webhook ?? null;
}

/** A payment of ours, and what made us find that it was paid. */
export type FoundPayment = {
  reference: Reference;
  orderId: OrderId;
  /** Null: it has not paid its order. */
  paidAt: Date | null;
  cause: Cause | null;
};

const FOUND = `SELECT p.reference, p.order_id AS "orderId", e.released_at AS "paidAt", v.cause
  FROM payments p LEFT JOIN releases e ON (e.mode, e.reference) = (p.mode, p.reference)
    LEFT JOIN verifications v ON v.id = e.verification_id`;

/** Those that a reference or an order id names. */
export function paymentsNamed(db: Queryable, mode: Mode, name: string): Promise<FoundPayment[]> {
  return db.query(
    `${FOUND} WHERE p.mode = $1 AND (p.reference = $2 OR p.order_id = $2) ORDER BY p.created_at`,
    [mode, name],
  );
}

/** Which of these references are payments of ours. */
export function paymentsAmong(
  db: Queryable,
  mode: Mode,
  references: readonly Reference[],
): Promise<FoundPayment[]> {
  return db.query(`${FOUND} WHERE p.mode = $1 AND p.reference = ANY($2)`, [mode, references]);
}
