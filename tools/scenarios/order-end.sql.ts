import type { Queryable } from '../../src/platform/database/database.ts';

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
