import type { OrderLine } from '../orders/order.ts';
import type { Database, Queryable } from '../platform/database/database.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import { DELIVERY, leaseOf, RELEASES, type Due } from './delivery.sql.ts';
import type { Release } from './release.ts';

const LEASE = leaseOf(
  RELEASES,
  `c.amount, c.currency, o.paid_at AS "paidAt", o.shopper_details AS details,
      (SELECT coalesce(json_agg(json_build_object('sku', l.sku, 'description', l.description,
         'unitAmount', l.unit_amount::text, 'quantity', l.quantity) ORDER BY l.position), '[]')
       FROM order_lines l WHERE l.order_id = c.order_id) AS lines`,
);

export type DueRelease = Omit<Release, 'message'> & Due;

type Row = Omit<DueRelease, 'total' | 'lines'> & {
  amount: bigint;
  currency: string;
  lines: (Omit<OrderLine, 'unitAmount'> & { unitAmount: string })[];
};

/**
 * Leases up to `limit` releases whose delivery is due, at most `repeats` of them tried before.
 * @param areEventsSent whether a release waits for what happened to its order before
 */
export async function leaseDueReleases(
  db: Queryable,
  mode: Mode,
  limit: number,
  repeats: number,
  areEventsSent = false,
): Promise<DueRelease[]> {
  const rows = await db.query<Row>(LEASE, [mode, limit, Math.max(repeats, 0), areEventsSent]);
  return rows.map(({ amount, currency, lines, ...row }) => ({
    ...row,
    total: { amount, currency },
    lines: lines.map((line) => ({ ...line, unitAmount: BigInt(line.unitAmount) })),
  }));
}

/** A release that its receiver does not have yet, as an operator sees it. */
export type Undelivered = {
  id: string;
  orderId: OrderId;
  reference: Reference;
  /** Minor units. */
  amount: bigint;
  currency: string;
  delivery: 'waiting' | 'dead' | 'withheld';
  attempts: number;
  lastError: string | null;
  releasedAt: Date;
  nextDeliveryAt: Date | null;
};

const UNDELIVERED = { ...DELIVERY, amount: true, currency: true, releasedAt: true } as const;

/** Releases that wait for their receiver or were given up, oldest first. */
export async function undeliveredReleases(database: Database, mode: Mode): Promise<Undelivered[]> {
  const { release } = await database.prisma();
  const releases = await release.findMany({
    where: { mode, delivery: { in: ['waiting', 'dead'] } },
    orderBy: [{ releasedAt: 'asc' }, { id: 'asc' }],
    select: UNDELIVERED,
  });
  return releases as Undelivered[];
}

/** Releases that were not sent because their money went back, newest first. @param limit how many at most */
export async function withheldReleases(
  database: Database,
  mode: Mode,
  limit: number,
): Promise<Undelivered[]> {
  const { release } = await database.prisma();
  const releases = await release.findMany({
    where: { mode, delivery: 'withheld' },
    orderBy: [{ releasedAt: 'desc' }, { id: 'desc' }],
    take: limit,
    select: UNDELIVERED,
  });
  return releases as Undelivered[];
}

/**
 * Recorded while there was no receiver. Without those whose payments a begin of reconciliation set aside:
 * they were paid at the sandbox, and no shopper waits for the goods.
 */
export const IS_UNSENT = `delivery = 'unneeded' AND NOT EXISTS (SELECT FROM before_begin b
  WHERE b.mode = releases.mode AND b.reference = releases.reference AND b.begun_at > releases.released_at)`;

/** The releases that {@link IS_UNSENT}: how many, and since when. */
export type Unsent = { count: number; oldest: Date | null };

export async function unsentReleases(db: Queryable, mode: Mode): Promise<Unsent> {
  const [row] = await db.query<Unsent>(
    `SELECT count(*)::int AS count, min(released_at) AS oldest
     FROM releases WHERE mode = $1 AND ${IS_UNSENT}`,
    [mode],
  );
  return row ?? { count: 0, oldest: null };
}
