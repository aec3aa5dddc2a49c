import { SHOWS_MONEY, SHOWS_NO_MONEY } from '../orders/money-shown.ts';
import type { Queryable, Statement } from '../platform/database/database.ts';
import type { Mode } from '../platform/mode.ts';
import type { Prunable } from '../platform/database/prune.sql.ts';

/** A table whose rows are delivered. */
export type Deliveries = {
  /** Begins the names of its journal entries, and is the key of its id there. */
  word: 'release' | 'event';
  table: 'releases' | 'events';
  update: 'UPDATE releases' | 'UPDATE events';
  /** The columns of its order in time. */
  byAge: string;
};

export const RELEASES: Deliveries = {
  word: 'release',
  table: 'releases',
  update: 'UPDATE releases',
  byAge: 'released_at, id',
};
export const EVENTS: Deliveries = { word: 'event', table: 'events', update: 'UPDATE events', byAge: 'seq' };

/** What an operator sees of a delivery, whatever is delivered: for Prisma's client. */
export const DELIVERY = {
  id: true,
  orderId: true,
  reference: true,
  delivery: true,
  attempts: true,
  lastError: true,
  nextDeliveryAt: true,
} as const;

// Longer than a delivery can take, or two would deliver at once.
const LEASE_SEC = 30;

const oneOf = (outcomes: readonly string[]): string => `('${outcomes.join("', '")}')`;

/** SQL over `releases`: the newest answer of verify that says whether there is money, and when it came. */
export const NEWEST_ANSWER = `SELECT v.outcome, v.answered_at FROM verifications v
  WHERE v.reference = releases.reference AND v.outcome IN ${oneOf([...SHOWS_MONEY, ...SHOWS_NO_MONEY])}
  ORDER BY v.id DESC LIMIT 1`;

/**
 * SQL over `releases`: verify shows the money as gone, and no person has asked for the delivery since. Such a
 * release waits until verify shows the money again, a run withholds it, or a person asks.
 */
export const IS_HELD_BACK = `EXISTS (SELECT FROM (${NEWEST_ANSWER}) newest
  WHERE newest.outcome IN ${oneOf(SHOWS_NO_MONEY)}
    AND (releases.asked_again_at > newest.answered_at) IS NOT TRUE)`;

// $4: whether events are delivered. What happened to an order before its release is delivered before it.
const IS_ITS_TURN = {
  releases: `(NOT $4::boolean OR NOT EXISTS (SELECT FROM events e WHERE e.order_id = releases.order_id
    AND e.delivery = 'waiting' AND NOT e.after_release)) AND NOT ${IS_HELD_BACK}`,
  events: `$4::boolean AND NOT EXISTS (SELECT FROM events e WHERE e.order_id = events.order_id
    AND e.delivery = 'waiting' AND e.seq < events.seq)
    AND NOT (after_release AND EXISTS (SELECT FROM releases r WHERE r.order_id = events.order_id
      AND (r.delivery = 'waiting' OR r.delivery = 'withheld' AND r.leased_until > now())))`,
};

// Time without attempts (no worker, a restored backup) does not count.
const LEASED = `r SET leased_until = now() + interval '${LEASE_SEC} s', attempts = attempts + 1,
    tried_since = coalesce(tried_since + (now() - greatest(next_check_at, leased_until)), now())
  FROM (SELECT id FROM fresh UNION ALL SELECT id FROM failed) due WHERE r.id = due.id
  RETURNING r.*`;

/**
 * Leases up to $2 rows of mode $1 whose delivery is due and whose turn it is, at most $3 of them tried
 * before. Two queues, so that deliveries which keep failing cannot take every place from those that were
 * never tried.
 * @param columns what is returned of the rows `c` and their orders `o`
 */
export function leaseOf({ table, update }: Deliveries, columns: string): Statement {
  const isDue = `next_check_at <= now() AND (leased_until IS NULL OR leased_until < now()) AND mode = $1
    AND (${IS_ITS_TURN[table]})`;
  return {
    name: `lease-due-${table}`,
    text: `
    WITH fresh AS MATERIALIZED (
      SELECT id FROM ${table} WHERE ${isDue} AND attempts = 0
      ORDER BY next_check_at LIMIT $2 FOR UPDATE SKIP LOCKED
    ), failed AS MATERIALIZED (
      SELECT id FROM ${table} WHERE ${isDue} AND attempts > 0
      ORDER BY next_check_at LIMIT LEAST($3, $2 - (SELECT count(*) FROM fresh)) FOR UPDATE SKIP LOCKED
    ), leased AS (${update} ${LEASED})
    SELECT c.id, c.order_id AS "orderId", o.external_id AS "externalId",
      coalesce(o.metadata, '{}') AS metadata, c.reference, c.mode, c.attempts,
      c.message, extract(epoch FROM now() - c.tried_since)::float8 AS "tryingForSec", ${columns}
    FROM leased c LEFT JOIN orders o ON o.id = c.order_id`,
  };
}

