import { AGE_BOUNDS_SEC } from '../../cases/age.ts';
import type { OpenWork } from '../../reporting/shop-state.sql.ts';
import { PAGE_ROWS, type ListFilter } from './filter.ts';

/** The part of a list to read: a page, and one more row to see whether there is a next page. */
export type Wanted = {
  after: bigint;
  limit: number;
  class: string | null;
  ageFromSec: number | null;
  ageBelowSec: number | null;
};

export function wantedBy({ class: name, age, after }: ListFilter): Wanted {
  const bounds = age === null ? null : AGE_BOUNDS_SEC[age];
  return {
    after: BigInt(after ?? 0),
    limit: PAGE_ROWS + 1,
    class: name,
    ageFromSec: bounds?.fromSec ?? null,
    ageBelowSec: bounds?.belowSec ?? null,
  };
}

/** @param counts of all open items: there may be far more than one page */
export function pageOf<Row extends { id: bigint }>(
  found: readonly Row[],
  counts: readonly Pick<OpenWork, 'class' | 'age' | 'count'>[],
  { class: name, age }: ListFilter,
): { rows: readonly Row[]; classes: string[]; count: number; next: string | null } {
  const rows = found.slice(0, PAGE_ROWS);
  return {
    rows,
    classes: [...new Set(counts.map((row) => row.class))].sort(),
    count: counts
      .filter((row) => (name === null || row.class === name) && (age === null || row.age === age))
      .reduce((sum, row) => sum + row.count, 0),
    next: found.length > PAGE_ROWS ? String(rows.at(-1)?.id) : null,
  };
}
