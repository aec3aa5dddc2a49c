import type { Queryable } from '../../platform/database/database.ts';
import { HORIZON_SEC } from '../../payments/check-schedule.ts';
import { idIn, MONEY } from '../import/staging.sql.ts';
import { createTableAs } from '../working-tables.ts';
import { isWritten, ofPaymentsIn, ofScope, paymentsIn, type Scope } from './scope.sql.ts';
import {
  bucketIn,
  bucketsToJoin,
  CLAIMS_PAID_HERE,
  CLAIMS_PAID_THERE,
  type ListTotals,
} from './bucket-checksums.sql.ts';

const IS_OVERDUE = `r.released_at > p.created_at + interval '${HORIZON_SEC} s'`;
const FIRST_CLOSED = `
  (SELECT min(v.id) FROM verifications v WHERE v.reference = r.reference
    AND v.outcome IN ('failed', 'expired'))`;
const IS_LATE = `p.reference IS NOT NULL AND r.id IS NOT NULL
  AND (${IS_OVERDUE} OR ${FIRST_CLOSED} < r.verification_id)`;

/**
 * Paid there by one charge, and released here for the same money, in time: the class `matched`. Nearly
 * every row of nearly every run is such a row, so they are not stored. They are counted as what the
 * totals hold beyond the rows that differ.
 */
const IS_PLAINLY_MATCHED = `h.status = 'paid' AND h.charges = 1 AND NOT h.is_money_assumed
  AND h.amount = r.amount AND h.currency = r.currency AND h.amount = p.amount AND h.currency = p.currency
  AND NOT (${IS_OVERDUE})`;

// Rows to examine although the money matches plainly: contradicted since, released after the payment was
// closed, or the rest came of what a person accepted.
const toLookAt = (scope: Scope): string => `SELECT reference FROM contested
  UNION
  SELECT v.reference FROM ${ofPaymentsIn(scope, 'verifications', "outcome IN ('failed', 'expired')")} v
  WHERE v.id < (SELECT r.verification_id FROM releases r WHERE r.mode = $1 AND r.reference = v.reference)
  UNION
  SELECT a.reference FROM acceptances a WHERE a.mode = $1 AND a.outcome = 'underpaid'
    AND (NOT EXISTS (SELECT FROM verifications v WHERE v.reference = a.reference AND v.outcome = 'paid')
      OR EXISTS (SELECT FROM refunds b WHERE b.order_id = a.order_id))`;

// The amount asked for, or accepted, times the number of charges, capped at the largest bigint: a larger sum
// must not abort the run.
const ASSUMED_AMOUNT =
  'least(coalesce(a.amount, p.amount)::numeric * h.charges, 9223372036854775807)::bigint';

// The list shows no more money than at the begin: none, or as much or less under the word of then.
const SHOWS_NO_MORE = `h.status IN ('pending', 'failed', 'expired', 'reversed')
  OR b.there IN (h.status, 'paid') AND h.charges <= b.charges AND h.currency IS NOT DISTINCT FROM b.currency
    AND (h.amount <= b.amount OR h.amount IS NOT DISTINCT FROM b.amount)`;

// Of a payment of ours only as long as the list lacks it and verify shows no record of it either.
const IS_BEFORE = `b.reference IS NOT NULL AND CASE WHEN p.reference IS NULL THEN (${SHOWS_NO_MORE}) IS TRUE
  ELSE h.reference IS NULL AND NOT EXISTS (SELECT FROM verifications v
    WHERE v.reference = p.reference AND v.answered_at > b.begun_at
      AND v.outcome NOT IN ('not_found', 'unreadable', 'reference_mismatch')) END`;

