import type { Queryable } from '../../platform/database.ts';
import type { Mode } from '../../platform/mode.ts';
import { HORIZON_SEC } from '../../settlement/schedule.ts';
import type { ReconciliationClass } from '../classes.ts';
import { CLASS_OF_ROW, IS_TO_VERIFY } from './rules.ts';

/** What is compared: payments written in the window and before the run began, and everything the history lists. */
export type Scope = { mode: Mode; startedAt: Date; since: Date | null; until: Date | null; isCut: boolean };

// $1 mode, $2 started at, $3 since, $4 until. Everything the history lists is compared, whenever it was written.
const IN_WINDOW = `p.created_at < $2 AND ($3::timestamptz IS NULL OR p.created_at >= $3)
  AND ($4::timestamptz IS NULL OR p.created_at < $4)`;

// One row per reference, from either side or both: the 1:1 match on (mode, reference), set-wise.
const MATCHED = `
  SELECT coalesce(h.reference, p.reference) AS reference, h.status AS there, h.charges,
    CASE WHEN h.is_money_assumed THEN coalesce(h.amount, p.amount) ELSE h.amount END AS paid_amount,
    CASE WHEN h.is_money_assumed THEN coalesce(h.currency, p.currency) ELSE h.currency END AS paid_currency,
    p.reference IS NOT NULL AS is_ours, p.order_id, p.status AS here, p.amount, p.currency, p.created_at,
    r.id IS NOT NULL AS is_settled, r.amount AS settled_amount, r.released_at, r.verification_id
  FROM history_rows h
  FULL JOIN (SELECT * FROM payments WHERE mode = $1) p ON p.reference = h.reference
  LEFT JOIN releases r ON r.mode = $1 AND r.reference = p.reference
  WHERE h.reference IS NOT NULL OR (${IN_WINDOW})`;

// The facts that the rules speak of. What costs a look into another table is looked at only where a rule may need it:
// a row that is paid on both sides with the same money needs none.
const COMPARED = `
  SELECT m.*, o.order_id AS other_mode_order, o.amount AS other_mode_amount, o.currency AS other_mode_currency,
    NOT m.is_ours AND o.reference IS NOT NULL AS is_of_other_mode,
    m.paid_amount = m.amount AND m.paid_currency = m.currency AS is_exact,
    m.paid_currency = m.currency AND m.paid_amount <> m.amount AND m.paid_amount > 0 AND EXISTS (
      SELECT FROM generate_series(1, 18) power
      WHERE greatest(m.paid_amount, m.amount) = least(m.paid_amount, m.amount) * 10::numeric ^ power
    ) AS is_power_of_ten_apart,
    v.outcome AS answered,
    coalesce(v.outcome IN ('paid', 'underpaid', 'overpaid', 'unit_error', 'currency_mismatch', 'mode_mismatch'), false)
      AS is_money_answered,
    m.is_ours AND NOT m.is_settled AND m.there = 'paid' AND EXISTS (
      SELECT FROM releases paid WHERE paid.order_id = m.order_id) AS is_order_paid,
    m.here IN ('sending', 'open', 'ambiguous', 'held') AS is_watched,
    m.created_at < $2::timestamptz - interval '${HORIZON_SEC} s' AS is_beyond_horizon,
    coalesce(m.released_at >= $2, false) AS is_settled_since_start,
    m.is_settled AND (late.first_closed < m.verification_id OR m.released_at > m.created_at + interval '${HORIZON_SEC} s')
      AS is_late,
    asked.reference IS NOT NULL AS was_verified_now, coalesce(asked.has_released, false) AS was_released_now,
    $5::boolean AS is_cut
  FROM (${MATCHED}) m
  LEFT JOIN payments o ON NOT m.is_ours AND o.reference = m.reference
  LEFT JOIN verified_payments asked ON asked.reference = m.reference
  LEFT JOIN (
    SELECT reference, min(id) AS first_closed FROM verifications WHERE outcome IN ('failed', 'expired') GROUP BY reference
  ) late ON late.reference = m.reference
  LEFT JOIN LATERAL (
    SELECT outcome FROM verifications
    WHERE (m.is_settled AND m.there = 'paid' AND m.paid_amount = m.amount AND m.paid_currency = m.currency) IS NOT TRUE
      AND reference = m.reference AND id > coalesce(m.verification_id, 0)
    ORDER BY id DESC LIMIT 1
  ) v ON true`;

