import type { Queryable } from '../../platform/database/database.ts';
import type { CashSums } from './balances.ts';

/** A sum too large for the column is stored in the evidence only. */
const withinBigint = (sum: string): string => `CASE WHEN abs(${sum}) < 9223372036854775807 THEN ${sum} END`;

/**
 * Adds each currency whose balance does not add up to the rows that differ, so that it is raised with
 * them. Call it after all sums of rows were taken: a currency is not a row.
 */
export async function noteDifferences(db: Queryable, lines: readonly CashSums[]): Promise<void> {
  const apart = lines.filter(({ difference }) => difference !== '0');
  await db.query(
    `INSERT INTO classified (reference, class, is_ours, expected, expected_currency, actual, actual_currency,
       is_released, is_to_verify, evidence)
     SELECT 'balance of ' || currency, 'cash_difference', false,
       ${withinBigint("collected::numeric - transferred::numeric - coalesce(fees, '0')::numeric")}, currency,
       ${withinBigint('available::numeric + pending::numeric')}, currency, false, false,
       jsonb_strip_nulls(jsonb_build_object('collected', collected, 'transferred', transferred, 'fees', fees,
         'available', available, 'pending', pending, 'difference', difference, 'unit', 'minor'))
     FROM jsonb_to_recordset($1) AS line
       (currency text, collected text, transferred text, fees text,
         available text, pending text, difference text)`,
    [JSON.stringify(apart)],
  );
}
