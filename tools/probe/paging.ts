import { stringify } from 'lossless-json';
import type { Dialect } from '../../src/gateway/dialect/dialect.ts';
import { HISTORY_PATH } from '../../src/gateway/messages.ts';
import {
  at,
  at as valueAt,
  isRecord,
  numberText,
  stringOf,
  type Json,
} from '../../src/gateway/dialect/json-pointer.ts';
import type { Said } from './line.ts';
import { placesOf } from './places.ts';

type Keys = Dialect['history']['paging'];

/** The size of a page, and what leads to the next one, each seen to work. */
export type PagingSeen = {
  sizeParam: string;
  /** Null: nothing that we know leads on. */
  next: Partial<Keys> | null;
};

export type Query = Record<string, string>;
type Ask = (query: Query, name: string) => Promise<Said>;
type Look = {
  ask: Ask;
  follow: (path: string) => Promise<Said>;
  records: string;
  /** The list as it comes without sizes, in its order. */
  rows: readonly Json[];
  dialect: Dialect;
};

const SIZES = [
  'limit',
  'perPage',
  'per_page',
  'size',
  'pageSize',
  'page_size',
  'count',
  'take',
  'page[size]',
];
const NUMBERS = ['page', 'skip', 'offset', 'pageNumber', 'page_number', 'page[number]'];
const CURSORS = ['cursor', 'after', 'next', 'page_token', 'starting_after'];
const BEHIND = ['starting_after', 'after', 'after_id', 'last_id', 'from'];

/** Finds what makes a page small, then what turns it, by trying. With fewer than two rows nothing can be seen. */
export async function findPaging(look: Look): Promise<PagingSeen | null> {
  const { paging } = look.dialect.history;
  if (look.rows.length < 2) return null;
  for (const sizeParam of new Set([paging.sizeParam, ...SIZES])) {
    const first = await look.ask({ [sizeParam]: '1' }, `history with ${sizeParam}`);
    const rows = rowsOf(first.json, look.records);
    if (rows.length !== 1 || !isSame(rows[0], look.rows[0])) continue;
    const next =
      (await byLink(look, first)) ??
      (await byNumber(look, sizeParam)) ??
      (await byCursor(look, sizeParam, first)) ??
      (await behindRow(look, sizeParam));
    return { sizeParam, next };
  }
  return null;
}

/** A link leads to the second row. */
async function byLink(look: Look, first: Said): Promise<Partial<Keys> | null> {
  for (const [place, text] of textsAround(first.json, look.records)) {
    if (!URL.canParse(text, 'http://service.invalid')) continue;
    const { pathname, search } = new URL(text, 'http://service.invalid');
    if (pathname !== HISTORY_PATH || search === '') continue;
    const [row] = rowsOf((await look.follow(`${pathname}${search}`)).json, look.records);
    if (isSame(row, look.rows[1])) return { style: 'link', nextLink: [place] };
  }
  return null;
}

/** A number turns the pages: of pages, from 0 or 1, or of rows. */
async function byNumber(look: Look, sizeParam: string): Promise<Partial<Keys> | null> {
  const { pageParam } = look.dialect.history.paging;
  for (const param of new Set([pageParam, ...NUMBERS])) {
    const at = (number: number, size = 1): Promise<Json> =>
      firstRow(look, { [sizeParam]: String(size), [param]: String(number) }, `history with ${param}`);
    const [one, two] = [await at(1), await at(2)];
    if (isSame(one, look.rows[0]) && isSame(two, look.rows[1]))
      return { style: 'page', pageParam: param, firstPage: 1 };
    if (!isSame(one, look.rows[1]) || !isSame(two, look.rows[2])) continue;
    // Two at a time: the second page of pages begins with the third row, one row further on with the second.
    const further = await at(1, 2);
    if (isSame(further, look.rows[2])) return { style: 'page', pageParam: param, firstPage: 0 };
    if (isSame(further, look.rows[1])) return { style: 'offset', pageParam: param };
  }
  return null;
}

/** Something beside the rows that the service takes back. */
async function byCursor(look: Look, sizeParam: string, first: Said): Promise<Partial<Keys> | null> {
  for (const [place, text] of textsAround(first.json, look.records)) {
    if (!/next|cursor|after|token/i.test(place)) continue;
    for (const param of new Set([look.dialect.history.paging.cursorParam, ...CURSORS])) {
      const row = await firstRow(look, { [sizeParam]: '1', [param]: text }, `history with ${param}`);
      if (isSame(row, look.rows[1])) return { style: 'cursor', cursorParam: param, nextCursor: [place] };
    }
  }
  return null;
}

/** A name of the last row that the service takes back. */
async function behindRow(look: Look, sizeParam: string): Promise<Partial<Keys> | null> {
  const [row] = look.rows;
  const ids = isRecord(row) ? Object.entries(row).filter(([key]) => /id$/i.test(key)) : [];
  for (const [key, value] of ids) {
    const text = numberText(value);
    if (text === null) continue;
    for (const param of BEHIND) {
      const next = await firstRow(look, { [sizeParam]: '1', [param]: text }, `history with ${param}`);
      if (isSame(next, look.rows[1]))
        return { style: 'cursor', cursorParam: param, cursorFromRow: `/${key.replaceAll('/', '~1')}` };
    }
  }
  return null;
}

async function firstRow({ ask, records }: Look, query: Query, name: string): Promise<Json> {
  return rowsOf((await ask(query, name)).json, records)[0];
}

/** Texts outside of the list, with their places. */
function textsAround(document: Json, records: string): [string, string][] {
  if (records === '') return [];
  const texts: [string, string][] = [];
  placesOf(document, (value) => stringOf(value) !== null).forEach((place) => {
    if (place.startsWith(`${records}/`)) return;
    const text = stringOf(valueAt(document, place));
    if (text !== null) texts.push([place, text]);
  });
  return texts;
}

function isSame(a: Json, b: Json): boolean {
  return a !== undefined && b !== undefined && stringify(a) === stringify(b);
}

export function rowsOf(document: Json, records: string): readonly Json[] {
  const list = at(document, records);
  return Array.isArray(list) ? list : [];
}
