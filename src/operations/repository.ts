import type { Database, Queryable } from '../platform/database.ts';
import type { Mode } from '../platform/mode.ts';

/** @throws when the database does not answer */
export async function isDatabaseAnswering(db: Queryable): Promise<void> {
  await db.query({ name: 'ping', text: 'SELECT 1 AS ok' });
}

/** Rows per state, for metrics and the overview. */
export type Counts = {
  kind: 'orders' | 'payments' | 'releases' | 'findings' | 'suspense';
  state: string;
  count: bigint;
}[];

export function countStates(db: Queryable, mode: Mode): Promise<Counts> {
  return db.query(
    `SELECT 'orders' AS kind, status AS state, count(*) AS count FROM orders WHERE mode = $1 GROUP BY status
     UNION ALL SELECT 'payments', status, count(*) FROM payments WHERE mode = $1 GROUP BY status
     UNION ALL SELECT 'releases', delivery, count(*) FROM releases WHERE mode = $1 GROUP BY delivery
     UNION ALL SELECT 'findings', class, count(*) FROM findings WHERE mode = $1 AND closed_at IS NULL GROUP BY class
     UNION ALL SELECT 'suspense', class, count(*) FROM suspense_items WHERE mode = $1 AND closed_at IS NULL GROUP BY class
     ORDER BY 1, 2`,
    [mode],
  );
}

export function latestOrders(database: Database, mode: Mode, limit: number) {
  return database.prisma.order.findMany({
    where: { mode },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: limit,
    select: { id: true, status: true, amount: true, currency: true, createdAt: true },
  });
}

export function latestRun(database: Database, mode: Mode) {
  return database.prisma.reconciliationRun.findFirst({
    where: { mode, finishedAt: { not: null } },
    orderBy: { startedAt: 'desc' },
    select: { id: true, verdict: true, finishedAt: true },
  });
}

/** The order that an order id or a payment reference names. */
export async function orderIdOf(db: Queryable, idOrReference: string): Promise<string | null> {
  const [row] = await db.query<{ id: string }>(
    `SELECT id FROM orders WHERE id = $1 UNION ALL SELECT order_id FROM payments WHERE reference = $1 LIMIT 1`,
    [idOrReference],
  );
  return row?.id ?? null;
}

/** One thing that happened to an order, from whichever table remembers it. */
export type StoryEvent = {
  at: Date;
  source: 'journal' | 'verification' | 'webhook';
  what: string;
  reference: string | null;
  detail: string;
};

export function storyOf(db: Queryable, orderId: string): Promise<StoryEvent[]> {
  return db.query(
    `SELECT at, 'journal' AS source, event AS what, reference, concat_ws(' ', 'by ' || cause, nullif(detail::text, '{}')) AS detail
       FROM journal WHERE order_id = $1
     UNION ALL
     SELECT answered_at, 'verification', outcome, reference,
       concat_ws(' ', '#' || id, 'asked by ' || cause, 'HTTP ' || http_status, 'word ' || status_word, amount || ' ' || currency,
         'sha256 ' || left(encode(body_sha256, 'hex'), 16))
       FROM verifications WHERE order_id = $1
     UNION ALL
     SELECT w.received_at, 'webhook', w.outcome, w.reference, w.authenticity || ', ' || w.deliveries || ' time(s)'
       FROM webhooks w JOIN payments p ON p.reference = w.reference WHERE p.order_id = $1
     ORDER BY 1, 2`,
    [orderId],
  );
}

/** Journal entries whose number, predecessor or hash does not fit: rows that somebody changed by SQL. */
export async function brokenEntries(db: Queryable, orderId: string): Promise<number[]> {
  const rows = await db.query<{ seq: number }>(
    `SELECT seq FROM (
       SELECT j.seq, j.hash, j.previous_hash, journal_hash(j) AS expected,
         lag(j.hash, 1, sha256(convert_to(j.order_id, 'UTF8'))) OVER chain AS before, row_number() OVER chain AS position
       FROM journal j WHERE j.order_id = $1 WINDOW chain AS (ORDER BY j.seq)
     ) entries
     WHERE hash <> expected OR previous_hash <> before OR seq <> position ORDER BY seq`,
    [orderId],
  );
  return rows.map(({ seq }) => seq);
}

/** Where an order ended: its status, who found its money, what was released and what stands in suspense. */
export type OrderEnd = { status: string; foundBy: string | null; releases: number; suspense: string[] };

export async function endOf(db: Queryable, orderId: string): Promise<OrderEnd | null> {
  const [row] = await db.query<OrderEnd>(
    `SELECT o.status,
       (SELECT j.cause FROM journal j WHERE j.order_id = o.id AND j.event IN ('order-paid', 'payment-held')
        ORDER BY j.seq LIMIT 1) AS "foundBy",
       (SELECT count(*)::int FROM releases r WHERE r.order_id = o.id) AS releases,
       ARRAY(SELECT s.class FROM suspense_items s WHERE s.order_id = o.id ORDER BY s.id) AS suspense
     FROM orders o WHERE o.id = $1`,
    [orderId],
  );
  return row ?? null;
}

/** How often anybody has looked at a payment. */
export async function checksOf(db: Queryable, reference: string): Promise<number> {
  const [row] = await db.query<{ checks: number }>('SELECT checks FROM payments WHERE reference = $1', [
    reference,
  ]);
  return row?.checks ?? 0;
}
