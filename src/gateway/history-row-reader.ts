import type { Dialect } from './dialect.ts';
import { createCarefulReader } from './history-row-careful.ts';
import { createQuickReader } from './history-row-quick.ts';
import type { ReadRow } from './history-row.ts';

/**
 * Reads records as the dialect says: those that are written like one before without parsing them, all others with care.
 * The two never differ (`history-row-quick.test.ts`).
 * @param assumedCurrency what an amount without a currency is in, where the dialect allows that; null: unknown
 */
export function createRowReader(dialect: Dialect, assumedCurrency: string | null): ReadRow {
  const quick = createQuickReader(dialect);
  const readWithCare = createCarefulReader(dialect, assumedCurrency, quick.learn);
  return (bytes, start, end) => quick.read(bytes, start, end) ?? readWithCare(bytes, start, end);
}