/** The columns of `differing`. */
const COLUMNS = `coalesce(h.reference, p.reference) AS reference, h.reference IS NOT NULL AS is_listed,
    h.status AS there, h.charges, h.is_money_assumed AS is_assumed,
    CASE WHEN h.is_money_assumed THEN coalesce(h.amount, ${ASSUMED_AMOUNT}) ELSE h.amount END AS paid_amount,
    CASE WHEN h.is_money_assumed THEN coalesce(h.currency, p.currency) ELSE h.currency END AS paid_currency,
    CASE WHEN h.status IN (${MONEY}) THEN coalesce(h.charge_ids, ARRAY[${idIn('h.service_id')}]) END
      AS charge_ids,
    p.reference IS NOT NULL AS is_ours, p.order_id, p.status AS here, p.amount, p.currency,
    a.amount AS accepted_amount, a.outcome AS accepted_outcome, p.created_at,
    r.id IS NOT NULL AS is_released, r.amount AS released_amount, r.released_at, r.verification_id,
    (${IS_LATE}) IS TRUE AS is_late, ${IS_BEFORE} AS is_before`;

/**
 * One row per reference, from either side or both: the 1:1 match on (mode, reference), set-wise.
 * The conditions limit the rows of each side.
 */
const matched = (scope: Scope, { history = '', payments = '', releases = '' } = {}): string => `
  SELECT ${COLUMNS}
  FROM (SELECT * FROM history_rows ${history}) h
  FULL JOIN (SELECT * FROM ${paymentsIn(scope)} payments ${payments}) p ON p.reference = h.reference
  LEFT JOIN (SELECT * FROM releases WHERE mode = $1 ${releases}) r ON r.reference = p.reference
  LEFT JOIN acceptances a ON a.id = r.acceptance_id
  LEFT JOIN before_begin b ON b.mode = $1 AND b.reference = coalesce(h.reference, p.reference)
  WHERE (h.reference IS NOT NULL OR ${isWritten('p')})`;

/**
 * Rows of these buckets, and rows that are not plainly paid. If a reference is plainly paid on one side
 * only, or for other money, its bucket is one of these. So a row outside these buckets that is not
 * plainly paid has no plainly paid partner.
 */
function toJoin(scope: Scope, buckets: readonly number[]): string {
  // With the constant `false` the planner sees that one of the tables need not be read.
  const isInBucket = buckets.length === 0 ? 'false' : `${bucketIn(scope)} = ANY('{${buckets.join(',')}}')`;
  return matched(scope, {
    history: `WHERE ${CLAIMS_PAID_THERE} IS NOT TRUE OR ${isInBucket}`,
    payments: `WHERE NOT ${CLAIMS_PAID_HERE} OR ${isInBucket}`,
    releases: `AND ${isInBucket}`,
  });
}

/**
 * Creates table `differing`: every row that is not plainly matched, or is contested. Call it inside
 * the snapshot in which the sides were tallied.
 */
export async function matchSides(db: Queryable, scope: Scope): Promise<void> {
  const rows = toJoin(scope, await bucketsToJoin(db));
  // Two statements: reading a temporary table would keep the first one from using every core.
  await db.query(
    createTableAs('differing', `${rows} AND (${IS_PLAINLY_MATCHED}) IS NOT TRUE`),
    ofScope(scope),
  );
  // PostgreSQL wants to know the type of $2, too.
  const any = `SELECT FROM (${toLookAt(scope)}) one WHERE $2::timestamptz IS NOT NULL LIMIT 1`;
  const some = await db.query(any, ofScope(scope));
  if (some.length > 0)
    await db.query(
      `INSERT INTO differing ${matched(scope)}
         AND (${IS_PLAINLY_MATCHED}) AND p.reference IN (${toLookAt(scope)})`,
      ofScope(scope),
    );
  await db.query('ANALYZE differing');
}

/** Drops what is computed anew when the sides are compared again. */
export async function dropCompared(db: Queryable): Promise<void> {
  await db.query('DROP TABLE IF EXISTS scoped, bucket_checksums, classified');
}

/**
 * Updates the payments of `differing`: some were confirmed since, by this run or by another process.
 * Plainly matched payments cannot change, and payments written since are not compared.
 */
