import type { Dialect } from '../dialect/dialect.ts';
import type { NextHint, PagingHints } from './paging-hints.ts';
import type { AskedWindow } from './windows.ts';
import { HISTORY_PATH } from '../messages.ts';

/** Facts about the page just read. */
type PageSeen = {
  /** Pages read, this one included. */
  pages: number;
  /** Records of this page, and of the first one. */
  records: number;
  firstPageRecords: number;
  /** Records of all pages so far. */
  received: number;
  /** The page shows the very first record of the list again. */
  hasStartedOver: boolean;
  /** Every transaction of the page was also on the page before or on the first one. */
  hasNoNewRows: boolean;
  hints: PagingHints;
};

export type NextPage =
  | { is: 'ask'; path: string }
  /**
   * The list was read to its end. `isAssumed`: nothing in the answers said that it ends there; `isPart`: the
   * rest is older than what is wanted.
   */
  | { is: 'whole'; isAssumed?: true; isPart?: true }
  /** The list has more than we got, or we cannot rule that out. */
  | { is: 'cut'; reason: string };

type Paging = { firstPath: string; next(seen: PageSeen): NextPage; largestTotal(): number };

/** With pages of a hundred: ten million transactions. A longer list is taken for an endless one. */
const MAX_PAGES = 100_000;
/** Empty pages in a row that are tolerated in a list that promises more. */
const MAX_EMPTY_PAGES = 3;
/** Common page sizes. On a first page of such a size, a total may count the page and not the list. */
const USUAL_SIZES = new Set([10, 20, 25, 30, 50, 100, 200, 250, 500, 1_000]);
/** An end that no answer confirms: reconciliation looks for payments beyond it. */
const ASSUMED_END: NextPage = { is: 'whole', isAssumed: true };

type Rule = (seen: PageSeen) => NextPage;

/**
 * Decides how a window of the history is walked. When in doubt it calls the list cut: no payment may be
 * called absent from a list that is not whole.
 * @param totalBefore the largest total that pages showed before this reading was resumed
 */
export function createPaging(dialect: Dialect, window: AskedWindow, totalBefore = 0): Paging {
  const { style, size } = dialect.history.paging;
  const paths = createHistoryPaths(dialect.history.paging, window);
  const byNumber = countingUp(paths, size);
  const byCursor: Rule = (seen) => follow(seen, seen.hints.cursor, paths.byCursor);
  const byLink: Rule = (seen) => follow(seen, seen.hints.link, paths.byLink);
  const rules: Record<typeof style, Rule> = {
    none: endOf,
    page: byNumber,
    offset: byNumber,
    cursor: byCursor,
    link: byLink,
    auto: (seen) => {
      const { link, cursor } = seen.hints;
      if (link !== null && link !== 'end') return byLink(seen);
      if (cursor !== null && cursor !== 'end') return byCursor(seen);
      const isToldEnd = link === 'end' || cursor === 'end';
      return isToldEnd && !promisesMore(seen) ? { is: 'whole' } : byNumber(seen);
    },
  };
  const asked = new Set([paths.first]);
  let largestTotal = totalBefore;
  return {
    firstPath: paths.first,
    largestTotal: () => largestTotal,
    next: (seen) => {
      const total = seen.hints.total ?? largestTotal;
      // A removed record has moved later ones across a page boundary, into a page that was already read.
      if (total < largestTotal) return cut('the history became shorter while it was read');
      largestTotal = total;
      const step = rules[style](seen);
      if (step.is !== 'ask') return step;
      if (asked.has(step.path)) return cut('the pages of the history lead in a circle');
      if (seen.pages >= MAX_PAGES) return cut(`the history has no end after ${MAX_PAGES} pages`);
      asked.add(step.path);
      return step;
    },
  };
}

/** Page after page, until one says that it is the last, is empty, or adds nothing new. */
function countingUp(paths: HistoryPaths, size: number): Rule {
  let emptyPages = 0;
  return (seen) => {
    const { hints, pages, records, received } = seen;
    // The service ignores the page number, or starts over after its last page.
    if (seen.hasStartedOver) return promisesMore(seen) ? endOf(seen) : ASSUMED_END;
    const next: NextPage = { is: 'ask', path: paths.byNumber(pages, received) };
    if (promisesMore(seen)) {
      emptyPages = records === 0 ? emptyPages + 1 : 0;
      const isStuck = emptyPages > MAX_EMPTY_PAGES || (records > 0 && seen.hasNoNewRows);
      return isStuck ? endOf(seen) : next;
    }
    const isToldEnd =
      hints.hasMore === false ||
      hints.pageCount !== null ||
      // "total" on a full first page may count the page and not the list; below what came, it does.
      (hints.total === received && (pages > 1 || !isUsualSize(records, size)));
    // Without a stated end, a short page may have been clamped. One more call costs less than a cut list.
    if (isToldEnd) return { is: 'whole' };
    return records === 0 || seen.hasNoNewRows ? ASSUMED_END : next;
  };
}

function follow(seen: PageSeen, hint: NextHint, toPath: (to: string) => string | null): NextPage {
  if (hint === null) return promisesMore(seen) ? endOf(seen) : ASSUMED_END;
  if (hint === 'end') return endOf(seen);
  const path = toPath(hint.to);
  return path === null
    ? cut('the history links to a page that is not part of the history')
    : { is: 'ask', path };
}

function promisesMore({ hints, pages, received }: PageSeen): boolean {
  return (
    hints.hasMore === true ||
    (hints.pageCount !== null && hints.pageCount > pages) ||
    (hints.total !== null && hints.total > received)
  );
}

/** There is no next page: the list is whole, unless the answers promised more. */
function endOf(seen: PageSeen): NextPage {
  if (!promisesMore(seen)) return { is: 'whole' };
  const { total } = seen.hints;
  const promised = total !== null && total > seen.received ? `${total} records` : 'more records';
  return cut(
    `the history promises ${promised} and gave ${seen.received}: check history.paging in the dialect`,
  );
}

function isUsualSize(records: number, size: number): boolean {
  return records === size || USUAL_SIZES.has(records);
}

function cut(reason: string): NextPage {
  return { is: 'cut', reason };
}

/** The addresses of the history's pages. */
type HistoryPaths = {
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
