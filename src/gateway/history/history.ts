import { sleep } from '../../platform/clock.ts';
import type { Client } from '../http/client.ts';
import type { Dialect } from '../dialect/dialect.ts';
import { GatewayUnavailable } from '../errors.ts';
import { boundOf, windowsToAsk, type AskedWindow, type HistoryWindow } from './windows.ts';
import { NO_HINTS } from './paging-hints.ts';
import {
  readPage,
  type HistoryBatch,
  type HistoryCheckpoint,
  type HistoryEnd,
  type PageEnd,
  type PageReader,
  type PageRequest,
} from './page.ts';
import { createPaging, type NextPage } from './paging.ts';
import { createRepeatDetector } from './repeat-detector.ts';
import { collectRows, type HistoryRow, type RowCollector } from './row.ts';
import { createRowReader } from './row-reader.ts';

export type { HistoryBatch, HistoryCheckpoint, HistoryEnd } from './page.ts';
export { fingerprintOf, type HistoryRow, type RowCollector } from './row.ts';

type HistoryOptions = HistoryWindow & {
  /** The currency of amounts without one, where the dialect allows that; null: unknown. */
  assumedCurrency?: string | null;
  /** Resumes an earlier reading with the same options. */
  from?: HistoryCheckpoint | null;
  signal?: AbortSignal | undefined;
};

/** A page of a thousand large records. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
/** The first answer may be the whole list: eight million records. It is streamed, never held in memory. */
const MAX_LIST_BYTES = 2 * 1024 * 1024 * 1024;
/** Milliseconds before the second and the third attempt at a page. */
const PAUSES_MS = [500, 2_000];
/** Seconds. If the service asks for a longer pause, this run stops and the next one resumes here. */
const MAX_PAUSE_SEC = 60;

/**
 * Walks the service's list of transactions with one batch in memory. Every row is a hint: verify decides.
 * @throws {GatewayUnavailable} a page failed three times; earlier rows have been handed over
 * @throws {GatewayKeyRefused} our key is not accepted
 */
export function readHistory(
  client: Client,
  dialect: Dialect,
  options: HistoryOptions = {},
): AsyncGenerator<HistoryBatch<HistoryRow[]>, void> {
  return readHistoryInto(client, dialect, options, collectRows());
}

/** The same, with rows in another form. */
export async function* readHistoryInto<Rows>(
  client: Client,
  dialect: Dialect,
  options: HistoryOptions,
  collector: RowCollector<Rows>,
): AsyncGenerator<HistoryBatch<Rows>, void> {
  const { from = null } = options;
  const windows = from?.windows ?? windowsToAsk(dialect.history.paging, options);
  let pages = from?.pages ?? 0;
  let end: HistoryEnd = { complete: true };
  for (let at = 0; at < windows.length && end.complete; at += 1) {
    const part: Part = { windows: windows.slice(at), pagesBefore: pages, from: at === 0 ? from : null };
    const window = yield* readWindow(client, dialect, { ...options, ...part }, collector);
    pages = window.pages;
    // One window with an assumed end makes the whole end assumed, and so it is with a part.
    end = window.end.complete ? { ...end, ...window.end } : window.end;
  }
  yield { rows: collector.handOver(), pages, end, checkpoint: null };
}

/** The window to read is the first of `windows`. */
type Part = { windows: readonly AskedWindow[]; pagesBefore: number; from: HistoryCheckpoint | null };

async function* readWindow<Rows>(
  client: Client,
  dialect: Dialect,
  { windows, pagesBefore, from, signal, since, assumedCurrency = null }: HistoryOptions & Part,
  collector: RowCollector<Rows>,
): AsyncGenerator<HistoryBatch<Rows>, { pages: number; end: HistoryEnd }> {
  const paging = createPaging(dialect, windows[0] ?? ALL_OF_IT, from?.largestTotal);
  const repeats = createRepeatDetector(from?.repeats);
  const rowReader = createRowReader(dialect, assumedCurrency, collector, repeats);
  const reader: PageReader<Rows> = { client, dialect, rowReader, collector, repeats };
  const bound = boundOf(dialect.history.paging.newestFirstBy, since);
  let step: NextPage = from?.next ?? { is: 'ask', path: paging.firstPath };
  let pages = pagesBefore;
  let { windowPages, received, firstPageRecords, hints } = from ?? BEGINNING;
  while (step.is === 'ask') {
    pages += 1;
    windowPages += 1;
    repeats.turnPage();
    const maxBytes = windowPages === 1 ? MAX_LIST_BYTES : MAX_PAGE_BYTES;
    const page = yield* readPatiently(reader, { path: step.path, pages, maxBytes, bound, signal });
    received += page.records;
    hints = page.hints ?? hints;
    if (windowPages === 1) firstPageRecords = page.records;
    const place = { received, firstPageRecords, hints };
    if (page.cut !== null) step = { is: 'cut', reason: page.cut };
    else if (page.isPast === true) step = { is: 'whole', isPart: true };
    else step = paging.next({ ...page, ...place, pages: windowPages, ...repeats.seen() });
    const checkpoint: HistoryCheckpoint = {
      ...place,
      windows,
      next: step,
      pages,
      windowPages,
      largestTotal: paging.largestTotal(),
      repeats: repeats.state(),
    };
    yield { rows: collector.handOver(), pages, end: null, checkpoint };
  }
  if (step.is !== 'whole') return { pages, end: { complete: false, reason: step.reason } };
  const { isAssumed, isPart } = step;
  return { pages, end: { complete: true, ...(isAssumed && { isAssumed }), ...(isPart && { isPart }) } };
}

const ALL_OF_IT: AskedWindow = { since: null, until: null };
const BEGINNING = { windowPages: 0, received: 0, firstPageRecords: 0, hints: NO_HINTS };

/** Reads a page, and retries a failed one after our own pause or a longer one that the service asks for. */
async function* readPatiently<Rows>(
  reader: PageReader<Rows>,
  request: PageRequest,
): AsyncGenerator<HistoryBatch<Rows>, PageEnd> {
  for (let tries = 0; ; tries += 1) {
    try {
      return yield* readPage(reader, request);
    } catch (error) {
      const pauseMs = error instanceof GatewayUnavailable ? pauseBefore(error, tries) : null;
      if (pauseMs === null) throw error;
      await sleep(pauseMs, request.signal);
      if (request.signal?.aborted === true) throw error;
      reader.repeats.beginPageAgain();
      const rows = reader.collector.handOver();
      yield { rows, pages: request.pages, end: null, isPageAgain: true, checkpoint: null };
    }
  }
}

/** Null: no more tries. */
function pauseBefore({ retryAfterSec }: GatewayUnavailable, tries: number): number | null {
  const ownMs = PAUSES_MS[tries];
  if (ownMs === undefined || (retryAfterSec ?? 0) > MAX_PAUSE_SEC) return null;
  return Math.max(ownMs, (retryAfterSec ?? 0) * 1_000);
}
