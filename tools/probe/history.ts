import { sleep, type Clock } from '../../src/platform/clock.ts';
import type { Dialect } from '../../src/gateway/dialect/dialect.ts';
import { at, isRecord, type Json } from '../../src/gateway/dialect/json-pointer.ts';
import { limited, type Line, type LimitedLine, type Said } from './line.ts';
import { findPaging, pathOf, rowsOf, type PagingSeen, type Query } from './paging.ts';
import { isOneOf, listedOf, parentOf, placesOf } from './places.ts';
import { NOTHING, ours, walk, type Walked } from './walk.ts';
import { nameOf, windowQuery, windowsToTry, type Window } from './windows.ts';

/** What the history showed. */
export type HistorySeen = {
  /** The answer without any parameter. */
  bare: Said;
  /** The parameters without which nothing is listed; null: none are needed. */
  window: Window | null;
  /** Where the list stands; null: no list was seen that can be that of our payments. */
  records: string | null;
  /** What walks the pages; null: no parameter that we know changes the answer. */
  paging: PagingSeen | null;
  /** Records of our payments, and how they were found. */
  walked: Walked;
  /** Seconds from the end of verify's questions until the list showed our payments, and as verify does; null: not yet. */
  listedSec: number | null;
  agreedSec: number | null;
  calls: { made: number; max: number };
};

export type HistoryParts = {
  references: readonly string[];
  /** Words that verify shows since somebody paid. */
  paidWords: readonly string[];
  dialect: Dialect;
  clock: Clock;
  /** By the clock, when verify knew all that it is going to say. */
  knownMs: number;
  /** At most so many calls are made. */
  maxCalls: number;
  /** A list may lag behind verify. For so long it is asked again. */
  lagMs: number;
};

const PAUSE_MS = 1_000;

type Look = { window: Window | null; query: Query; said: Said; records: string };
type Found = {
  list: Pick<HistorySeen, 'bare' | 'window' | 'records' | 'paging'>;
  walked: Walked;
  query: Query;
  /** Windows that the service did not refuse. */
  taken: readonly Window[];
};

/**
 * Reads the history with and without parameters, until it is clear how it pages, or our names for it or the calls
 * are used up.
 */
export async function lookAtHistory(anyLine: Line, parts: HistoryParts): Promise<HistorySeen> {
  const { clock, knownMs, references, paidWords, maxCalls } = parts;
  const end = clock.elapsedMs() + parts.lagMs;
  const line = limited(anyLine, maxCalls, () => clock.elapsedMs() > end);
  const sinceKnown = (): number => Math.round((clock.elapsedMs() - knownMs) / 1_000);
  let found = await findList(line, parts);
  while (listedOf(found.walked.rows, references) < references.length && !line.isOver()) {
    await sleep(PAUSE_MS);
    found = await lookAgain(line, parts, found);
  }
  let { walked } = found;
  const seen = (listedSec: number | null, agreedSec: number | null): HistorySeen => {
    return { ...found.list, walked, listedSec, agreedSec, calls: { made: line.made(), max: maxCalls } };
  };
  if (walked.rows.length === 0) return seen(null, null);
  const listedSec = sinceKnown();
  for (;;) {
    const paid = walked.rows.filter((row) => isOneOf(row, references.slice(0, 1)));
    if (paid.some((row) => isOneOf(row, paidWords))) return seen(listedSec, sinceKnown());
    if (paidWords.length === 0 || walked.path === null || line.isOver()) return seen(listedSec, null);
    await sleep(PAUSE_MS);
    const said = await line.ask({ name: 'history again', method: 'GET', path: walked.path });
    if (said.status === null) continue;
    const page = rowsOf(said.json, found.list.records ?? '');
    walked = { ...walked, page, rows: ours(said, found.list.records, references) };
  }
}

/** The list of our payments: first without parameters, then in a window of time. */
async function findList(
  line: LimitedLine,
  parts: HistoryParts,
  again: readonly Window[] | null = null,
): Promise<Found> {
  const { dialect, references, clock } = parts;
  const ask = (query: Query, name: string): Promise<Said> =>
    line.ask({ name, method: 'GET', path: pathOf(query) });
  const bare = await ask({}, 'history without parameters');
  const taken: Window[] = [];
  const lookIn = async (window: Window | null): Promise<Look | null> => {
    const query = window === null ? {} : windowQuery(window, clock.now());
    const said = window === null ? bare : await ask(query, nameOf(window));
    if (said.status !== 200) return null;
    if (window !== null) taken.push(window);
    const records = listIn(said.json, references);
    return records === null ? null : { window, query, said, records };
  };
  for (const window of [null, ...(again ?? windowsToTry(dialect, bare.text))]) {
    let seen = await lookIn(window);
    // The list may still have been empty when it was asked with a time of day.
    if (seen !== null && window?.windowFormat === 'date')
      seen = (await lookIn({ ...window, windowFormat: 'date-time' })) ?? seen;
    if (seen === null) continue;
    const { query, records } = seen;
    const look = { line, query, records, list: seen.said, dialect };
    const { paging, said } = await findPaging(look, references);
    const walked = await walk(line, { ...parts, first: said, query, records, paging, from: null });
    return { list: { bare, window: seen.window, records, paging }, walked, query, taken };
  }
  const list = { bare, window: null, records: null, paging: null };
  return { list, walked: NOTHING, query: {}, taken };
}

/** Our payments may have come to the list since. */
async function lookAgain(line: LimitedLine, parts: HistoryParts, found: Found): Promise<Found> {
  const { query, list } = found;
  const { records, paging } = list;
  if (records === null || paging === null) return findList(line, parts, found.taken);
  const first = await line.ask({ name: 'history again', method: 'GET', path: pathOf(query) });
  const all = ours(first, records, parts.references);
  if (all.length > 0)
    return {
      ...found,
      walked: {
        ...found.walked,
        rows: all,
        page: rowsOf(first.json, records),
        pages: 1,
        path: pathOf(query),
      },
    };
  const { path: from, pages } = found.walked;
  const walked = await walk(line, { ...parts, first, query, records, paging, from });
  return { ...found, walked: { ...walked, pages: pages + walked.pages } };
}

/** The list of objects in which one of our references stands; else the longest one. */
function listIn(document: Json, references: readonly string[]): string | null {
  const place = placesOf(document, (value) => typeof value === 'string' && references.includes(value))[0];
  if (place !== undefined) {
    for (let around = parentOf(place); ; around = parentOf(around)) {
      if (Array.isArray(at(document, around))) return around;
      if (around === '') return null;
    }
  }
  const lists = placesOf(
    document,
    (value) => Array.isArray(value) && value.length > 0 && value.every(isRecord),
  );
  // Not the parts of a record.
  const outer = lists.filter(
    (list) => !lists.some((other) => other !== list && list.startsWith(`${other}/`)),
  );
  const [longest] = outer.sort((a, b) => rowsOf(document, b).length - rowsOf(document, a).length);
  return longest ?? null;
}