/** What every row in delivery has. */
export type Due = {
  id: string;
  /** Null before the first attempt. */
  message: string | null;
  /** Deliveries so far, including the one in hand; from 1 again after a person has asked for the delivery. */
  attempts: number;
  /**
   * Seconds since the first attempt (anew after a person asked again), less the time when no worker tried.
   */
  tryingForSec: number;
};

/**
 * Keeps what a receiver is about to be sent, unless something was kept before.
 * @returns what is to be sent: the first message that was kept
 */
export async function keepMessage(
  db: Queryable,
  { word, update }: Deliveries,
  id: string,
  message: string,
): Promise<string> {
  const [row] = await db.query<{ message: string }>(
    {
      name: `keep-${word}-message`,
      text: `${update} SET message = coalesce(message, $2) WHERE id = $1 RETURNING message`,
    },
    [id, message],
  );
  return row?.message ?? message;
}

/** An event may have no order, and then it has no journal. */
export const ENTRY = `INSERT INTO journal (order_id, event, reference, cause, detail)`;

export async function markDelivered(db: Queryable, { word, update }: Deliveries, id: string): Promise<void> {
  const text = `
    WITH done AS (
      ${update} SET delivery = 'delivered', delivered_at = now(), next_check_at = NULL,
        leased_until = NULL, last_error = NULL
      WHERE id = $1 AND delivery <> 'delivered' RETURNING order_id, reference, id, attempts
    )
    ${ENTRY}
    SELECT order_id, '${word}-delivered', reference, 'schedule',
      jsonb_build_object('${word}', id, 'attempts', attempts) FROM done WHERE order_id IS NOT NULL`;
  await db.query({ name: `${word}-delivered`, text }, [id]);
}

/**
 * Notes a failed delivery, unless another process has begun the next one meanwhile or a person has asked
 * for one. `pauseSec` null: there is no further attempt until a person asks for one. What was withheld
 * meanwhile stays so.
 * @returns whether it was noted of what was not withheld
 */
export async function markUndelivered(
  db: Queryable,
  { word, update }: Deliveries,
  { id, attempts }: Due,
  error: string,
  pauseSec: number | null,
): Promise<boolean> {
  const noted = await db.query(
    `WITH failed AS (
       ${update} SET leased_until = NULL, last_error = $2,
         next_check_at = CASE delivery WHEN 'waiting' THEN now() + make_interval(secs => $3) END,
         delivery = CASE WHEN delivery = 'waiting' AND $3::float8 IS NULL THEN 'dead' ELSE delivery END
       WHERE id = $1 AND delivery IN ('waiting', 'withheld') AND attempts = $4
       RETURNING order_id, reference, id, attempts, delivery
     ), entry AS (
       ${ENTRY}
       SELECT order_id, CASE delivery WHEN 'dead' THEN '${word}-dead' ELSE '${word}-undelivered' END,
         reference, 'schedule',
         jsonb_build_object('${word}', id, 'attempts', attempts, 'error', $2::text)
       FROM failed WHERE order_id IS NOT NULL AND delivery <> 'withheld'
     )
     SELECT FROM failed WHERE delivery <> 'withheld'`,
    [id, error, pauseSec, attempts],
  );
  return noted.length === 1;
}

/** Whether a delivery that failed waits for another attempt. */
export async function doFailedDeliveriesWait(db: Queryable, mode: Mode): Promise<boolean> {
  const failed = (table: string): string => `SELECT FROM ${table} WHERE mode = $1 AND delivery = 'waiting'
    AND next_check_at IS NOT NULL AND last_error IS NOT NULL`;
  const rows = await db.query(`(${failed('releases')} UNION ALL ${failed('events')}) LIMIT 1`, [mode]);
  return rows.length > 0;
}

const isOld = `old.message IS NOT NULL AND old.delivery = 'delivered'
  AND old.delivered_at < now() - make_interval(days => $1)`;

/** Messages that were delivered long ago: delivered once more, one is made anew. */
export const OLD_MESSAGES: readonly Prunable[] = [
  {
    table: 'releases',
    keys: { released_at: 'timestamptz', id: 'text' },
    at: 'released_at',
    write: 'UPDATE releases old SET message = NULL FROM batch',
    isOld,
  },
  {
    table: 'events',
    keys: { seq: 'bigint' },
    at: 'happened_at',
    write: 'UPDATE events old SET message = NULL FROM batch',
    isOld,
  },
];
