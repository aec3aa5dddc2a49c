import { systemClock } from '../platform/clock.ts';
import type { Dialect } from './dialect.ts';
import { HISTORY_PATH } from './messages.ts';

/** Which part of the history is asked for, where the dialect can say so. By creation: the only time both sides share. */
export type HistoryWindow = { since?: Date | undefined; until?: Date | undefined };

/** The addresses of the history's pages. */
export type HistoryPaths = {
  first: string;
  /** The page after `pages` pages with `received` records in them. */
  byNumber(pages: number, received: number): string;
  byCursor(cursor: string): string;
  /** Null: the link does not lead to the history. */
  byLink(link: string): string | null;
};

/** The clocks of both sides and the time zone of a filter may differ. Too much is joined away, too little is missed. */
const MARGIN_MS = 24 * 60 * 60 * 1_000;

const DAY_MS = 24 * 60 * 60 * 1_000;

/** The window of a run, or the one that the dialect sends where the run has none. */
export function windowOf(
  { windowDays }: Pick<Dialect['history']['paging'], 'windowDays'>,
  { since, until }: HistoryWindow,
  clock = systemClock,
): HistoryWindow {
  if (windowDays === null) return { since, until };
  const end = until ?? clock.now();
  return { since: since ?? new Date(end.getTime() - windowDays * DAY_MS), until: end };
}

export function createHistoryPaths(
  paging: Dialect['history']['paging'],
  window: HistoryWindow,
): HistoryPaths {
  const { since, until } = windowOf(paging, window);
  const { style, pageParam, firstPage, sizeParam, size, cursorParam, sinceParam, untilParam } = paging;
  const filters = {
    ...(sinceParam !== null && since && { [sinceParam]: shifted(since, -MARGIN_MS) }),
    ...(untilParam !== null && until && { [untilParam]: shifted(until, MARGIN_MS) }),
  };
  const sized = { ...filters, [sizeParam]: String(size) };
  const byNumber = (pages: number, received: number): string =>
    pathWith({ ...sized, [pageParam]: String(style === 'offset' ? received : firstPage + pages) });
  const firsts: Record<typeof style, string> = {
    none: pathWith(filters),
    page: byNumber(0, 0),
    offset: byNumber(0, 0),
    cursor: pathWith(sized),
    link: pathWith(sized),
    auto: byNumber(0, 0),
  };
  return {
    first: firsts[style],
    byNumber,
    byCursor: (cursor) => pathWith({ ...sized, [cursorParam]: cursor }),
    byLink: pathOfLink,
  };
}

function shifted(date: Date, ms: number): string {
  return new Date(date.getTime() + ms).toISOString();
}

function pathWith(parameters: Record<string, string>): string {
  const query = new URLSearchParams(parameters).toString();
  return query === '' ? HISTORY_PATH : `${HISTORY_PATH}?${query}`;
}

/** A link may name any host; we only ever ask our own, and only for history. */
function pathOfLink(link: string): string | null {
  const base = `http://service.invalid${HISTORY_PATH}`;
  if (!URL.canParse(link, base)) return null;
  const { pathname, search } = new URL(link, base);
  return pathname === HISTORY_PATH ? `${pathname}${search}` : null;
}
