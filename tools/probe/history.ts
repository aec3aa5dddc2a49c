import type { Dialect } from '../../src/gateway/dialect/dialect.ts';
import { windowsToAsk } from '../../src/gateway/history/windows.ts';
import { HISTORY_PATH } from '../../src/gateway/messages.ts';
import { at, isRecord, type Json } from '../../src/gateway/dialect/json-pointer.ts';
import type { Line, Said } from './line.ts';
import { findPaging, rowsOf, type PagingSeen, type Query } from './paging.ts';
import { commonPlaces, parentOf, placesOf } from './places.ts';

/** What the history showed. */
export type HistorySeen = {
  /** The answer without any parameter. */
  bare: Said;
  /** The parameters without which nothing is listed; null: none are needed. */
  window: { sinceParam: string; untilParam: string; days: number } | null;
  /** Where the list stands; null: our payments were in no list. */
  records: string | null;
  /** Records of our payments, as they stand in the list. */
  rows: readonly Json[];
  /** What walks the pages; null: no parameter that we know changes the answer. */
  paging: PagingSeen | null;
};

/** Names of a window's two ends, as seen in the field. */
const WINDOWS = [
  ['from', 'to'],
  ['since', 'until'],
  ['start_date', 'end_date'],
  ['startDate', 'endDate'],
  ['dateFrom', 'dateTo'],
  ['start', 'end'],
] as const;
const WINDOW_DAYS = 30;

/** Reads the history with and without parameters, until it is clear how it pages or our names for it are used up. */
export async function lookAtHistory(
  line: Line,
  { references, dialect, now }: { references: readonly string[]; dialect: Dialect; now: Date },
): Promise<HistorySeen> {
  const ask = (query: Query, name = 'history'): Promise<Said> =>
    line.ask({ name, method: 'GET', path: pathOf(query) });
  const bare = await ask({}, 'history without parameters');
  let records = listIn(bare.json, references);
  let window: HistorySeen['window'] = null;
  let list: Said = bare;
  if (records === null) {
    for (const [sinceParam, untilParam] of windowNames(dialect)) {
      const query = windowQuery({ sinceParam, untilParam, days: WINDOW_DAYS }, now);
      list = await ask(query, `history with ${sinceParam} and ${untilParam}`);
      records = listIn(list.json, references);
      if (records === null) continue;
      window = { sinceParam, untilParam, days: WINDOW_DAYS };
      break;
    }
  }
  if (records === null) return { bare, window: null, records, rows: [], paging: null };
  const filters = window === null ? {} : windowQuery(window, now);
  const rows = rowsOf(list.json, records);
  const paging = await findPaging({
    ask: (query, name) => ask({ ...filters, ...query }, name),
    follow: (path) => line.ask({ name: 'history by its link', method: 'GET', path }),
    records,
    rows,
    dialect,
  });
  return { bare, window, records, rows: rows.filter((row) => names(row, references)), paging };
}

function windowNames({ history: { paging } }: Dialect): readonly (readonly [string, string])[] {
  const { sinceParam, untilParam } = paging;
  return sinceParam === null || untilParam === null ? WINDOWS : [[sinceParam, untilParam], ...WINDOWS];
}

/** The newest window, as the integrator asks. */
function windowQuery({ sinceParam, untilParam, days }: NonNullable<HistorySeen['window']>, now: Date): Query {
  const [newest] = windowsToAsk({ windowDays: days }, { until: now });
  return { [sinceParam]: newest?.since ?? '', [untilParam]: newest?.until ?? '' };
}

/** The list of objects in which one of our references stands. */
function listIn(document: Json, references: readonly string[]): string | null {
  const place = placesOf(document, (value) => typeof value === 'string' && references.includes(value))[0];
  if (place === undefined) return null;
  for (let around = parentOf(place); ; around = parentOf(around)) {
    if (Array.isArray(at(document, around))) return around;
    if (around === '') return null;
  }
}

function names(row: Json, references: readonly string[]): boolean {
  return (
    isRecord(row) && references.some((reference) => commonPlaces([row], (v) => v === reference).length > 0)
  );
}

function pathOf(query: Query): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? HISTORY_PATH : `${HISTORY_PATH}?${text}`;
}
