import type { Queryable } from '../../platform/database.ts';
import type { CashSums } from './proof.ts';

/**
 * Puts each currency whose balance does not add up beside the rows that differ, to be raised with them. Call it when all sums of
 * rows are taken: a currency is no row.
 */
export async function noteDifferences(db: Queryable, lines: readonly CashSums[]): Promise<void> {
  const apart = lines.filter(({ difference }) => difference !== '0');
  await db.query(
    `INSERT INTO classified (reference, class, is_ours, expected, expected_currency, actual, actual_currency,
       is_settled, is_to_verify, evidence)
     SELECT 'balance of ' || currency, 'cash_difference', false, collected::numeric - transferred::numeric, currency,
       available::numeric + pending::numeric, currency, false, false,
       jsonb_build_object('collected', collected, 'transferred', transferred, 'available', available, 'pending', pending,
         'difference', difference, 'unit', 'minor')
     FROM jsonb_to_recordset($1) AS line
       (currency text, collected text, transferred text, available text, pending text, difference text)`,
    [JSON.stringify(apart)],
  );
}