export async function matchAgain(db: Queryable, scope: Scope): Promise<void> {
  await db.query(
    `UPDATE differing d SET here = p.status, is_released = r.id IS NOT NULL, released_amount = r.amount,
       accepted_amount = a.amount, accepted_outcome = a.outcome,
       released_at = r.released_at, verification_id = r.verification_id, is_late = (${IS_LATE}) IS TRUE,
       is_before = false
     FROM payments p
     LEFT JOIN releases r ON r.mode = $1 AND r.reference = p.reference
     LEFT JOIN acceptances a ON a.id = r.acceptance_id
     WHERE d.is_ours AND p.mode = $1 AND p.reference = d.reference
       AND (d.here, d.is_released) IS DISTINCT FROM (p.status, r.id IS NOT NULL)`,
    [scope.mode],
  );
}

/** One side's rows and money of one currency; `sum` in minor units as text, because sums outgrow a bigint. */
export type SideTotal = {
  side: 'history' | 'payments' | 'releases';
  currency: string | null;
  rows: bigint;
  /** Of the history's rows, those with a readable reference. */
  named: bigint;
  /** Of those, the ones that are not plainly matched. */
  differing: bigint;
  sum: string;
};

const HISTORY_AND_RELEASES = `
  SELECT CASE WHEN side IN ('history', 'other history', 'nameless')
    THEN 'history' ELSE 'releases' END AS side, currency,
    rows, CASE WHEN side IN ('history', 'other history') THEN rows ELSE 0 END AS named,
    0 AS differing, coalesce(sum, 0) AS sum
  FROM bucket_checksums WHERE side IN ('history', 'other history', 'nameless', 'releases')`;

// Money that the list does not name is what was asked for, so only the match can tell it.
const ASSUMED_MONEY = `
  SELECT 'history', paid_currency, 0, 0, 0, sum(paid_amount) FROM differing
  WHERE is_assumed AND there = 'paid' AND paid_amount IS NOT NULL GROUP BY paid_currency`;

const PAYMENTS = `
  SELECT 'payments', NULL, rows, 0, 0, 0 FROM bucket_checksums
  WHERE side IN ('payments', 'other payments', 'outside')`;

// Payments that are not compared: the totals have counted them, and only a join can find out whether one of
// them is listed. Mostly there are none.
const outsideOf = (scope: Scope): string => `SELECT p.reference FROM ${paymentsIn(scope)} p
  WHERE NOT ${isWritten('p')} AND NOT EXISTS (SELECT FROM history_rows h WHERE h.reference = p.reference)`;

const LESS_OUTSIDE = `
  SELECT 'payments', NULL, -count(*), 0, 0, 0 FROM outside
  UNION ALL
  SELECT 'releases', r.currency, -count(*), 0, 0, -sum(r.amount)
  FROM outside o JOIN releases r ON r.mode = $1 AND r.reference = o.reference GROUP BY r.currency`;

const DIFFERING = `
  SELECT 'history', NULL, 0, 0, count(*), 0 FROM differing WHERE is_listed
  UNION ALL SELECT 'payments', NULL, 0, 0, count(*), 0 FROM differing WHERE is_ours
  UNION ALL SELECT 'releases', NULL, 0, 0, count(*), 0 FROM differing WHERE is_released`;

const SIDES = [HISTORY_AND_RELEASES, ASSUMED_MONEY, PAYMENTS, DIFFERING].join(' UNION ALL ');

/**
 * What each side holds, counted from its own table and not from the match: if the match lost or doubled
 * a row, the sides would not leave the same remainder.
 */
export async function totalsOfSides(
  db: Queryable,
  scope: Scope,
  { isAnyOutside }: Pick<ListTotals, 'isAnyOutside'>,
): Promise<SideTotal[]> {
  const [outside, sides] = isAnyOutside
    ? [`WITH outside AS MATERIALIZED (${outsideOf(scope)})`, `${SIDES} UNION ALL ${LESS_OUTSIDE}`]
    : ['', SIDES];
  return db.query<SideTotal>(
    `${outside} SELECT side, currency, sum(rows)::bigint AS rows, sum(named)::bigint AS named,
       sum(differing)::bigint AS differing, sum(sum)::text AS sum
     FROM (${sides}) counted GROUP BY side, currency`,
    isAnyOutside ? ofScope(scope) : [],
  );
}