/** Puts every row into its one class: table `classified`, made anew. Call it inside a snapshot. */
export async function classify(db: Queryable, scope: Scope): Promise<void> {
  await db.query('DROP TABLE IF EXISTS classified');
  await db.query(`
    CREATE TEMPORARY TABLE classified (
      reference text NOT NULL, class text NOT NULL, is_ours boolean NOT NULL, order_id text,
      expected bigint, expected_currency text, actual bigint, actual_currency text,
      settled bigint, is_settled boolean NOT NULL, is_to_verify boolean NOT NULL)`);
  await db.query(
    `INSERT INTO classified
     SELECT reference, class, is_ours, coalesce(order_id, other_mode_order), coalesce(amount, other_mode_amount),
       coalesce(currency, other_mode_currency), CASE WHEN there = 'paid' THEN paid_amount END,
       CASE WHEN there = 'paid' THEN paid_currency END, settled_amount, is_settled, ${IS_TO_VERIFY}
     FROM (SELECT *, ${CLASS_OF_ROW} AS class FROM (${COMPARED}) compared) ruled`,
    [scope.mode, scope.startedAt, scope.since, scope.until, scope.isCut],
  );
}

/** How many rows each class has, and how many of them are payments of ours. */
export async function countClasses(
  db: Queryable,
): Promise<{ class: ReconciliationClass; rows: bigint; payments: bigint }[]> {
  return db.query(
    `SELECT class, count(*) AS rows, count(*) FILTER (WHERE is_ours) AS payments FROM classified GROUP BY class ORDER BY class`,
  );
}

/** One sum of the accounting identity, in minor units as text: sums outgrow a bigint before their parts do. */
export type Sum = {
  part: 'service' | 'settled' | 'class';
  class: ReconciliationClass | null;
  currency: string;
  sum: string;
};

/**
 * The three sides of the identity, each from its own source: what was paid from the history, what was settled from the
 * releases, and what lies between from the classes. Were a row lost or counted twice, they would not add up.
 */
export async function sumMoney(db: Queryable, scope: Scope): Promise<Sum[]> {
  return db.query<Sum>(
    `SELECT 'service' AS part, NULL AS class, coalesce(h.currency, p.currency) AS currency,
       sum(coalesce(h.amount, p.amount))::text AS sum
     FROM history_rows h LEFT JOIN payments p ON h.is_money_assumed AND p.reference = h.reference AND p.mode = $1
     WHERE h.status = 'paid' AND coalesce(h.amount, p.amount) IS NOT NULL GROUP BY 3
     UNION ALL
     SELECT 'settled', NULL, r.currency, sum(r.amount)::text
     FROM releases r JOIN payments p USING (reference)
     WHERE r.mode = $1 AND ((${IN_WINDOW}) OR EXISTS (SELECT FROM history_rows h WHERE h.reference = r.reference))
     GROUP BY r.currency
     UNION ALL
     SELECT 'class', class, currency, sum(amount)::text FROM (
       SELECT class, actual_currency AS currency, actual AS amount FROM classified WHERE actual IS NOT NULL
       UNION ALL
       SELECT class, expected_currency, -settled FROM classified WHERE is_settled
     ) money
     WHERE class NOT IN ('matched', 'matched_late', 'repaired') GROUP BY class, currency`,
    [scope.mode, scope.startedAt, scope.since, scope.until],
  );
}

/** Payments to ask about, those that look paid there and open here first; how many there are in all. */
export async function paymentsToVerify(
  db: Queryable,
  limit: number,
): Promise<{ references: string[]; waiting: number }> {
  const rows = await db.query<{ reference: string; total: bigint }>(
    `SELECT reference, count(*) FILTER (WHERE NOT is_settled) OVER () AS total FROM classified WHERE is_to_verify
     ORDER BY is_settled, reference LIMIT $1`,
    [limit],
  );
  const waiting = Math.max(Number(rows[0]?.total ?? 0n) - limit, 0);
  return { references: rows.map(({ reference }) => reference), waiting };
}
