import { fitting } from '../layout/query.ts';

/** How long something has been open. */
export const AGES = ['<1d', '1-7d', '7-30d', '>30d'] as const;
export type Age = (typeof AGES)[number];

export const PAGE_ROWS = 100;

/** Which part of a work list is shown. */
export type ListFilter = { class: string | null; age: Age | null; after: string | null };

export function readFilter(query: Record<string, unknown>): ListFilter {
  return {
    class: fitting(query.class, /^[a-z_]{1,40}$/),
    age: AGES.find((age) => age === query.age) ?? null,
    after: fitting(query.after, /^\d{1,18}$/),
  };
}

/** The filter as parameters of an address, for the page after an item. */
export function filterParams(filter: ListFilter, after: string | null): Record<string, string> {
  const given = Object.entries({ ...filter, after }).filter(([, value]) => value !== null);
  return Object.fromEntries(given) as Record<string, string>;
}
