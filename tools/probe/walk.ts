import { stringify } from 'lossless-json';
import type { Dialect } from '../../src/gateway/dialect/dialect.ts';
import { behindRow, readHints, type PagingHints } from '../../src/gateway/history/paging-hints.ts';
import { createPaging, createHistoryPaths } from '../../src/gateway/history/paging.ts';
import { isRecord, type Json } from '../../src/gateway/dialect/json-pointer.ts';
import { isOneOf } from './places.ts';
import type { LimitedLine, Said } from './line.ts';
import { isSame, rowsOf, type PagingSeen, type Query } from './paging.ts';

/** How our payments were found in the list. */
export type Walked = {
  /** Records of our payments, as they stand in the list. */
  rows: readonly Json[];
  /** All records of the page on which the first of them stands, or else of the last page. */
  page: readonly Json[];
  /** Pages that were read. */
  pages: number;
  /** Of the page on which the first of them stands, or else of the last page; null: there is no list. */
  path: string | null;
  /** First and last records of the pages that were read: how old the oldest is. */
  edges: readonly Json[];
};

export const NOTHING: Walked = { rows: [], page: [], pages: 0, path: null, edges: [] };

type WalkParts = {
  references: readonly string[];
  dialect: Dialect;
  /** The first answer, and what it was asked with. */
  first: Said;
  query: Query;
  records: string;
  paging: PagingSeen | null;
  /** Begins at this page. */
  from: string | null;
};

/** Turns the pages as the program does, until all our payments are seen, or no page or call is left. */
export async function walk(line: LimitedLine, parts: WalkParts): Promise<Walked> {
  const { records, references, paging, first, query } = parts;
  const rowsHere = rowsOf(first.json, records);
  const edges = [rowsHere[0], rowsHere.at(-1)];
  const found = ours(first, records, references);
  const whole = { rows: found, page: rowsHere, pages: 1, path: first.path, edges };
  if (!paging?.next) return whole;
  const dialect = readWith(parts.dialect, paging);
  const turning = createPaging(dialect, NO_WINDOW);
  const turn = createTurner(line, { ...parts, dialect });
  let path = withQuery(parts.from ?? turning.firstPath, query);
  let received = 0;
  const all: Json[] = [];
  let place: Page | null = null;
  let beginning: Page | null = null;
  for (let pages = 1; ; pages += 1) {
    const page = await turn(path);
    beginning ??= page;
    edges.push(page.rows[0], page.rows.at(-1));
    if (page.ours.length > 0) place ??= page;
    const seen = { pages, path: (place ?? page).path, page: (place ?? page).rows, edges };
    all.push(...page.ours);
    if (pages === 1 && parts.from === null) {
      const end = await atTheEnd(turn, dialect, page, query);
      edges.push(...end.edges);
      if (found.length === 0 && end.rows.length > 0) return { ...end, edges, pages: end.pages + 1 };
    }
    // Those of the first page may go on over the next ones.
    if (found.length === references.length || (found.length > 0 && page.ours.length === 0))
      return { ...whole, rows: all.length > 0 ? all : found, pages };
    if (all.length >= references.length) return { ...seen, rows: all };
    received += page.rows.length;
    const step = turning.next({
      pages,
      records: page.rows.length,
      firstPageRecords: beginning.rows.length,
      received,
      hasStartedOver: pages > 1 && isSame(page.rows[0], beginning.rows[0]),
      hasNoNewRows: false,
      hints: page.hints,
    });
    if (step.is !== 'ask') return { ...seen, rows: all };
    if (line.left() <= 0) return { ...seen, rows: all, path: place?.path ?? null };
    path = withQuery(step.path, query);
  }
}

type Page = { path: string; rows: readonly Json[]; ours: Json[]; hints: PagingHints };
type Turner = (path: string) => Promise<Page>;

function createTurner(line: LimitedLine, { records, references, dialect }: WalkParts): Turner {
  const { paging } = dialect.history;
  return async (path) => {
    const said = await line.ask({ name: 'history by pages', method: 'GET', path });
    const rows = rowsOf(said.json, records);
    const hints = readHints(said.json, said.headers, paging);
    const last = rows.at(-1);
    const bytes = last === undefined ? null : Buffer.from(stringify(last) ?? '');
    return {
      path,
      rows,
      ours: ours(said, records, references),
      hints: paging.cursorFromRow === null ? hints : behindRow(hints, bytes, paging.cursorFromRow),
    };
  };
}

/** The last page and the one before, where the first one says how many there are and numbers turn them. */
async function atTheEnd(
  turn: Turner,
  dialect: Dialect,
  { rows, hints }: Page,
  query: Query,
): Promise<Walked> {
  const { paging } = dialect.history;
  const count = hints.pageCount ?? Math.ceil((hints.total ?? 0) / Math.max(rows.length, 1));
  if ((paging.style !== 'page' && paging.style !== 'offset') || count < 3) return NOTHING;
  const paths = createHistoryPaths(paging, NO_WINDOW);
  const [last, before] = [count - 1, count - 2].map((pages) =>
    withQuery(paths.byNumber(pages, pages * rows.length), query),
  );
  const end = await turn(last ?? '');
  const edges = [end.rows[0], end.rows.at(-1)];
  if (end.ours.length === 0) return { ...NOTHING, edges };
  const around = await turn(before ?? '');
  const path = around.ours.length > 0 ? before : last;
  return { rows: [...around.ours, ...end.ours], page: end.rows, pages: 2, path: path ?? null, edges };
}

const NO_WINDOW = { since: null, until: null };

function withQuery(path: string, query: Query): string {
  const { pathname, searchParams } = new URL(path, 'http://service.invalid');
  for (const [name, value] of Object.entries(query)) searchParams.set(name, value);
  return `${pathname}?${searchParams.toString()}`;
}

/** The dialect in force with the paging that was seen. */
function readWith(dialect: Dialect, { sizeParam, size, next }: PagingSeen): Dialect {
  const paging = {
    ...dialect.history.paging,
    ...next,
    ...(sizeParam !== null && { sizeParam }),
    ...(size !== undefined && { size }),
  };
  return { ...dialect, history: { ...dialect.history, paging } };
}

export function ours({ json }: Said, records: string | null, references: readonly string[]): Json[] {
  return records === null
    ? []
    : rowsOf(json, records).filter((row) => isRecord(row) && isOneOf(row, references));
}
