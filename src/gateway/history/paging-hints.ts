import type { ClientAnswer } from '../http/client.ts';
import { at, isRecord, numberText, tryReadJson, type Json } from '../dialect/json-pointer.ts';

/** What an answer says about the rest of the list. Null: nothing. */
export type PagingHints = {
  hasMore: boolean | null;
  pageCount: number | null;
  total: number | null;
  cursor: NextHint;
  link: NextHint;
};

/** The hints of an answer that says nothing. */
export const NO_HINTS: PagingHints = {
  hasMore: null,
  pageCount: null,
  total: null,
  cursor: null,
  link: null,
};

/** Where the next page is; `end`: the field is there and empty; null: there is no such field. */
export type NextHint = { to: string } | 'end' | null;

// Where known services put them: beside the rows, or in an object of their own.
const PLACES = [
  '',
  '/meta',
  '/meta/page_info',
  '/meta/pagination',
  '/pagination',
  '/paging',
  '/page_info',
  '/data',
  '/data/meta',
  '/data/pagination',
];
const HAS_MORE = [
  'hasNextPage',
  'has_next_page',
  'hasMore',
  'has_more',
  'hasNext',
  'has_next',
  'has_next_pages',
];
const PAGE_COUNT = ['pageCount', 'page_count', 'totalPages', 'total_pages', 'lastPage', 'last_page'];
const TOTAL = [
  'total',
  'totalCount',
  'total_count',
  'totalItems',
  'total_items',
  'totalRecords',
  'total_records',
];

/** Reads the envelope and the headers. Numbers may be strings; any other value counts as absent. */
export function readHints(
  envelope: Json,
  headers: ClientAnswer['headers'],
  paging: { nextCursor: readonly string[]; nextLink: readonly string[]; totalHeader: string | null },
): PagingHints {
  const places = PLACES.map((pointer) => at(envelope, pointer)).filter(isRecord);
  return {
    hasMore: pick(places, HAS_MORE, truthOf),
    pageCount: pick(places, PAGE_COUNT, countOf),
    total: pick(places, TOTAL, countOf) ?? countOf(headers[paging.totalHeader?.toLowerCase() ?? '']),
    cursor: follow(envelope, paging.nextCursor),
    link: follow(envelope, paging.nextLink) ?? linkIn(headers.link),
  };
}

/** A `Link` header of RFC 8288. Without links to other pages it says nothing about pages. */
export function linkIn(header: string | string[] | undefined): NextHint {
  const links = [...String(header ?? '').matchAll(/<([^<>]*)>[^<>]*?;\s*rel="?([^",;<>]+)/gi)];
  const to = links.find(([, , relations = '']) => /\bnext\b/i.test(relations))?.[1];
  if (to !== undefined) return { to };
  return links.some(([, , relations = '']) => /\b(first|last|prev|previous)\b/i.test(relations))
    ? 'end'
    : null;
}

/** The cursor is a field of the page's last record. A page without records is the end. */
export function behindRow(hints: PagingHints, row: Buffer | null, pointer: string): PagingHints {
  const name = row === null ? null : numberText(at(tryReadJson(row), pointer));
  return { ...hints, cursor: name === null || hints.hasMore === false ? 'end' : { to: name } };
}

function pick<T>(
  places: readonly Record<string, Json>[],
  names: readonly string[],
  read: (value: Json) => T | null,
): T | null {
  for (const place of places) {
    for (const name of names) {
      const value = Object.hasOwn(place, name) ? read(place[name]) : null;
      if (value !== null) return value;
    }
  }
  return null;
}

function truthOf(value: Json): boolean | null {
  if (value === true || value === 'true') return true;
  return value === false || value === 'false' ? false : null;
}

function countOf(value: Json): number | null {
  const text = numberText(value) ?? '';
  return /^\d{1,12}$/.test(text) ? Number(text) : null;
}

function follow(envelope: Json, pointers: readonly string[]): NextHint {
  for (const pointer of pointers) {
    const value = at(envelope, pointer);
    if (value === null || value === '' || value === false) return 'end';
    const text = numberText(value);
    if (text !== null) return { to: text };
  }
  return null;
}
