import { sleep } from '../../platform/clock.ts';
import type { Dialect } from '../dialect/dialect.ts';
import { asUnavailable, GatewayUnavailable } from '../errors.ts';
import { isFailedCall } from '../records/evidence.ts';
import { isPast, type Bound, type AskedWindow } from './windows.ts';
import { behindRow, readHints, type PagingHints } from './paging-hints.ts';
import type { NextPage } from './paging.ts';
import type { RepeatDetector, RepeatState } from './repeat-detector.ts';
import type { RowCollector } from './row.ts';
import { RecordStreamError, type RowReader } from './row-reader.ts';
import type { Client } from '../http/client.ts';
import { throwOnErrorStatus } from '../verify.ts';

/** Some rows of the history, in the service's order. */
export type HistoryBatch<Rows> = {
  rows: Rows;
  /** Pages begun so far. */
  pages: number;
  /** Null until the last batch, which is empty. */
  end: HistoryEnd | null;
  /** The current page broke off and is read again: its rows are repeated. */
  isPageAgain?: boolean;
  /** At the end of a page: where a reading that has all rows so far can resume. Null within a page. */
  checkpoint: HistoryCheckpoint | null;
};

/** A place between two pages. Plain data, to be kept and given to a later {@link readHistory}. */
export type HistoryCheckpoint = {
  /** The current window, and those to ask for after it. */
  windows: readonly AskedWindow[];
  next: NextPage;
  /** Of all windows so far. */
  pages: number;
  /** Of the current window, like all fields below. */
  windowPages: number;
  received: number;
  firstPageRecords: number;
  largestTotal: number;
  hints: PagingHints;
  repeats: RepeatState;
};

/**
 * `complete`: nothing says that the list has more; `isAssumed`: nothing says that it ends there, either;
 * `isPart`: older transactions were left out.
 * If the reading is not complete, no payment may be called absent from the list.
 */
export type HistoryEnd =
  { complete: true; isAssumed?: true; isPart?: true } | { complete: false; reason: string };

/** How a page ended. A page not read to its end gives no hints. */
export type PageEnd = {
  records: number;
  hints: PagingHints | null;
  /** Why it is not whole; null: it is. */
  cut: string | null;
  /** What follows it is older than the bound of the request. */
  isPast?: boolean;
};

export type PageRequest = {
  path: string;
  /** Its number, from 1. */
  pages: number;
  maxBytes: number;
  /** Null: all pages are wanted. */
  bound: Bound | null;
  signal?: AbortSignal | undefined;
};

export type PageReader<Rows> = {
  client: Client;
  dialect: Dialect;
  rowReader: RowReader;
  collector: RowCollector<Rows>;
  repeats: RepeatDetector;
};

const HEADERS_MS = 10_000;
/** A page has this long. A list without pages gets as much again, as long as records keep coming. */
const PAGE_MS = 30_000;
const RECORDS_THAT_MOVE = 10_000;
const MAX_LIST_MS = 15 * 60_000;
/** Rows handed over at a time: few, so that the garbage collector finds them while they are young. */
const BATCH_ROWS = 500;

/**
 * Reads one answer of the history as it arrives, in batches of rows.
 * @throws {GatewayUnavailable} no answer, or it broke off; earlier rows have been handed over
 * @throws {GatewayKeyRefused}
 */
export async function* readPage<Rows>(
  { client, dialect, rowReader, collector, repeats }: PageReader<Rows>,
  { path, pages, maxBytes, bound, signal: outer }: PageRequest,
): AsyncGenerator<HistoryBatch<Rows>, PageEnd> {
  const over = new AbortController();
  const signal = outer === undefined ? over.signal : AbortSignal.any([outer, over.signal]);
  const seen = { records: 0, hasStartedOver: false };
  const { cursorFromRow } = dialect.history.paging;
  const keepsRows = cursorFromRow !== null || bound !== null;
  let first: Buffer | null = null;
  let last: Buffer | null = null;
  const take = (bytes: Buffer, start: number, end: number): void => {
    seen.hasStartedOver ||= !repeats.look(bytes, start, end);
    if (seen.hasStartedOver) return;
    rowReader.read(bytes, start, end);
    seen.records += 1;
    if (!keepsRows) return;
    last = Buffer.from(bytes.subarray(start, end));
    first ??= last;
  };
  const cutter = rowReader.cutRecords(take);
  const cutShort = (reason: string): PageEnd => ({ records: seen.records, hints: null, cut: reason });
  const portion = () => ({ rows: collector.handOver(), pages, end: null, checkpoint: null });
  void abortWhenStuck(over, () => seen.records);
  try {
    const limits = { maxBytes, headersMs: HEADERS_MS, totalMs: MAX_LIST_MS, signal };
    const answer = await client.stream({ method: 'GET', path, ...limits });
    throwOnErrorStatus(answer);
    if (answer.status !== 200) return cutShort(`the service answers history with HTTP ${answer.status}`);
    for await (const chunk of answer.body) {
      cutter.push(chunk);
      if (seen.hasStartedOver) break;
      if (collector.count() >= BATCH_ROWS) yield portion();
    }
    if (collector.count() > 0) yield portion();
    const { records } = seen;
    if (seen.hasStartedOver) return { records, hints: null, cut: null };
    const { envelope, hasList } = cutter.end();
    if (dialect.history.records.some((pointer) => isFailedCall(envelope, pointer)))
      throw new GatewayUnavailable('the service answered history with a failure inside HTTP 200', null);
    if (!hasList)
      return cutShort('the answer holds no list where the dialect looks for one (history.records)');
    const hints = readHints(envelope, answer.headers, dialect.history.paging);
    return {
      records,
      hints: cursorFromRow === null ? hints : behindRow(hints, last, cursorFromRow),
      cut: null,
      isPast: isPast(bound, first, last),
    };
  } catch (error) {
    if (collector.count() > 0) yield portion();
    if (error instanceof RecordStreamError) return cutShort(error.message);
    throw asUnavailable(error);
  } finally {
    // Frees the connection wherever reading stopped; after the last byte this has no effect.
    over.abort();
  }
}

async function abortWhenStuck(over: AbortController, count: () => number): Promise<void> {
  for (let last = 0; ; last = count()) {
    await sleep(PAGE_MS, over.signal);
    if (over.signal.aborted) return;
    // The name TimeoutError makes the circuit breaker count this as a time-out of the service.
    if (count() - last < RECORDS_THAT_MOVE)
      over.abort(new DOMException('the list stands still', 'TimeoutError'));
  }
}
