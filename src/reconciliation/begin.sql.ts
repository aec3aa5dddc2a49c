import type { Queryable } from '../platform/database/database.ts';
import { ORDER_REFERENCE_PATTERN, type OrderId, type Reference, type RunId } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import { createTableAs } from './working-tables.ts';

// A record without a readable reference may be ours, so it is never taken.
const FOREIGN = `NOT c.is_ours AND c.class IN ('unknown_reference', 'unreadable') AND EXISTS (
  SELECT FROM history_rows h WHERE h.reference = c.reference AND h.is_named)`;

const UNPAID = `NOT d.is_released AND d.here <> 'held'
  AND c.class IN ('open', 'absent_from_history', 'history_truncated')`;

const HAS_OUR_FORM = `c.reference ~ '${ORDER_REFERENCE_PATTERN.source}'`;

// Paid, or held, at the sandbox. What went back there stays; what verify knows anything of, the rules leave.
const PAID_AT_SANDBOX = `$1 = 'test' AND c.class <> 'reversed' AND (d.here = 'held' OR d.is_released)`;

/**
 * Marks in `differing` what a begin takes beside what earlier ones took, and lists it in the new table
 * `taken`: named transactions that are not ours, and payments of ours that the list lacks, unpaid ones and in
 * test mode also paid ones. Writes nothing that lasts. Call it after `classify`, and compare again after it.
 * @param evenOfOurForm also those that are not ours and whose references have the form of ours: after a
 * restore they are payments that the database has lost
 */
export async function takeBefore(db: Queryable, mode: Mode, evenOfOurForm: boolean): Promise<void> {
  await db.query(
    createTableAs(
      'taken',
      `SELECT reference, c.is_ours, d.order_id, d.here, d.is_released, c.actual, c.actual_currency,
         d.there, d.charges, d.paid_amount, d.paid_currency
       FROM classified c JOIN differing d USING (reference)
       WHERE NOT d.is_before
         AND ((${FOREIGN}) AND ($2 OR NOT ${HAS_OUR_FORM})
           OR c.is_ours AND NOT d.is_listed AND ((${UNPAID}) OR (${PAID_AT_SANDBOX})))`,
    ),
    [mode, evenOfOurForm],
  );
  await db.query('UPDATE differing d SET is_before = true FROM taken WHERE taken.reference = d.reference');
}

// What verify, a webhook or another process said meanwhile is not excused, so it is not taken either.
const TAKEN = `taken JOIN classified c USING (reference) WHERE c.class = 'before_begin'`;

/** What a begin takes as before, or would take. Sums in minor units as text. */
export type Taken = {
  /** Transactions that are not ours. */
  transactions: number;
  /** Not taken, because their references have the form of ours. */
  formOfOurs: number;
  /** What they were paid. */
  money: { currency: string; sum: string }[];
  /** Payments of ours. */
  payments: number;
  /** Of those the first {@link MAX_SHOWN}, paid ones first. */
  shown: { reference: Reference; orderId: OrderId; status: string; isReleased: boolean }[];
};

const MAX_SHOWN = 100;

/** Counts what {@link takeBefore} took and the comparison after it let stand. */
export async function totalsOfTaken(db: Queryable): Promise<Taken> {
  const [counts = { transactions: 0, formOfOurs: 0, payments: 0 }] = await db.query<
    Pick<Taken, 'transactions' | 'formOfOurs' | 'payments'>
  >(
    `SELECT count(*) FILTER (WHERE NOT taken.is_ours)::int AS transactions,
       (SELECT count(*) FROM classified c WHERE ${FOREIGN} AND ${HAS_OUR_FORM})::int AS "formOfOurs",
       count(*) FILTER (WHERE taken.is_ours)::int AS payments FROM ${TAKEN}`,
  );
  const money = await db.query<Taken['money'][number]>(
    `SELECT taken.actual_currency AS currency, sum(taken.actual)::text AS sum FROM ${TAKEN}
       AND NOT taken.is_ours AND taken.actual > 0 AND taken.actual_currency IS NOT NULL GROUP BY 1
         ORDER BY 1`,
  );
  const shown = await db.query<Taken['shown'][number]>(
    `SELECT reference, taken.order_id AS "orderId", taken.here AS status, taken.is_released AS "isReleased"
     FROM ${TAKEN} AND taken.is_ours ORDER BY taken.is_released DESC, reference LIMIT ${MAX_SHOWN}`,
  );
  return { ...counts, money, shown };
}

export type BeginRow = { by: string; note: string; begunAt: Date; runId: RunId };

/**
 * Keeps who began, and what is before. The sentinels go: they may be of another service's list. Call it in
 * the transaction that concludes the run.
 */
export async function recordBegin(
  db: Queryable,
  mode: Mode,
  { by, note, begunAt, runId }: BeginRow,
): Promise<void> {
  await db.query(
    `INSERT INTO reconciliation_begins (mode, begun_at, begun_by, note, run_id) VALUES ($1, $2, $3, $4, $5)`,
    [mode, begunAt, by, note, runId],
  );
  await db.query(
    `INSERT INTO before_begin (mode, reference, begun_at, there, charges, amount, currency)
     SELECT $1, reference, $2, there, charges, paid_amount, paid_currency FROM ${TAKEN}
     ON CONFLICT (mode, reference) DO UPDATE SET begun_at = excluded.begun_at, there = excluded.there,
       charges = excluded.charges, amount = excluded.amount, currency = excluded.currency`,
    [mode, begunAt],
  );
  await db.query('DELETE FROM history_sentinels WHERE mode = $1', [mode]);
}
