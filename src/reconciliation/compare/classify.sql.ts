import type { Queryable } from '../../platform/database/database.ts';
import { PROBE_PATTERN, type Reference } from '../../platform/ids.ts';
import type { Mode } from '../../platform/mode.ts';
import { HORIZON_SEC } from '../../payments/recheck-schedule.ts';
import type { Coverage } from '../coverage.ts';
import { FINDING_CLASSES, type ReconciliationClass } from '../../cases/classes.ts';
import { MONEY } from '../import/staging.sql.ts';
import { createTableAs } from '../working-tables.ts';
import { CLASS_OF_ROW, IS_TO_VERIFY } from './rules.ts';

// The answer to this run's own question. It has no row of its own when it equals the answer before it.
const LAST_ANSWER = 'CASE WHEN asked.has_released THEN v.outcome ELSE coalesce(asked.outcome, v.outcome) END';

// Of money that a person accepted, the same answer again says what "paid" says of the exact money.
const ANSWERED = `CASE WHEN m.accepted_outcome = ${LAST_ANSWER}
  AND coalesce(v.amount, m.accepted_amount) = m.accepted_amount THEN 'paid' ELSE ${LAST_ANSWER} END`;

// What the money says beside ours.
const FACTS_OF_MONEY = `
  NOT m.is_ours AND o.reference IS NOT NULL AS is_of_other_mode,
  $4::text = 'test' AS is_test, $7::boolean AS is_asking, m.reference ~ '${PROBE_PATTERN.source}' AS is_of_probe,
  m.paid_amount IN (m.amount, coalesce(m.accepted_amount, m.amount)) AND m.paid_currency = m.currency AS is_exact,
  m.paid_amount = m.accepted_amount AND m.paid_currency = m.currency AS is_accepted,
  m.paid_currency = m.currency AND m.paid_amount <> m.amount AND m.paid_amount > 0 AND EXISTS (
    SELECT FROM generate_series(1, 18) power
    WHERE greatest(m.paid_amount, m.amount) = least(m.paid_amount, m.amount) * 10::numeric ^ power
  ) AS is_power_of_ten_apart,
  ${ANSWERED} AS answered,
  coalesce(${ANSWERED} IN
    ('paid', 'underpaid', 'overpaid', 'unit_error', 'currency_mismatch', 'mode_mismatch'), false)
    OR m.here = 'held' AND EXISTS (
      SELECT FROM suspense_items s WHERE s.mode = $4 AND s.reference = m.reference AND s.closed_at IS NULL)
    AS is_money_answered`;

// Less than was released came where a person accepted it, unless verify has shown the rest since.
const CAME = `CASE WHEN m.accepted_amount < m.released_amount AND NOT EXISTS (
    SELECT FROM verifications whole WHERE whole.reference = m.reference AND whole.outcome = 'paid')
  THEN m.accepted_amount ELSE m.released_amount END`;

// Verify and a row that stands alone without an amount mean all of it. Null where the list holds more than was
// released: nobody can say what went back.
const GONE = `CASE WHEN NOT m.is_released THEN NULL WHEN ${ANSWERED} = 'reversed' THEN ${CAME}
    WHEN m.there = 'paid_and_reversed' AND m.paid_currency = m.currency
      THEN nullif(greatest(${CAME} - m.paid_amount, 0), 0)
    WHEN m.there = 'reversed' THEN least(${CAME},
      CASE WHEN m.paid_currency = m.currency AND m.paid_amount > 0 THEN m.paid_amount END) END`;

// Where our payment and its order stand.
const FACTS_OF_PAYMENT = `
  m.is_ours AND NOT m.is_released AND m.there = 'paid' AND EXISTS (
    SELECT FROM releases paid WHERE paid.order_id = m.order_id LIMIT 1) AS is_order_paid,
  m.here = 'held' AND EXISTS (
    SELECT FROM payments decided
    WHERE decided.reference = m.reference AND decided.decided_at IS NOT NULL) AS is_decided,
  m.here = 'held' AND EXISTS (
    SELECT FROM orders ended WHERE ended.id = m.order_id AND ended.status = 'cancelled') AS is_cancelled,
  ${CAME} AS came, ${GONE} AS gone, back.amount AS refunded,
  m.here = 'held' AND EXISTS (
    SELECT FROM orders ended WHERE ended.id = m.order_id AND ended.expired_at IS NOT NULL) AS is_past_deadline,
  m.here IN ('sending', 'open', 'ambiguous', 'held') AS is_watched,
  m.created_at < $1::timestamptz - interval '${HORIZON_SEC} s' AS is_beyond_horizon,
  coalesce(m.released_at BETWEEN $1 AND now(), false) AS is_released_since_start,
  coalesce(m.released_at >= $5, false) AS is_within_lag,
  coalesce(m.created_at < $6, false) AS is_older_than_list`;

