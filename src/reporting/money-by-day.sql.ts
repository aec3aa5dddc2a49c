import type { Database, Queryable } from '../platform/database/database.ts';
import type { Mode } from '../platform/mode.ts';

/**
 * Histogram bounds, in seconds from the first webhook to the release: below the first one,
 * …, beyond the last one.
 */
export const WAIT_STEPS_SEC = [1, 5, 15, 60, 300, 3_600] as const;

// What came for confirmed orders from $2 to before $3. The rows that say so never change, so neither does
// this.
const CONFIRMED_BY_HOUR = `
  SELECT r.mode, date_trunc('hour', r.at, 'UTC') AS hour, r.currency, v.cause AS found_by,
    coalesce(width_bucket(extract(epoch FROM r.at - w.first)::float8,
      '{${WAIT_STEPS_SEC.join(',')}}'::float8[]), -1) AS waited,
    (count(*) FILTER (WHERE r.is_release))::int AS releases, sum(r.amount) AS amount
  FROM confirmed_money r JOIN verifications v ON v.id = r.verification_id
  LEFT JOIN LATERAL (SELECT min(received_at) AS first FROM webhooks
    WHERE reference = r.reference AND received_at <= r.at) w ON true
  WHERE r.mode = $1 AND r.at >= $2::timestamptz AND r.at < $3::timestamptz
  GROUP BY 1, 2, 3, 4, 5`;

// A release commits within seconds of its timestamp, or its statement times out.
const IS_OVER = `date_trunc('hour', now() - interval '5 minutes', 'UTC')`;

/**
 * Sums the hours that are over and not summed yet, a day at a time. Several processes may do it at once:
 * their sums are the same.
 */
export async function sumConfirmedHours(database: Database, mode: Mode, signal?: AbortSignal): Promise<void> {
  while (signal?.aborted !== true) {
    const [span] = await database.query<{ from: string; until: string }>(
      `SELECT began::text AS from, LEAST(began + interval '1 day', ${IS_OVER})::text AS until FROM (
         SELECT coalesce((SELECT summed_until FROM confirmed_until WHERE mode = $1),
           (SELECT date_trunc('hour', min(released_at), 'UTC') FROM releases)) AS began) start
       WHERE began < ${IS_OVER}`,
      [mode],
    );
    if (span === undefined) return;
    await database.transaction(async (tx) => {
      // A day of a large shop takes longer than a request may.
      await tx.query(`SET LOCAL statement_timeout = '10min'`);
      await tx.query(
        `WITH summed AS (
         INSERT INTO confirmed_hours (mode, hour, currency,
           found_by, waited, releases, amount) ${CONFIRMED_BY_HOUR}
         ON CONFLICT DO NOTHING
       )
       INSERT INTO confirmed_until (mode, summed_until) VALUES ($1, $3::timestamptz)
       ON CONFLICT (mode) DO UPDATE
         SET summed_until = GREATEST(confirmed_until.summed_until, EXCLUDED.summed_until)`,
        [mode, span.from, span.until],
      );
    });
  }
}

/** What was confirmed in a day (UTC) of a currency, by who found it and how long it took. */
export type ConfirmedDay = {
  /** `2026-01-31` */
  day: string;
  currency: string;
  foundBy: string;
  /** Index in {@link WAIT_STEPS_SEC}; -1: no webhook had come. */
  waited: number;
  releases: number;
  /** Minor units that came: less than the price where a person accepted less. */
  amount: bigint;
};

/** The last days, today included: hours that are over from their stored sums, the rest from the releases. */
export async function confirmedDays(db: Queryable, mode: Mode, days: number): Promise<ConfirmedDay[]> {
  const [span] = await db.query<{ since: string; summedUntil: string; end: string }>(
    `SELECT since::text AS since,
       GREATEST(since, (SELECT summed_until FROM confirmed_until WHERE mode = $1))::text AS "summedUntil",
       (now() + interval '1 day')::text AS end
     FROM (SELECT date_trunc('day', now(), 'UTC') - make_interval(days => $2 - 1) AS since) start`,
    [mode, days],
  );
  if (span === undefined) throw new Error('Bug: the database does not know the day');
  const rows = await db.query<Omit<ConfirmedDay, 'amount'> & { amount: string }>(
    `SELECT to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, currency, found_by AS "foundBy", waited,
       sum(releases)::int AS releases, sum(amount)::text AS amount
     FROM (SELECT mode, hour, currency, found_by, waited, releases, amount FROM confirmed_hours
         WHERE mode = $1 AND hour >= $4::timestamptz AND hour < $2::timestamptz
       UNION ALL ${CONFIRMED_BY_HOUR}) hours
     GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`,
    [mode, span.summedUntil, span.end, span.since],
  );
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }));
}

/** Money that came and has not paid its order, by the day (UTC) on which it was held. */
export type HeldDay = { day: string; currency: string; class: string; items: number; amount: bigint };

export async function heldDays(db: Queryable, mode: Mode, days: number): Promise<HeldDay[]> {
  const rows = await db.query<Omit<HeldDay, 'amount'> & { amount: string }>(
    `SELECT to_char(opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
       currency, class, count(*)::int AS items,
       sum(amount)::text AS amount
     FROM suspense_items
     WHERE mode = $1 AND opened_at >= date_trunc('day', now(), 'UTC') - make_interval(days => $2 - 1)
       AND coalesce(decision NOT IN ('accept', 'earned'), true)
     GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    [mode, days],
  );
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }));
}

/**
 * Money of paid orders that went back, by the day (UTC) on which it was written down (`refunded`) or raised
 * (`reversed`: what the service took back and no refund explains by now). Takings are what was confirmed less
 * this.
 */
export type WentBackDay = {
  day: string;
  currency: string;
  by: 'refunded' | 'reversed';
  count: number;
  /** Minor units. */
  amount: bigint;
};

// The evidence of a reversal has what refunds explained when it was last seen, and what they did not.
const WENT_BACK = `
  SELECT refunded_at AS at, currency, 'refunded' AS by, amount FROM refunds
  WHERE mode = $1 AND refunded_at >= $2::timestamptz
  UNION ALL
  SELECT f.raised_at, f.currency, 'reversed',
    coalesce((f.evidence ->> 'refunded')::bigint + (f.evidence ->> 'unexplained')::bigint,
      f.expected - coalesce(f.actual, 0))
    - (SELECT coalesce(sum(r.amount), 0) FROM refunds r WHERE r.order_id = f.order_id)
  FROM findings f WHERE f.mode = $1 AND f.class = 'reversed' AND f.raised_at >= $2::timestamptz
    -- A later run saw that it was explained, or that the money came back.
    AND f.closed_by IS DISTINCT FROM 'reconciliation' AND f.gone_at IS NULL`;

/** The last days, today included. */
export async function wentBackDays(db: Queryable, mode: Mode, days: number): Promise<WentBackDay[]> {
  const [span] = await db.query<{ since: string }>(
    `SELECT (date_trunc('day', now(), 'UTC') - make_interval(days => $1 - 1))::text AS since`,
    [days],
  );
  const rows = await db.query<Omit<WentBackDay, 'amount'> & { amount: string }>(
    `SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, currency, by, count(*)::int AS count,
       sum(amount)::text AS amount
     FROM (${WENT_BACK}) went WHERE amount > 0 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    [mode, span?.since],
  );
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }));
}
