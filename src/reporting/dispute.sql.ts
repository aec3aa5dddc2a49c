import type { Database, Queryable } from '../platform/database/database.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import { displayMoney } from '../platform/money.ts';
import { detailOf, type OrderDetail } from './order-detail.ts';
import { orderIdOf } from './timeline.sql.ts';

/** An answer of verify or a webhook, with the bytes that came; null: pruned. */
export type Exhibit = {
  at: Date;
  reference: Reference;
  /** What made us ask, or how the webhook was signed. */
  asked: string;
  /** What was read from it. */
  says: string;
  sha256: string;
  body: Buffer | null;
};

type JournalLine = {
  seq: number;
  at: Date;
  event: string;
  reference: Reference | null;
  cause: string;
  detail: Record<string, unknown>;
  hash: string;
};

/** What a shop shows an acquirer about one order. Amounts are texts for people. */
export type Dispute = {
  order: Omit<OrderDetail, 'lines' | 'amount'> & {
    amount: string;
    email: string;
    lines: { description: string; quantity: number; unitAmount: string }[];
  };
  answers: Exhibit[];
  webhooks: Exhibit[];
  release: {
    id: string;
    delivery: string;
    attempts: number | null;
    releasedAt: Date | null;
    deliveredAt: Date | null;
    lastError: string | null;
  } | null;
  /** Rows of the shop's refunds as they are. */
  refunds: Record<string, unknown>[];
  journal: JournalLine[];
};

/**
 * @param name an order id, a reference, or the shop's external id.
 * @returns null when there is no such order
 */
export function disputeOf(database: Database, name: string): Promise<Dispute | null> {
  return database.transaction(async (tx) => {
    await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    const id = await orderIdOf(tx, name);
    const seen = id === null ? null : await detailOf(tx, id);
    if (id === null || seen === null) return null;
    const { order, orderDetail } = seen;
    const { currency } = order.total;
    const [row] = await tx.query<{ email: string }>('SELECT email FROM orders WHERE id = $1', [id]);
    if (row === undefined) return null;
    const { delivery, attempts, lastError, deliveredAt, paidAt } = orderDetail;
    return {
      order: {
        ...orderDetail,
        amount: displayMoney(order.total),
        ...row,
        lines: order.lines.map(({ description, quantity, unitAmount }) => ({
          description,
          quantity,
          unitAmount: displayMoney({ amount: unitAmount, currency }),
        })),
      },
      ...(await exhibitsOf(tx, id)),
      release:
        delivery === null
          ? null
          : { id: order.releaseId, delivery, attempts, releasedAt: paidAt, deliveredAt, lastError },
      ...(await recordsOf(tx, id)),
    };
  });
}

async function exhibitsOf(tx: Queryable, id: OrderId): Promise<Pick<Dispute, 'answers' | 'webhooks'>> {
  return {
    answers: await tx.query(
      `SELECT answered_at AS at, reference, 'asked by ' || cause AS asked, concat_ws(' ', outcome,
         'HTTP ' || http_status, 'word ' || status_word, amount || ' ' || currency || ' (minor units)') AS says,
         encode(body_sha256, 'hex') AS sha256, body
       FROM verifications WHERE order_id = $1 ORDER BY id`,
      [id],
    ),
    webhooks: await tx.query(
      `SELECT w.received_at AS at, w.reference, w.authenticity AS asked,
         w.deliveries || ' time(s), last ' || to_char(w.last_received_at AT TIME ZONE 'UTC',
           'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS says, encode(w.body_sha256, 'hex') AS sha256, w.body
       FROM webhooks w JOIN payments p ON p.reference = w.reference WHERE p.order_id = $1 ORDER BY w.id`,
      [id],
    ),
  };
}

async function recordsOf(tx: Queryable, id: OrderId): Promise<Pick<Dispute, 'refunds' | 'journal'>> {
  const refunds = await tx.query<{ row: Record<string, unknown> }>(
    `SELECT to_jsonb(r) AS row FROM refunds r WHERE order_id = $1 ORDER BY refunded_at, id`,
    [id],
  );
  const journal = await tx.query<JournalLine>(
    `SELECT seq, at, event, reference, cause, detail, encode(hash, 'hex') AS hash
     FROM journal WHERE order_id = $1 ORDER BY seq`,
    [id],
  );
  return { refunds: refunds.map(({ row }) => row), journal };
}
