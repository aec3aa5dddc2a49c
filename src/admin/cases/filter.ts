import { AGE_BOUNDS_SEC, type Age } from '../../cases/findings.ts';
import { fitting } from '../layout/query.ts';

const AGES = ['<1d', '1-7d', '7-30d', '>30d'] as const;
/** How long something has been open, as people say it. */
export const AGE_NAMES: Readonly<Record<Age, string>> = {
  '<1d': 'less than a day',
  '1-7d': '1 to 7 days',
  '7-30d': '7 to 30 days',
  '>30d': 'more than 30 days',
};

export const PAGE_ROWS = 100;

/** Which part of the list is shown. */
export type CaseFilter = {
  class: string | null;
  age: Age | null;
  owner: string | null;
  /** Part of a reference, an order's id or a customer's address. */
  q: string | null;
  after: string | null;
};

/** Which cases are read; what is null or left out does not apply. */
export type Wanted = {
  references?: readonly string[] | null;
  class?: string | null;
  ageFromSec?: number | null;
  ageBelowSec?: number | null;
  /** {@link UNASSIGNED}: cases without one. */
  owner?: string | null;
  /** A part of the reference, of the order's id or of the customer's address. */
  words?: string | null;
};

export const UNASSIGNED = '-';

export function readFilter(query: Record<string, unknown>): CaseFilter {
  const text = (name: string): string | null => fitting(query[name], /^\s*\S[^]{0,253}$/)?.trim() ?? null;
  return {
    class: fitting(query.class, /^[a-z_]{1,40}$/),
    age: AGES.find((age) => age === query.age) ?? null,
    owner: text('owner'),
    q: text('q'),
    after: fitting(query.after, /^\d{1,16}\.[a-z]{1,10}-\d{1,18}$/),
  };
}

/** The filter as parameters of an address, for the page after a case. */
export function filterParams(filter: CaseFilter, after: string | null): Record<string, string> {
  const given = Object.entries({ ...filter, after }).filter(([, value]) => value !== null);
  return Object.fromEntries(given) as Record<string, string>;
}

export function wantedBy({ class: name, age, owner, q }: CaseFilter): Wanted {
  const bounds = age === null ? null : AGE_BOUNDS_SEC[age];
  return {
    class: name,
    ageFromSec: bounds?.fromSec ?? null,
    ageBelowSec: bounds?.belowSec ?? null,
    owner,
    words: q,
  };
}
