import type { OrderLine } from '../orders/order.ts';
import type { Queryable, Statement } from '../platform/database.ts';
import type { Release } from './release.ts';

// Longer than a delivery can take, or two would deliver at once.
const LEASE_SEC = 30;

const CLAIM: Statement = {
  name: 'claim-due-releases',
  text: `
    WITH due AS MATERIALIZED (
      SELECT id FROM releases
      WHERE next_check_at <= now() AND (leased_until IS NULL OR leased_until < now()) AND mode = $1
      ORDER BY next_check_at LIMIT $2 FOR UPDATE SKIP LOCKED
    ), claimed AS (
      UPDATE releases r SET leased_until = now() + interval '${LEASE_SEC} s', attempts = attempts + 1
      FROM due WHERE r.id = due.id
      RETURNING r.*
    )
    SELECT c.id, c.order_id AS "orderId", o.external_id AS "externalId", c.reference, c.amount, c.currency, c.mode,
      o.paid_at AS "paidAt", c.attempts, extract(epoch FROM now() - c.released_at)::float8 AS "ageSec",
      (SELECT json_agg(json_build_object('sku', l.sku, 'description', l.description,
         'unitAmount', l.unit_amount::text, 'quantity', l.quantity) ORDER BY l.position)
       FROM order_lines l WHERE l.order_id = c.order_id) AS lines
    FROM claimed c JOIN orders o ON o.id = c.order_id`,
};

export type DueRelease = Release & { attempts: number; ageSec: number };

type Row = Omit<DueRelease, 'total' | 'lines'> & {
  amount: bigint;
  currency: string;
  lines: (Omit<OrderLine, 'unitAmount'> & { unitAmount: string })[];
};

/** Leases up to `limit` releases whose delivery is due. */
export async function claimDueReleases(db: Queryable, mode: string, limit: number): Promise<DueRelease[]> {
  const rows = await db.query<Row>(CLAIM, [mode, limit]);
  return rows.map(({ amount, currency, lines, ...row }) => ({
    ...row,
    total: { amount, currency },
    lines: lines.map((line) => ({ ...line, unitAmount: BigInt(line.unitAmount) })),
  }));
}

const DELIVERED: Statement = {
  name: 'release-delivered',
  text: `
    WITH done AS (
      UPDATE releases SET delivery = 'delivered', delivered_at = now(), next_check_at = NULL, leased_until = NULL,
        last_error = NULL WHERE id = $1 AND delivery <> 'delivered' RETURNING order_id, reference, id, attempts
    )
    INSERT INTO journal (order_id, event, reference, cause, detail)
    SELECT order_id, 'release-delivered', reference, 'schedule', jsonb_build_object('release', id, 'attempts', attempts) FROM done`,
};

export async function markDelivered(db: Queryable, id: string): Promise<void> {
  await db.query(DELIVERED, [id]);
}

/** Notes a failed delivery. `pauseSec` null: nobody tries any more, a person has to. */
export async function markUndelivered(
  db: Queryable,
  id: string,
  error: string,
  pauseSec: number | null,
): Promise<void> {
  await db.query(
    `WITH failed AS (
       UPDATE releases SET leased_until = NULL, last_error = $2, next_check_at = now() + make_interval(secs => $3),
         delivery = CASE WHEN $3::float8 IS NULL THEN 'dead' ELSE delivery END
       WHERE id = $1 AND delivery <> 'delivered' RETURNING order_id, reference, id, attempts, delivery
     )
     INSERT INTO journal (order_id, event, reference, cause, detail)
     SELECT order_id, 'release-dead', reference, 'schedule', jsonb_build_object('release', id, 'attempts', attempts)
     FROM failed WHERE delivery = 'dead'`,
    [id, error.slice(0, 200), pauseSec],
  );
}
