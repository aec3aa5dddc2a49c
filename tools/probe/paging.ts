import { sleep } from '../../src/platform/clock.ts';
import { stringify } from 'lossless-json';
import type { Dialect } from '../../src/gateway/dialect/dialect.ts';
import { HISTORY_PATH } from '../../src/gateway/messages.ts';
import { linkIn, readHints } from '../../src/gateway/history/paging-hints.ts';
import { at, isRecord, numberText, stringOf, type Json } from '../../src/gateway/dialect/json-pointer.ts';
import type { LimitedLine, Said } from './line.ts';
import { CURSORS, BEHIND, NUMBERS, SIZES } from './parameter-names.ts';
import { lastKey, listedOf, placesOf } from './places.ts';

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
type Look = {
  line: LimitedLine;
  /** What each call is asked with. */
  query: Query;
  records: string;
  /** The first answer, and its list in its order. */
  list: Said;
  rows: readonly Json[];
  dialect: Dialect;
};
/** A first page: what it was asked with besides, the answer, and how many rows it has. */
type First = { query: Query; said: Said; length: number };

const PAUSE_MS = 1_000;
const SMALLER_SIZES = [50, 25, 10];

/**
 * What turns the pages, seen in a list that stood still meanwhile: a late list grows at its top, and a row
 * that has moved looks like the next page. It begins once a list that shows some of our payments shows all.
 * Null: nothing that we know changes the list, or it did not stand still.
 */
export async function findPaging(
  look: Omit<Look, 'rows'>,
  references: readonly string[],
): Promise<{ paging: PagingSeen | null; said: Said }> {
  let said = look.list;
  for (;;) {
    const rows = rowsOf(said.json, look.records);
    const listed = listedOf(rows, references);
    const isSettled = listed === 0 || listed === references.length || look.line.isOver();
    const paging = isSettled ? await tryNames({ ...look, list: said, rows }) : null;
    const again = await ask(look, {}, 'history again');
    const isStill = isSame(rowsOf(again.json, look.records), rows);
    if (look.line.isOver()) return { paging: isStill ? paging : null, said: isStill ? again : said };
    said = again;
    if (isStill && isSettled) return { paging, said };
    if (isStill) await sleep(PAUSE_MS);
  }
}

/** Finds what makes a page small, then what turns it, by trying. With fewer than two rows nothing can be seen. */
async function tryNames(look: Look): Promise<PagingSeen | null> {
  if (look.rows.length < 2) return null;
  const { sizeParam: usual, size } = look.dialect.history.paging;
  for (const sizeParam of new Set([usual, ...namesOfNumbers(look, /^[1-9]\d{0,2}$/), ...SIZES])) {
    const query = { [sizeParam]: '1' };
    const said = await ask(look, query, `history with ${sizeParam}`);
    const rows = rowsOf(said.json, look.records);
    if (rows.length !== 1 || !isSame(rows[0], look.rows[0])) continue;
    const next = await findNext(look, { query, said, length: 1 });
    return { sizeParam, next, ...(await smallerThan(look, sizeParam, size)) };
  }
  const next = await findNext(look, { query: {}, said: look.list, length: look.rows.length });
  return next && { sizeParam: null, next };
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
    const said = await ask(look, { [sizeParam]: String(size) }, `history with ${sizeParam}`);
    if (said.status === 200 && Array.isArray(at(said.json, look.records)))
      return size === usual ? {} : { size };
  }
  return {};
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
    const link = linkOf(text);
    if (link === null || link.search === '') continue;
    const path = `${link.pathname}${link.search}`;
    const said = await look.line.ask({ name: 'history by its link', method: 'GET', path });
    if (isNext(look, first, rowsOf(said.json, look.records)[0]))
      return { style: 'link', ...(place !== null && { nextLink: [place] }) };
  }
  return null;
}

function linkOf(text: string): URL | null {
  const base = 'http://service.invalid';
  const url = URL.canParse(text, base) ? new URL(text, base) : null;
  return url?.pathname === HISTORY_PATH ? url : null;
}

/**
 * A number turns the pages: of pages, from 0 or 1, or of rows. A parameter that the service does not know
 * leaves the list as it is. Where the list is one page and nothing makes it smaller, the page behind it is empty.
 */
