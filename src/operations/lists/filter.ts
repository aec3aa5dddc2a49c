import { fitting } from '../pages/query.ts';

/** How long something has been open. */
export const AGES = ['<1d', '1-7d', '7-30d', '>30d'] as const;
export type Age = (typeof AGES)[number];

export const PAGE_ROWS = 100;

/** What of a work list is looked at. */
export type ListFilter = { class: string | null; age: Age | null; after: string | null };

export function readFilter(query: Record<string, unknown>): ListFilter {
  return {
    class: fitting(query.class, /^[a-z_]{1,40}$/),
    age: AGES.find((age) => age === query.age) ?? null,
    after: fitting(query.after, /^\d{1,18}$/),
  };
}

/** @param days whole days since it was opened */
export function ageOfDays(days: number): Age {
  if (days < 1) return '<1d';
  if (days < 7) return '1-7d';
  return days < 30 ? '7-30d' : '>30d';
}

/** A page of the items that fit, oldest first as they are given, and the item after which the next page begins. */
export function pageOf<Item extends { id: bigint; class: string; age: Age }>(
  items: readonly Item[],
  filter: ListFilter,
): { rows: Item[]; next: string | null; count: number } {
  const fitting = items.filter(
    (item) =>
      (filter.class === null || item.class === filter.class) &&
      (filter.age === null || item.age === filter.age),
  );
  const start = fitting.findIndex(({ id }) => String(id) === filter.after) + 1;
  const rows = fitting.slice(start, start + PAGE_ROWS);
  const last = rows.at(-1);
  const hasMore = fitting.length > start + PAGE_ROWS && last !== undefined;
  return { rows, next: hasMore ? String(last.id) : null, count: fitting.length };
}

/** The filter as parameters of an address, from an item on. */
export function filterParams(filter: ListFilter, after: string | null): Record<string, string> {
  const given = Object.entries({ ...filter, after }).filter(([, value]) => value !== null);
  return Object.fromEntries(given) as Record<string, string>;
}
