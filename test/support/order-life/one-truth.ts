import { contradictionsOf } from '../../../src/reporting/integrity.sql.ts';
import { confirmedDays, wentBackDays } from '../../../src/reporting/money-by-day.sql.ts';
import type { OrderId } from '../../../src/platform/ids.ts';
import type { TestProgram } from '../program.ts';
import { checkInvariants } from '../invariants.ts';

/* What order, payments, cases, refunds, releases, events and takings say of one order, against each other. */

/** Each query gives a row, `what`, per second truth about the order $1. */
const SECOND_TRUTHS: readonly string[] = [
  `SELECT 'it is ' || status || ' with ' || releases || ' releases' AS what FROM (SELECT o.status,
     (SELECT count(*) FROM releases r WHERE r.order_id = o.id) AS releases FROM orders o WHERE id = $1) o
   WHERE releases <> (status = 'paid')::int`,
  `SELECT 'it is ' || status || ' and its end says otherwise' AS what FROM orders WHERE id = $1
     AND ((status = 'cancelled') <> (cancelled_at IS NOT NULL) OR (status = 'paid') <> (paid_at IS NOT NULL))`,
  `SELECT 'more was refunded than paid' AS what FROM orders o WHERE id = $1
     AND (SELECT coalesce(sum(amount), 0) FROM refunds WHERE order_id = o.id)
       > CASE WHEN status = 'paid' THEN amount ELSE 0 END`,
  `SELECT 'its release is ' || delivery || ' though all of its money went back' AS what FROM releases r
   WHERE order_id = $1 AND delivery IN ('unneeded', 'waiting', 'dead')
     AND (SELECT sum(amount) FROM refunds WHERE order_id = $1) >= money_that_came(r)`,
  `SELECT 'it is ' || o.status || ' and its last event is ' || coalesce(e.type, 'none') AS what FROM orders o
   LEFT JOIN LATERAL (SELECT type FROM events WHERE order_id = o.id AND type IN ('order.review', 'order.failed',
     'order.expired', 'order.cancelled') ORDER BY seq DESC LIMIT 1) e ON true
   WHERE o.id = $1 AND o.status IN ('review', 'failed', 'expired', 'cancelled')
     AND e.type IS DISTINCT FROM 'order.' || o.status`,
  `SELECT 'a refund without its event, or the reverse' AS what WHERE
     (SELECT array_agg(id ORDER BY id) FROM refunds WHERE order_id = $1) IS DISTINCT FROM
     (SELECT array_agg(data ->> 'refundId' ORDER BY data ->> 'refundId') FROM events
       WHERE order_id = $1 AND type = 'order.refunded')`,
  `SELECT 'suspense item ' || id || ' without its event' AS what FROM suspense_items s WHERE order_id = $1
     AND NOT EXISTS (SELECT FROM events WHERE order_id = $1 AND type = 'suspense.opened'
       AND data ->> 'suspenseId' = s.id::text)`,
  `SELECT 'it is ' || o.status || ' while money of it waits' AS what FROM orders o WHERE id = $1
     AND status IN ('pending', 'failed', 'expired') AND expired_at IS NULL
     AND EXISTS (SELECT FROM suspense_items WHERE order_id = o.id AND closed_at IS NULL)`,
  `SELECT 'finding ' || f.class || ' is open while its money was decided about' AS what FROM findings f
   WHERE f.order_id = $1 AND f.closed_at IS NULL AND f.raised_at IS NOT NULL
     AND EXISTS (SELECT FROM suspense_items s WHERE s.reference = f.reference)
     AND NOT EXISTS (SELECT FROM suspense_items s WHERE s.reference = f.reference AND s.closed_at IS NULL)
     AND f.class IN (SELECT class FROM suspense_items s WHERE s.reference = f.reference)`,
];

/** What is still to be done without anybody's hand. */
const DUE = `SELECT 'payment ' || reference || ' is still due' AS what FROM payments
  WHERE order_id = $1 AND next_check_at <= now()`;

/** @returns one sentence per second truth; empty when all agree */
export async function secondTruths(shop: TestProgram, orderId: OrderId): Promise<string[]> {
  const { database } = shop.program;
  const lines: string[] = [];
  for (const sql of [...SECOND_TRUTHS, DUE])
    lines.push(...(await database.query<{ what: string }>(sql, [orderId])).map(({ what }) => what));
  lines.push(...(await contradictionsOf(database, [orderId])).map(({ what }) => what));
  lines.push(...(await viewAgainstRows(shop, orderId)));
  return lines;
}

async function viewAgainstRows(shop: TestProgram, orderId: OrderId): Promise<string[]> {
  const view = (await (await fetch(`${shop.origin}/orders/${orderId}`)).json()) as Record<string, unknown>;
  const [row] = await shop.program.database.query<{ status: string; refunded: string }>(
    `SELECT status, (SELECT (coalesce(sum(amount), 0) / 100)::numeric(12, 2)::text FROM refunds
       WHERE order_id = o.id) AS refunded FROM orders o WHERE id = $1`,
    [orderId],
  );
  const isSame = view.status === row?.status && view.refunded === row?.refunded;
  return isSame ? [] : [`its view says ${JSON.stringify(view)}, its rows ${JSON.stringify(row)}`];
}

/** Today's takings, as the dashboard has them, in minor units. */
export async function takings({ program: { database } }: TestProgram): Promise<bigint> {
  const sum = (days: readonly { amount: bigint }[]): bigint =>
    days.reduce((all, day) => all + day.amount, 0n);
  return sum(await confirmedDays(database, 'test', 2)) - sum(await wentBackDays(database, 'test', 2));
}

/**
 * What one order adds to them: what came for it, less the larger of what refunds say and what was seen to go
 * back.
 */
export async function takingsOf({ program }: TestProgram, orderId: OrderId): Promise<bigint> {
  const [row] = await program.database.query<{ takings: bigint }>(
    `SELECT (money_that_came(r) - greatest((SELECT coalesce(sum(amount), 0) FROM refunds WHERE order_id = $1),
       (SELECT max((evidence ->> 'refunded')::bigint + (evidence ->> 'unexplained')::bigint) FROM findings
         WHERE order_id = $1 AND class = 'reversed' AND raised_at IS NOT NULL AND gone_at IS NULL
           AND closed_by IS DISTINCT FROM 'reconciliation')))::bigint AS takings
     FROM releases r WHERE order_id = $1`,
    [orderId],
  );
  return row?.takings ?? 0n;
}

/** The invariants of everything, as far as they speak of this order or of a payment of it. */
export async function brokenPromises(shop: TestProgram, orderId: OrderId): Promise<string[]> {
  const { database } = shop.program;
  const payments = await database.query<{ reference: string }>(
    'SELECT reference FROM payments WHERE order_id = $1',
    [orderId],
  );
  const names = [orderId, ...payments.map(({ reference }) => reference)];
  const lines = await checkInvariants({ database, sandboxUrl: shop.sandbox.url, passes: 1_000 });
  return lines.filter((line) => names.some((name) => line.includes(name)));
}