async function byNumber(look: Look, first: First): Promise<Partial<Keys> | null> {
  const { rows } = look;
  const { pageParam } = look.dialect.history.paging;
  for (const param of new Set([pageParam, ...namesOfNumbers(look, /^[01]$/), ...NUMBERS])) {
    const page = async (number: number, query = first.query): Promise<readonly Json[] | null> => {
      const { status, json } = await ask(
        look,
        { ...query, [param]: String(number) },
        `history with ${param}`,
      );
      return status === 200 && Array.isArray(at(json, look.records)) ? rowsOf(json, look.records) : null;
    };
    const isBehind = (page: readonly Json[]): boolean =>
      isNext(look, first, page[0]) || (first.length === rows.length && page.length === 0);
    const two = await page(2);
    if (two === null || isSame(two[0], rows[0])) continue;
    const one = await page(1);
    if (one === null) continue;
    const paged = (firstPage: 0 | 1): Partial<Keys> => ({ style: 'page', pageParam: param, firstPage });
    if (isSame(one[0], rows[0])) {
      if (isBehind(two)) return paged(1);
    } else if (first.length > 1) {
      if (isSame(one[0], rows[1])) return { style: 'offset', pageParam: param };
      if (isBehind(one) && isSame((await page(0))?.[0], rows[0])) return paged(0);
    } else if (isSame(one[0], rows[1]) && isSame(two[0], rows[2])) {
      // Two at a time: the second page of pages begins with the third row, one row further on with the second.
      const further = await page(1, Object.fromEntries(Object.keys(first.query).map((name) => [name, '2'])));
      if (isSame(further?.[0], rows[2])) return paged(0);
      if (isSame(further?.[0], rows[1])) return { style: 'offset', pageParam: param };
    }
  }
  return null;
}

/** Something beside the rows that the service takes back. */
async function byCursor(look: Look, first: First): Promise<Partial<Keys> | null> {
  for (const [place, text] of textsAround(first.said.json, look.records)) {
    if (!/next|cursor|after|token|marker|continu|bookmark/i.test(place)) continue;
    const name = lastKey(place);
    const derived = [name, name.replace(/^next_?/i, '').replace(/^./, (letter) => letter.toLowerCase())];
    const { cursorParam } = look.dialect.history.paging;
    for (const param of new Set([cursorParam, ...derived.filter((one) => one !== ''), ...CURSORS])) {
      const row = await firstRow(look, { ...first.query, [param]: text }, `history with ${param}`);
      if (isNext(look, first, row)) return { style: 'cursor', cursorParam: param, nextCursor: [place] };
    }
  }
  return null;
}

/** An id of the first row that the service takes back: the second row stands behind it. */
async function behindRow(look: Look, { query }: First): Promise<Partial<Keys> | null> {
  const [row, second] = look.rows;
  const ids = isRecord(row) ? Object.entries(row).filter(([key]) => /id$/i.test(key)) : [];
  for (const [key, value] of ids) {
    const text = numberText(value);
    if (text === null) continue;
    const { cursorParam } = look.dialect.history.paging;
    for (const param of new Set([cursorParam, ...BEHIND])) {
      const next = await firstRow(look, { ...query, [param]: text }, `history with ${param}`);
      if (isSame(next, second))
        return { style: 'cursor', cursorParam: param, cursorFromRow: `/${key.replaceAll('/', '~1')}` };
    }
  }
  return null;
}

function ask({ line, query }: Pick<Look, 'line' | 'query'>, more: Query, name: string): Promise<Said> {
  return line.ask({ name, method: 'GET', path: pathOf({ ...query, ...more }) });
}

async function firstRow(look: Look, query: Query, name: string): Promise<Json> {
  return rowsOf((await ask(look, query, name)).json, look.records)[0];
}

/**
 * Names of numbers beside the list, and in links there: a service may take back under the name under which it
 * answers.
 */
function namesOfNumbers({ list, records }: Look, number: RegExp): string[] {
  const beside = placesOf(list.json, (value) => number.test(numberText(value) ?? ''))
    .filter((place) => !place.startsWith(`${records}/`))
    .map(lastKey);
  const texts = [...textsAround(list.json, records).map(([, text]) => text), String(list.headers.link ?? '')];
  const linked = texts
    .flatMap((text) => text.match(/[^<>\s]+/g) ?? [])
    .flatMap((text) => [...(linkOf(text)?.searchParams ?? [])])
    .filter(([, value]) => number.test(value));
  return [...beside, ...linked.map(([name]) => name)];
}

/** Texts outside of the list, with their places. */
function textsAround(document: Json, records: string): [string, string][] {
  if (records === '') return [];
  return placesOf(document, (value) => stringOf(value) !== null)
    .filter((place) => !place.startsWith(`${records}/`))
    .map((place) => [place, stringOf(at(document, place)) ?? '']);
}

/** Whether the answer promises rows behind the first page. */
export function promisesMore({ json, headers }: Said, length: number, dialect: Dialect): boolean {
  const { hasMore, pageCount, total, link } = readHints(json, headers, dialect.history.paging);
  return hasMore === true || (pageCount ?? 1) > 1 || (total ?? 0) > length || (link ?? 'end') !== 'end';
}

export function isSame(a: Json, b: Json): boolean {
  return a !== undefined && b !== undefined && stringify(a) === stringify(b);
}

export function rowsOf(document: Json, records: string): readonly Json[] {
  const list = at(document, records);
  return Array.isArray(list) ? list : [];
}

export function pathOf(query: Query): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? HISTORY_PATH : `${HISTORY_PATH}?${text}`;
}
