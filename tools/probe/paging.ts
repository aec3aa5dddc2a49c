import { stringify } from 'lossless-json';
import type { Dialect } from '../../src/gateway/dialect/dialect.ts';
import { HISTORY_PATH } from '../../src/gateway/messages.ts';
import { linkIn, readHints } from '../../src/gateway/history/paging-hints.ts';
import { at, isRecord, numberText, stringOf, type Json } from '../../src/gateway/dialect/json-pointer.ts';
import type { Said } from './line.ts';
import { CURSORS, BEHIND, NUMBERS, SIZES } from './parameter-names.ts';
import { parentOf, placesOf } from './places.ts';

type Keys = Dialect['history']['paging'];

/** What makes a page small, and what leads to the next one, each seen to work. */
export type PagingSeen = {
  /** Null: nothing that we know makes a page small. */
  sizeParam: string | null;
  /** A size that the service takes, where it refuses the one of the dialect. */
  size?: number;
  /** Null: nothing that we know leads on. */
  next: Partial<Keys> | null;
};

export type Query = Record<string, string>;
type Ask = (query: Query, name: string) => Promise<Said>;
type Look = {
  ask: Ask;
  follow: (path: string) => Promise<Said>;
  records: string;
  /** The first answer, and its list in its order. */
  list: Said;
  rows: readonly Json[];
  dialect: Dialect;
};
/** A first page: what it was asked with, the answer, and how many rows it has. */
type First = { query: Query; said: Said; length: number };

/** A list as long as this may be a page. */
const SHORTEST_PAGE = 10;
const SMALLER_SIZES = [50, 25, 10];

/** Finds what makes a page small, then what turns it, by trying. With fewer than two rows nothing can be seen. */
export async function findPaging(look: Look): Promise<PagingSeen | null> {
  if (look.rows.length < 2) return null;
  const { sizeParam: usual, size } = look.dialect.history.paging;
  for (const sizeParam of new Set([usual, ...namesOfNumbers(look, look.rows.length), ...SIZES])) {
    const query = { [sizeParam]: '1' };
    const said = await look.ask(query, `history with ${sizeParam}`);
    const rows = rowsOf(said.json, look.records);
    if (rows.length !== 1 || !isSame(rows[0], look.rows[0])) continue;
    const next = await findNext(look, { query, said, length: 1 });
    return { sizeParam, next, ...(await smallerThan(look, sizeParam, size)) };
  }
  if (!mayHaveMore(look)) return null;
  return {
    sizeParam: null,
    next: await findNext(look, { query: {}, said: look.list, length: look.rows.length }),
  };
}

async function findNext(look: Look, first: First): Promise<Partial<Keys> | null> {
  return (
    (await byLink(look, first)) ??
    (await byNumber(look, first)) ??
    (await byCursor(look, first)) ??
    (await behindRow(look, first))
  );
}

/** Where the size of the dialect in force is refused, one that is not. */
async function smallerThan(look: Look, sizeParam: string, usual: number): Promise<{ size?: number }> {
  for (const size of [usual, ...SMALLER_SIZES]) {
    const { status, json } = await look.ask({ [sizeParam]: String(size) }, `history with ${sizeParam}`);
    if (status === 200 && Array.isArray(at(json, look.records))) return size === usual ? {} : { size };
  }
  return {};
}

function mayHaveMore({ list, rows, dialect }: Look): boolean {
  const { hasMore, pageCount, total, link } = readHints(list.json, list.headers, dialect.history.paging);
  const isPromised = hasMore === true || (pageCount ?? 1) > 1 || (total ?? 0) > rows.length;
  return isPromised || link !== null || rows.length >= SHORTEST_PAGE;
}

/** Whether the row stands behind the first page: it is the next row, or where that is unknown, none of the rows. */
function isNext({ rows }: Look, { length }: First, row: Json): boolean {
  if (row === undefined) return false;
  return length < rows.length ? isSame(row, rows[length]) : !rows.some((one) => isSame(one, row));
}

/** A link leads to the next row. */
async function byLink(look: Look, first: First): Promise<Partial<Keys> | null> {
  const header = linkIn(first.said.headers.link);
  const places: [string | null, string][] = textsAround(first.said.json, look.records);
  if (header !== null && header !== 'end') places.push([null, header.to]);
  for (const [place, text] of places) {
    if (!URL.canParse(text, 'http://service.invalid')) continue;
    const { pathname, search } = new URL(text, 'http://service.invalid');
    if (pathname !== HISTORY_PATH || search === '') continue;
    const [row] = rowsOf((await look.follow(`${pathname}${search}`)).json, look.records);
    if (isNext(look, first, row)) return { style: 'link', ...(place !== null && { nextLink: [place] }) };
  }
  return null;
}

