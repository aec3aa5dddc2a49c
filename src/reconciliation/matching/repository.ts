import type { Queryable } from '../../platform/database.ts';
import type { Mode } from '../../platform/mode.ts';
import { HORIZON_SEC } from '../../settlement/schedule.ts';

/** What is compared: payments written in the window and before the run began, and everything the history lists. */
export type Scope = { mode: Mode; startedAt: Date; since: Date | null; until: Date | null; isCut: boolean };

export const IN_SCOPE = ['mode', 'startedAt', 'since', 'until'] as const satisfies readonly (keyof Scope)[];
// $1 mode, $2 started at, $3 since, $4 until. Everything the history lists is compared, whenever it was written.
const IN_WINDOW = `p.created_at < $2 AND ($3::timestamptz IS NULL OR p.created_at >= $3)
  AND ($4::timestamptz IS NULL OR p.created_at < $4)`;
const OF_SCOPE = (scope: Scope): unknown[] => IN_SCOPE.map((name) => scope[name]);

const IS_LATE = `p.reference IS NOT NULL AND r.id IS NOT NULL AND
  (closed.first_closed < r.verification_id OR r.released_at > p.created_at + interval '${HORIZON_SEC} s')`;
const CLOSED = `
  SELECT reference, min(id) AS first_closed FROM verifications WHERE outcome IN ('failed', 'expired') GROUP BY reference`;

/**
 * Paid there, once, and released here for the same money, in time: the class `matched`. Nearly every row of nearly every
 * run is such a one, so they are not carried on: they are what the totals hold beyond the rows that differ.
 */
const IS_PLAINLY_MATCHED = `h.status = 'paid' AND h.charges = 1 AND NOT h.is_money_assumed
  AND h.amount = r.amount AND h.currency = r.currency AND h.amount = p.amount AND h.currency = p.currency
  AND (${IS_LATE}) IS NOT TRUE`;

// One row per reference, from either side or both: the 1:1 match on (mode, reference), set-wise.
const SIDES = `history_rows h
  FULL JOIN (SELECT * FROM payments WHERE mode = $1) p ON p.reference = h.reference
  LEFT JOIN releases r ON r.mode = $1 AND r.reference = p.reference
  LEFT JOIN (${CLOSED}) closed ON closed.reference = r.reference`;

/** Table `differing`, made anew: every row that is not plainly matched. Call it inside a snapshot. */
export async function matchSides(db: Queryable, scope: Scope): Promise<void> {
  await db.query('DROP TABLE IF EXISTS differing');
  await db.query(
    `CREATE TEMPORARY TABLE differing AS
     SELECT coalesce(h.reference, p.reference) AS reference, h.reference IS NOT NULL AS is_listed,
       h.status AS there, h.charges, h.is_money_assumed AS is_assumed,
       CASE WHEN h.is_money_assumed THEN coalesce(h.amount, p.amount) ELSE h.amount END AS paid_amount,
       CASE WHEN h.is_money_assumed THEN coalesce(h.currency, p.currency) ELSE h.currency END AS paid_currency,
       p.reference IS NOT NULL AS is_ours, p.order_id, p.status AS here, p.amount, p.currency, p.created_at,
       r.id IS NOT NULL AS is_settled, r.amount AS settled_amount, r.released_at, r.verification_id,
       (${IS_LATE}) IS TRUE AS is_late
     FROM ${SIDES}
     WHERE (h.reference IS NOT NULL OR (${IN_WINDOW}))
       AND ((${IS_PLAINLY_MATCHED}) IS NOT TRUE OR p.reference IN (SELECT reference FROM contested))`,
    OF_SCOPE(scope),
  );
  await db.query('ANALYZE differing');
}

/**
 * Looks at the payments of `differing` again: some were settled since, by this run or by another door. Payments that
 * are plainly matched cannot change, and payments written since are not compared.
 */
export async function matchAgain(db: Queryable, scope: Scope): Promise<void> {
  await db.query(
    `UPDATE differing d SET here = p.status, is_settled = r.id IS NOT NULL, settled_amount = r.amount,
       released_at = r.released_at, verification_id = r.verification_id, is_late = (${IS_LATE}) IS TRUE
     FROM payments p
     LEFT JOIN releases r ON r.mode = $1 AND r.reference = p.reference
     LEFT JOIN LATERAL (SELECT min(id) AS first_closed FROM verifications v
       WHERE v.reference = p.reference AND outcome IN ('failed', 'expired')) closed ON true
     WHERE d.is_ours AND p.mode = $1 AND p.reference = d.reference
       AND (d.here, d.is_settled) IS DISTINCT FROM (p.status, r.id IS NOT NULL)`,
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

/**
 * What each side holds, counted from its own table and not from the match: were a row lost or matched twice in there,
 * the sides would not leave the same remainder.
 */
export async function totalsOfSides(db: Queryable, scope: Scope): Promise<SideTotal[]> {
  return db.query<SideTotal>(
    `WITH beyond AS MATERIALIZED (
       SELECT p.reference FROM payments p WHERE p.mode = $1 AND NOT (${IN_WINDOW})
     ), outside AS MATERIALIZED (
       SELECT reference FROM beyond b WHERE NOT EXISTS (SELECT FROM history_rows h WHERE h.reference = b.reference)
     )
     SELECT 'history' AS side, currency, count(*) AS rows, count(*) FILTER (WHERE is_named) AS named, 0::bigint AS differing,
       coalesce(sum(amount) FILTER (WHERE status = 'paid' AND NOT is_money_assumed), 0)::text AS sum
     FROM history_rows GROUP BY currency
     UNION ALL
     -- Money that the list does not name is what was asked for, so only the match can tell it.
     SELECT 'history', paid_currency, 0, 0, 0, sum(paid_amount)::text FROM differing
     WHERE is_assumed AND there = 'paid' AND paid_amount IS NOT NULL GROUP BY paid_currency
     UNION ALL SELECT 'history', NULL, 0, 0, count(*), '0' FROM differing WHERE is_listed
     UNION ALL
     SELECT 'payments', NULL, count(*) - (SELECT count(*) FROM outside), 0,
       (SELECT count(*) FROM differing WHERE is_ours), '0' FROM payments WHERE mode = $1
     UNION ALL
     SELECT 'releases', r.currency, count(*), 0, 0, sum(r.amount)::text FROM releases r
     WHERE r.mode = $1 AND NOT EXISTS (SELECT FROM outside o WHERE o.reference = r.reference) GROUP BY r.currency
     UNION ALL SELECT 'releases', NULL, 0, 0, count(*), '0' FROM differing WHERE is_settled`,
    OF_SCOPE(scope),
  );
}
