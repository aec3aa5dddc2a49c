import type { Transaction } from '../../ledger/transaction.ts';

/** The transactions of one mode, newest first. */
export type List = {
  total: number;
  rows(skip: number, take: number): Transaction[];
  /** How many stand before the one of this id; null when there is none. */
  skipTo(id: string): number | null;
};

export type Query = Readonly<Record<string, unknown>>;

/** One page. `page` counts from where its style counts from. */
export type Slice = {
  rows: Transaction[];
  skip: number;
  take: number;
  page: number;
  total: number;
  pageCount: number;
  hasMore: boolean;
};

/** A page, or why there is none. */
export type Paged = Slice | string;

export type Sizes = {
  sizeParam: string;
  size: number;
  maxSize: number;
  tooLarge: 'is clamped' | 'is refused';
};

/** `?page=2&limit=20` in all its spellings. */
export function byNumber(
  list: List,
  query: Query,
  rules: Sizes & { pageParam: string; first: 0 | 1 },
): Paged {
  const take = sizeOf(query, rules);
  if (typeof take === 'string') return take;
  const page = wholeNumber(query[rules.pageParam] ?? String(rules.first), rules.first);
  if (page === null) return `${rules.pageParam} must be a whole number from ${rules.first}`;
  return { ...cut(list, (page - rules.first) * take, take), page };
}

/** `?skip=20&take=20`: rows are counted, not pages. */
export function byOffset(list: List, query: Query, rules: Sizes & { skipParam: string }): Paged {
  const take = sizeOf(query, rules);
  if (typeof take === 'string') return take;
  const skip = wholeNumber(query[rules.skipParam] ?? '0', 0);
  return skip === null ? `${rules.skipParam} must be a whole number from 0` : cut(list, skip, take);
}

/** What comes after the row that the last page ended with, named by its id. */
export function afterId(list: List, query: Query, rules: Sizes & { afterParam: string }): Paged {
  const take = sizeOf(query, rules);
  if (typeof take === 'string') return take;
  const after = query[rules.afterParam];
  if (after === undefined) return cut(list, 0, take);
  const before = typeof after === 'string' ? list.skipTo(after) : null;
  return before === null ? `${rules.afterParam} names no transaction` : cut(list, before + 1, take);
}

/** A cursor that nobody can read: it names the row that the page ended with. */
export function toCursor(id: string): string {
  return Buffer.from(`after:${id}`).toString('base64url');
}

export function fromCursor(cursor: unknown): unknown {
  if (typeof cursor !== 'string') return cursor;
  return Buffer.from(cursor, 'base64url')
    .toString()
    .replace(/^after:/, '');
}

/** The same list from its other end. */
export function oldestFirst(list: List): List {
  const { total } = list;
  return {
    total,
    rows(skip, take) {
      const end = Math.max(total - skip, 0);
      const begin = Math.max(end - take, 0);
      return list.rows(begin, end - begin).reverse();
    },
    skipTo(id) {
      const newer = list.skipTo(id);
      return newer === null ? null : total - 1 - newer;
    },
  };
}

/** All of it at once, whatever was asked for. */
export function whole(list: List): Slice {
  return cut(list, 0, Math.max(list.total, 1));
}

function cut(list: List, skip: number, take: number): Slice {
  const { total } = list;
  return {
    rows: list.rows(skip, take),
    skip,
    take,
    total,
    page: Math.floor(skip / take) + 1,
    pageCount: Math.ceil(total / take),
    hasMore: skip + take < total,
  };
}

function sizeOf(query: Query, { sizeParam, size, maxSize, tooLarge }: Sizes): number | string {
  const asked = wholeNumber(query[sizeParam] ?? String(size), 1);
  if (asked === null) return `${sizeParam} must be a whole number from 1`;
  if (asked > maxSize && tooLarge === 'is refused') return `${sizeParam} must not be above ${maxSize}`;
  return Math.min(asked, maxSize);
}

/** Digits only: `Number('')` and `Number('1e2')` would be numbers too. */
function wholeNumber(text: unknown, least: number): number | null {
  if (typeof text !== 'string' || !/^(0|[1-9]\d{0,8})$/.test(text)) return null;
  return Number(text) >= least ? Number(text) : null;
}