/** A number turns the pages: of pages, from 0 or 1, or of rows. */
async function byNumber(look: Look, first: First): Promise<Partial<Keys> | null> {
  const { rows } = look;
  const { pageParam } = look.dialect.history.paging;
  const named = [0, 1].flatMap((number) => namesOfNumbers(look, number));
  for (const param of new Set([pageParam, ...named, ...NUMBERS])) {
    const at = (number: number, query = first.query): Promise<Json> =>
      firstRow(look, { ...query, [param]: String(number) }, `history with ${param}`);
    const one = await at(1);
    if (isSame(one, rows[0])) {
      if (isNext(look, first, await at(2))) return { style: 'page', pageParam: param, firstPage: 1 };
    } else if (first.length > 1) {
      if (isSame(one, rows[1])) return { style: 'offset', pageParam: param };
      if (isNext(look, first, one)) return { style: 'page', pageParam: param, firstPage: 0 };
    } else if (isSame(one, rows[1]) && isSame(await at(2), rows[2])) {
      // Two at a time: the second page of pages begins with the third row, one row further on with the second.
      const further = await at(1, Object.fromEntries(Object.keys(first.query).map((name) => [name, '2'])));
      if (isSame(further, rows[2])) return { style: 'page', pageParam: param, firstPage: 0 };
      if (isSame(further, rows[1])) return { style: 'offset', pageParam: param };
    }
  }
  return null;
}

/** Something beside the rows that the service takes back. */
async function byCursor(look: Look, first: First): Promise<Partial<Keys> | null> {
  for (const [place, text] of textsAround(first.said.json, look.records)) {
    if (!/next|cursor|after|token/i.test(place)) continue;
    const name = place.slice(place.lastIndexOf('/') + 1);
    const derived = [name, name.replace(/^next_?/i, '').replace(/^./, (letter) => letter.toLowerCase())];
    const { cursorParam } = look.dialect.history.paging;
    for (const param of new Set([cursorParam, ...derived.filter((one) => one !== ''), ...CURSORS])) {
      const row = await firstRow(look, { ...first.query, [param]: text }, `history with ${param}`);
      if (isNext(look, first, row)) return { style: 'cursor', cursorParam: param, nextCursor: [place] };
    }
  }
  return null;
}

/** A name of the last row that the service takes back. */
async function behindRow(look: Look, first: First): Promise<Partial<Keys> | null> {
  const row = look.rows[first.length - 1];
  const ids = isRecord(row) ? Object.entries(row).filter(([key]) => /id$/i.test(key)) : [];
  for (const [key, value] of ids) {
    const text = numberText(value);
    if (text === null) continue;
    for (const param of BEHIND) {
      const next = await firstRow(look, { ...first.query, [param]: text }, `history with ${param}`);
      if (isNext(look, first, next))
        return { style: 'cursor', cursorParam: param, cursorFromRow: `/${key.replaceAll('/', '~1')}` };
    }
  }
  return null;
}

async function firstRow({ ask, records }: Look, query: Query, name: string): Promise<Json> {
  return rowsOf((await ask(query, name)).json, records)[0];
}

/** Names of the numbers beside the list: a service may take back under the name under which it answers. */
function namesOfNumbers({ list, records }: Look, number: number): string[] {
  return placesOf(list.json, (value) => numberText(value) === String(number))
    .filter(
      (place) => !place.startsWith(`${records}/`) && !place.slice(parentOf(place).length + 1).includes('~'),
    )
    .map((place) => place.slice(parentOf(place).length + 1));
}

/** Texts outside of the list, with their places. */
function textsAround(document: Json, records: string): [string, string][] {
  if (records === '') return [];
  return placesOf(document, (value) => stringOf(value) !== null)
    .filter((place) => !place.startsWith(`${records}/`))
    .map((place) => [place, stringOf(at(document, place)) ?? '']);
}

export function isSame(a: Json, b: Json): boolean {
  return a !== undefined && b !== undefined && stringify(a) === stringify(b);
}

export function rowsOf(document: Json, records: string): readonly Json[] {
  const list = at(document, records);
  return Array.isArray(list) ? list : [];
}
