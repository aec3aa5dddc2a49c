import type { List, Query } from './paging.ts';

/** A window of creation times, in milliseconds since 1970; `until` is not in it any more. */
export type Window = { since: number; until: number };

const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** `?from=…&to=…`; null where one of the two is no time. */
export function windowIn({ from, to }: Query): Window | null {
  const [since, until] = [timeOf(from), timeOf(to)];
  return since === null || until === null ? null : { since, until };
}

/**
 * Both days and all between them, an hour ahead of UTC; null where one of the two is no date, or has a time.
 */
export function datesIn(query: Query): Window | null {
  const isDate = (text: unknown): boolean => typeof text === 'string' && /^\d{4}-\d\d-\d\d$/.test(text);
  const window = isDate(query.from) && isDate(query.to) ? windowIn(query) : null;
  return window && { since: window.since - HOUR_MS, until: window.until + DAY_MS - HOUR_MS };
}

/** The list of those that were created in the window, in its order. */
export function within(list: List, { since, until }: Window): List {
  const rows = list.rows(0, list.total).filter(({ createdAt }) => {
    const at = Date.parse(createdAt);
    return at >= since && at < until;
  });
  return {
    total: rows.length,
    rows: (skip, take) => rows.slice(skip, skip + take),
    skipTo: (id) => {
      const at = rows.findIndex((row) => row.id === id);
      return at === -1 ? null : at;
    },
  };
}

function timeOf(text: unknown): number | null {
  const ms = typeof text === 'string' ? Date.parse(text) : NaN;
  return Number.isNaN(ms) ? null : ms;
}
