import type { Dialect } from '../dialect/dialect.ts';
import type { AskedWindow } from './windows.ts';
import { HISTORY_PATH } from '../messages.ts';

/** The addresses of the history's pages. */
export type HistoryPaths = {
  first: string;
  /** The page after `pages` pages with `received` records in them. */
  byNumber(pages: number, received: number): string;
  byCursor(cursor: string): string;
  /** Null: the link does not lead to the history. */
  byLink(link: string): string | null;
};

export function createHistoryPaths(
  paging: Dialect['history']['paging'],
  { since, until }: AskedWindow,
): HistoryPaths {
  const { style, pageParam, firstPage, sizeParam, size, cursorParam, sinceParam, untilParam } = paging;
  const filters = {
    ...(sinceParam !== null && since !== null && { [sinceParam]: since }),
    ...(untilParam !== null && until !== null && { [untilParam]: until }),
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

function pathWith(parameters: Record<string, string>): string {
  const query = new URLSearchParams(parameters).toString();
  return query === '' ? HISTORY_PATH : `${HISTORY_PATH}?${query}`;
}

/** A link may name any host; only its path and query are used, and only for history on our own service. */
function pathOfLink(link: string): string | null {
  const base = `http://service.invalid${HISTORY_PATH}`;
  if (!URL.canParse(link, base)) return null;
  const { pathname, search } = new URL(link, base);
  return pathname === HISTORY_PATH ? `${pathname}${search}` : null;
}
