import type { OrderLine } from '../orders/order.ts';
import type { Database, Queryable, Statement } from '../platform/database/database.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import type { Release } from './release.ts';

// Longer than a delivery can take, or two would deliver at once.
const LEASE_SEC = 30;

const IS_DUE = 'next_check_at <= now() AND (leased_until IS NULL OR leased_until < now()) AND mode = $1';

// Time without attempts (no worker, a restored backup) does not count.
const CLAIMED = `
  UPDATE releases r SET leased_until = now() + interval '${LEASE_SEC} s', attempts = attempts + 1,
    tried_since = coalesce(tried_since + (now() - greatest(next_check_at, leased_until)), now())
  FROM (SELECT id FROM fresh UNION ALL SELECT id FROM failed) due WHERE r.id = due.id
  RETURNING r.*`;

// Two queues, so that deliveries which keep failing cannot take every place from those that were never tried.
const CLAIM: Statement = {
  name: 'claim-due-releases',
  text: `
    WITH fresh AS MATERIALIZED (
      SELECT id FROM releases WHERE ${IS_DUE} AND attempts = 0
      ORDER BY next_check_at LIMIT $2 FOR UPDATE SKIP LOCKED
    ), failed AS MATERIALIZED (
      SELECT id FROM releases WHERE ${IS_DUE} AND attempts > 0
      ORDER BY next_check_at LIMIT LEAST($3, $2 - (SELECT count(*) FROM fresh)) FOR UPDATE SKIP LOCKED
    ), claimed AS (${CLAIMED})
    SELECT c.id, c.order_id AS "orderId", o.external_id AS "externalId", c.reference, c.amount, c.currency,
      c.mode, o.paid_at AS "paidAt", o.shopper_details AS details, c.attempts, c.message,
      extract(epoch FROM now() - c.tried_since)::float8 AS "tryingForSec",
      (SELECT coalesce(json_agg(json_build_object('sku', l.sku, 'description', l.description,
         'unitAmount', l.unit_amount::text, 'quantity', l.quantity) ORDER BY l.position), '[]')
       FROM order_lines l WHERE l.order_id = c.order_id) AS lines
    FROM claimed c JOIN orders o ON o.id = c.order_id`,
};

export type DueRelease = Omit<Release, 'message'> & {
  /** Null before the first attempt. */
  message: string | null;
  /** Deliveries so far, including the one in hand; from 1 again after a person has asked for the delivery. */
  attempts: number;
  /**
   * Seconds since the first attempt (anew after a person asked again), less the time when no worker tried.
   */
  tryingForSec: number;
};

type Row = Omit<DueRelease, 'total' | 'lines'> & {
  amount: bigint;
  currency: string;
  lines: (Omit<OrderLine, 'unitAmount'> & { unitAmount: string })[];
};

/** Leases up to `limit` releases whose delivery is due, at most `repeats` of them tried before. */
export async function claimDueReleases(
  db: Queryable,
  mode: Mode,
  limit: number,
  repeats: number,
): Promise<DueRelease[]> {
  const rows = await db.query<Row>(CLAIM, [mode, limit, Math.max(repeats, 0)]);
  return rows.map(({ amount, currency, lines, ...row }) => ({
    ...row,
    total: { amount, currency },
    lines: lines.map((line) => ({ ...line, unitAmount: BigInt(line.unitAmount) })),
  }));
}

/**
 * Keeps what a receiver is about to be sent, unless something was kept before.
 * @returns what is to be sent: the first message that was kept
 */
export async function keepMessage(db: Queryable, id: string, message: string): Promise<string> {
  const [row] = await db.query<{ message: string }>(
    {
      name: 'keep-release-message',
      text: 'UPDATE releases SET message = coalesce(message, $2) WHERE id = $1 RETURNING message',
    },
    [id, message],
  );
  return row?.message ?? message;
}

const DELIVERED: Statement = {
  name: 'release-delivered',
  text: `
    WITH done AS (
      UPDATE releases SET delivery = 'delivered', delivered_at = now(), next_check_at = NULL,
        leased_until = NULL, last_error = NULL
      WHERE id = $1 AND delivery <> 'delivered' RETURNING order_id, reference, id, attempts
    )
    INSERT INTO journal (order_id, event, reference, cause, detail)
    SELECT order_id, 'release-delivered', reference, 'schedule',
      jsonb_build_object('release', id, 'attempts', attempts) FROM done`,
};

export async function markDelivered(db: Queryable, id: string): Promise<void> {
  await db.query(DELIVERED, [id]);
}

/**
 * Notes a failed delivery, unless another process has begun the next one meanwhile or a person has asked
 * for one. `pauseSec` null: there is no further attempt until a person asks for one.
 * @returns whether it was noted
 */