// What other sources said, and when. What verify confirmed within a day is not asked about again because the
// list lacks it.
const FACTS_OF_SOURCES = `
  asked.reference IS NOT NULL AS was_verified_now, coalesce(asked.has_released, false) AS was_released_now,
  known.reference IS NOT NULL AS is_confirmed_lately,
  told.word AS told, $2::boolean AS is_cut, dispute.class AS disputed,
  coalesce(asked.has_released OR asked.reference IS NOT NULL AND ${ANSWERED} = 'paid', false)
    OR coalesce(m.released_at > dispute.last_seen_at
      AND coalesce(${ANSWERED}, 'paid') = 'paid', false) AS is_confirmed`;

const PAYMENT_OF_OTHER_MODE = `
  SELECT p.reference, p.order_id, p.amount, p.currency FROM payments p
  WHERE NOT m.is_ours AND p.reference = m.reference LIMIT 1`;

const LATEST_ANSWER = `
  SELECT outcome, amount FROM verifications
  WHERE (m.is_released OR m.here = 'held' OR m.there = 'paid')
    AND reference = m.reference AND id > coalesce(m.verification_id, 0)
  ORDER BY id DESC LIMIT 1`;

// That the list lacks it ends when the list shows it.
const OPEN_DISPUTE = `
  SELECT f.class, f.last_seen_at FROM findings f
  WHERE m.is_released AND f.mode = $4 AND f.reference = m.reference AND f.closed_at IS NULL
    AND f.class <> 'absent_from_history'
  ORDER BY f.class = 'reversed' DESC, f.id DESC LIMIT 1`;

const REFUNDED = `
  SELECT coalesce(sum(r.amount), 0)::bigint AS amount FROM refunds r
  WHERE m.is_released AND r.order_id = m.order_id`;

// The facts that the rules use. $1 is the start of the run, $2 whether the list is cut, $4 the mode, $5
// and $6 as in a coverage, $7 whether the run asks verify. Lookups in other tables are made only where a rule may
// need them.
const COMPARED = `
  SELECT m.*, o.order_id AS other_mode_order, o.amount AS other_mode_amount, o.currency AS other_mode_currency,
    ${FACTS_OF_MONEY}, ${FACTS_OF_PAYMENT}, ${FACTS_OF_SOURCES}
  FROM differing m
  LEFT JOIN LATERAL (${PAYMENT_OF_OTHER_MODE}) o ON true
  LEFT JOIN webhook_words told ON m.is_ours AND told.reference = m.reference
  LEFT JOIN verified_payments asked ON asked.reference = m.reference
  LEFT JOIN confirmed_payments known ON known.mode = $4 AND known.reference = m.reference
    AND known.confirmed_at > $1::timestamptz - interval '1 day'
  LEFT JOIN LATERAL (${LATEST_ANSWER}) v ON true
  LEFT JOIN LATERAL (${OPEN_DISPUTE}) dispute ON true
  CROSS JOIN LATERAL (${REFUNDED}) back`;

// What each source says. An operator reads it later, when the list may already say something else. Of a reversal,
// in minor units: what the shop wrote down, and what that does not explain.
const EVIDENCE = `jsonb_strip_nulls(jsonb_build_object('history', coalesce(there, 'not listed'),
  'charges', CASE WHEN charges > 1 THEN charges END, 'verify', answered, 'webhook', told,
  'payment', here, 'releasedAt', released_at,
  'refunded', CASE WHEN class = 'reversed' THEN refunded::text END,
  'unexplained', CASE WHEN class = 'reversed' THEN (coalesce(gone, came) - refunded)::text END))`;

/** `isCut`: whether the list is. `isAsking`: whether the run asks verify. */
export type Classifying = {
  startedAt: Date;
  isCut: boolean;
  mode: Mode;
  coverage: Coverage;
  isAsking: boolean;
};

