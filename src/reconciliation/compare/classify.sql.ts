import type { Queryable } from '../../platform/database/database.ts';
import type { Reference } from '../../platform/ids.ts';
import type { Mode } from '../../platform/mode.ts';
import type { Coverage } from '../coverage.sql.ts';
import { FINDING_CLASSES, type ReconciliationClass } from '../../cases/classes.ts';
import { MONEY } from '../import/staging.sql.ts';
import { createTableAs } from '../working-tables.ts';
import { COMPARED } from './facts.sql.ts';
import { CLASS_OF_ROW, IS_TO_VERIFY } from './rules.ts';

// Nothing of what was released where the list still holds as much: what went back came beside it.
const UNKNOWN_GONE = `CASE WHEN there = 'paid_and_reversed' AND paid_currency = currency
  AND paid_amount >= came AND answered IS DISTINCT FROM 'reversed' THEN 0 ELSE came END`;

// What each source says. An operator reads it later, when the list may already say something else. Of a
// reversal, in minor units: what the shop wrote down, and what that does not explain.
const EVIDENCE = `jsonb_strip_nulls(jsonb_build_object('history', coalesce(there, 'not listed'),
  'charges', CASE WHEN charges > 1 THEN charges END, 'charged', to_jsonb(charge_ids),
  'verify', answered, 'webhook', told,
  'payment', here, 'releasedAt', released_at,
  'refunded', CASE WHEN class = 'reversed' THEN refunded::text END,
  'unexplained', CASE WHEN class = 'reversed' THEN (coalesce(gone, ${UNKNOWN_GONE}) - refunded)::text END))`;

/** `isCut`: whether the list is. `isAsking`: whether the run asks verify. */
type Classifying = {
  startedAt: Date;
  isCut: boolean;
  mode: Mode;
  coverage: Coverage;
  isAsking: boolean;
  /** When the window of the run begins; null: it has no begin. */
  since: Date | null;
};

/**
 * Gives every row that differs exactly one class: creates table `classified`. Call it
 * inside a snapshot. `OFFSET 0` keeps the planner from copying the rules into every
 * expression that uses the class. The parameters are those of `COMPARED`; $3 are the classes of findings.
 */
export async function classify(
  db: Queryable,
  { startedAt, isCut, mode, coverage, isAsking, since }: Classifying,
): Promise<void> {
  await db.query(
    createTableAs(
      'classified',
      `SELECT reference, class, is_ours, coalesce(order_id, other_mode_order),
         coalesce(amount, other_mode_amount), coalesce(currency, other_mode_currency),
         CASE WHEN there IN (${MONEY}) THEN paid_amount END,
         CASE WHEN there IN (${MONEY}) THEN paid_currency END,
         released_amount, is_released, ${IS_TO_VERIFY}, is_confirmed_by_a_run_lately, is_before,
         CASE WHEN class = ANY($3) THEN ${EVIDENCE} END
       FROM (SELECT *, ${CLASS_OF_ROW} AS class FROM (${COMPARED}) compared OFFSET 0) ruled`,
    ),
    [startedAt, isCut, FINDING_CLASSES, mode, coverage.lagFrom, coverage.reachesTo, isAsking, since],
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
 * Payments to ask the service about, unconfirmed ones first. `waiting`: how many unconfirmed ones, and ones
 * that a begin may take, are beyond the limit, and wait for the next run.
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
         WHERE class = 'older_than_list' AND NOT is_confirmed_by_a_run_lately
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
    `WITH old AS (
       DELETE FROM confirmed_payments WHERE mode = $1 AND confirmed_at < now() - interval '1 day'
         AND reference NOT IN (SELECT reference FROM verified_payments)
     )
     INSERT INTO confirmed_payments (mode, reference)
     SELECT $1, reference FROM verified_payments JOIN classified USING (reference)
     WHERE outcome = 'paid' AND class IN ('absent_from_history', 'older_than_list')
     ON CONFLICT (mode, reference) DO UPDATE SET confirmed_at = now()`,
    [mode],
  );
}