export async function markUndelivered(
  db: Queryable,
  { id, attempts }: DueRelease,
  error: string,
  pauseSec: number | null,
): Promise<boolean> {
  const noted = await db.query(
    `WITH failed AS (
       UPDATE releases SET leased_until = NULL, last_error = $2,
         next_check_at = now() + make_interval(secs => $3),
         delivery = CASE WHEN $3::float8 IS NULL THEN 'dead' ELSE delivery END
       WHERE id = $1 AND delivery = 'waiting' AND attempts = $4
       RETURNING order_id, reference, id, attempts, delivery
     )
     INSERT INTO journal (order_id, event, reference, cause, detail)
     SELECT order_id, CASE delivery WHEN 'dead' THEN 'release-dead' ELSE 'release-undelivered' END,
       reference, 'schedule',
       jsonb_build_object('release', id, 'attempts', attempts, 'error', $2::text)
     FROM failed RETURNING order_id`,
    [id, error, pauseSec, attempts],
  );
  return noted.length === 1;
}

/** Whether a release whose delivery failed waits for another attempt. */
export async function doFailedReleasesWait(db: Queryable, mode: Mode): Promise<boolean> {
  const rows = await db.query(
    `SELECT FROM releases WHERE mode = $1 AND delivery = 'waiting' AND next_check_at IS NOT NULL
       AND last_error IS NOT NULL LIMIT 1`,
    [mode],
  );
  return rows.length > 0;
}

/** A release that its receiver does not have yet, as an operator sees it. */
export type Undelivered = {
  id: string;
  orderId: OrderId;
  reference: Reference;
  /** Minor units. */
  amount: bigint;
  currency: string;
  delivery: 'waiting' | 'dead';
  attempts: number;
  lastError: string | null;
  releasedAt: Date;
  nextCheckAt: Date | null;
};

const UNDELIVERED = {
  ...{ id: true, orderId: true, reference: true, amount: true, currency: true, delivery: true },
  ...{ attempts: true, lastError: true, releasedAt: true, nextCheckAt: true },
} as const;

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

/**
 * Makes the delivery of a release due now, whatever became of it before, and starts its three days anew.
 * A delivery in hand is not disturbed: when it succeeds, it is the one that was asked for.
 * @param idOrOrderId the release's id, or its order's
 * @returns false when the mode has no such release
 */
export async function makeDeliveryDue(
  db: Queryable,
  mode: Mode,
  idOrOrderId: string,
  by: string,
  note: string | null,
): Promise<boolean> {
  const rows = await db.query(
    `WITH seen AS (
       SELECT id, delivery, attempts FROM releases WHERE mode = $1 AND (id = $2 OR order_id = $2) FOR UPDATE
     ), asked AS (
       UPDATE releases r SET delivery = 'waiting', next_check_at = now(), attempts = 0,
         asked_again_at = now(), tried_since = NULL
       FROM seen WHERE r.id = seen.id
       RETURNING r.id, r.order_id, r.reference, seen.delivery AS was, seen.attempts
     ), entry AS (
       INSERT INTO journal (order_id, event, reference, cause, detail)
       SELECT order_id, 'release-redelivery', reference, 'operator:' || $3,
         jsonb_strip_nulls(jsonb_build_object(
           'release', id, 'was', was, 'attempts', attempts, 'note', $4::text))
       FROM asked
     )
     SELECT id FROM asked`,
    [mode, idOrOrderId, by, note],
  );
  return rows.length === 1;
}

/** Releases that were recorded while there was no receiver: how many, and since when. */
export type Unsent = { count: number; oldest: Date | null };

export async function unsentReleases(db: Queryable, mode: Mode): Promise<Unsent> {
  const [row] = await db.query<Unsent>(
    `SELECT count(*)::int AS count, min(released_at) AS oldest
     FROM releases WHERE mode = $1 AND delivery = 'unneeded'`,
    [mode],
  );
  return row ?? { count: 0, oldest: null };
}

/** Makes up to `limit` unsent releases due, oldest first, each under the id it has. @returns how many */
export async function makeUnsentDue(
  db: Queryable,
  mode: Mode,
  by: string,
  note: string | null,
  limit: number,
): Promise<number> {
  const rows = await db.query(
    `WITH oldest AS (
       SELECT id FROM releases WHERE mode = $1 AND delivery = 'unneeded'
       ORDER BY released_at, id LIMIT $4 FOR UPDATE
     ), asked AS (
       UPDATE releases r SET delivery = 'waiting', next_check_at = now(), asked_again_at = now()
       FROM oldest WHERE r.id = oldest.id
       RETURNING r.id, r.order_id, r.reference
     ), entry AS (
       INSERT INTO journal (order_id, event, reference, cause, detail)
       SELECT order_id, 'release-redelivery', reference, 'operator:' || $2,
         jsonb_strip_nulls(jsonb_build_object(
           'release', id, 'was', 'unneeded', 'attempts', 0, 'note', $3::text))
       FROM asked ORDER BY order_id
     )
     SELECT id FROM asked`,
    [mode, by, note, limit],
  );
  return rows.length;
}