/**
 * Gives every row that differs exactly one class: creates table `classified` anew. Call it
 * inside a snapshot. `OFFSET 0` keeps the planner from copying the rules into every
 * expression that uses the class.
 */
export async function classify(
  db: Queryable,
  { startedAt, isCut, mode, coverage, isAsking }: Classifying,
): Promise<void> {
  await db.query('DROP TABLE IF EXISTS classified');
  await db.query(
    createTableAs(
      'classified',
      `SELECT reference, class, is_ours, coalesce(order_id, other_mode_order),
         coalesce(amount, other_mode_amount), coalesce(currency, other_mode_currency),
         CASE WHEN there IN (${MONEY}) THEN paid_amount END,
         CASE WHEN there IN (${MONEY}) THEN paid_currency END,
         released_amount, is_released, ${IS_TO_VERIFY}, is_confirmed_lately, is_before,
         CASE WHEN class = ANY($3) THEN ${EVIDENCE} END
       FROM (SELECT *, ${CLASS_OF_ROW} AS class FROM (${COMPARED}) compared OFFSET 0) ruled`,
    ),
    [startedAt, isCut, FINDING_CLASSES, mode, coverage.lagFrom, coverage.reachesTo, isAsking],
  );
}

/** What the rows of one class hold; sums in minor units as text. `actual` is there, `confirmed` is here. */
export type ClassTotal = {
  class: ReconciliationClass;
  /** Of `actual`, and of `confirmed`: what was confirmed is in the currency that was asked for. */
  currency: string | null;
  rows: bigint;
  sum: string;
};

/** How many rows each class has, and how much more money it holds there than is confirmed here. */
export async function totalsOfClasses(db: Queryable): Promise<ClassTotal[]> {
  return db.query<ClassTotal>(
    `SELECT class, currency, sum(row)::bigint AS rows, coalesce(sum(amount), 0)::text AS sum FROM (
       SELECT class, actual_currency AS currency, 1 AS row, actual AS amount FROM classified
       UNION ALL
       SELECT class, expected_currency, 0, -confirmed FROM classified WHERE is_released
     ) money
     GROUP BY class, currency ORDER BY class, currency`,
  );
}

/**
 * How many payments older than the list each run verifies, chosen at random, to check that only the list
 * lacks them and the money is still there.
 */
const SAMPLE = 20;

/**
 * Payments to ask the service about, unconfirmed ones first. `waiting`: how many unconfirmed ones, and ones that
 * a begin may take, are beyond the limit, and wait for the next run.
 * @param isSampling whether to include some of those that are older than the list
 */
export async function paymentsToVerify(
  db: Queryable,
  { limit, isSampling }: { limit: number; isSampling: boolean },
): Promise<{ references: Reference[]; waiting: number }> {
  const rows = await db.query<{ reference: Reference; total: bigint }>(
    `SELECT reference, count(*) FILTER (WHERE NOT is_released OR is_before) OVER () AS total
     FROM classified WHERE is_to_verify
     ORDER BY is_released AND NOT is_before, is_released, reference LIMIT $1`,
    [limit],
  );
  if (isSampling)
    rows.push(
      ...(await db.query<{ reference: Reference; total: bigint }>(
        `SELECT reference, 0::bigint AS total FROM classified
         WHERE class = 'older_than_list' AND NOT is_confirmed_lately
         ORDER BY random() LIMIT ${SAMPLE}`,
      )),
    );
  const waiting = Math.max(Number(rows[0]?.total ?? 0n) - limit, 0);
  return { references: rows.map(({ reference }) => reference), waiting };
}

/**
 * Remembers for a day what verify confirmed of payments that the list lacks, so that the next
 * runs need not ask again.
 */
export async function noteConfirmed(db: Queryable, mode: Mode): Promise<void> {
  await db.query(
    `DELETE FROM confirmed_payments WHERE mode = $1 AND confirmed_at < now() - interval '1 day'`,
    [mode],
  );
  await db.query(
    `INSERT INTO confirmed_payments (mode, reference)
     SELECT $1, reference FROM verified_payments JOIN classified USING (reference)
     WHERE outcome = 'paid' AND class IN ('absent_from_history', 'older_than_list')
     ON CONFLICT (mode, reference) DO UPDATE SET confirmed_at = now()`,
    [mode],
  );
}
