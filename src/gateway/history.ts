import type { Dialect } from './dialect.ts';
import { NO_HINTS } from './history-hints.ts';
import {
  readPage,
  type HistoryBatch,
  type HistoryEnd,
  type PageEnd,
  type PageReader,
  type PageRequest,
} from './history-page.ts';
import { createPaging, type NextPage } from './history-paging.ts';
import type { HistoryWindow } from './history-paths.ts';
import { createRepetition } from './history-repetition.ts';
import { createRowReader } from './history-row-reader.ts';
import type { Client } from './client.ts';

export type { HistoryBatch, HistoryEnd } from './history-page.ts';
export type { HistoryRow } from './history-row.ts';

export type HistoryOptions = HistoryWindow & {
  /** The currency of amounts without one, where the dialect allows that; null: unknown. */
  assumedCurrency?: string | null;
  signal?: AbortSignal | undefined;
};

/** A page of a thousand large records. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
/** The first answer may be the whole list: eight million records. It passes through, it is never held. */
const MAX_LIST_BYTES = 2 * 1024 * 1024 * 1024;

/**
 * Walks the service's list of transactions in the memory of one batch. Every row is a hint: verify decides.
 * @throws {GatewayUnavailable} a page did not come; what came before has been handed over
 * @throws {GatewayKeyRefused} our key is not accepted
 */
export async function* readHistory(
  client: Client,
  dialect: Dialect,
  options: HistoryOptions = {},
): AsyncGenerator<HistoryBatch, void> {
  const paging = createPaging(dialect, options);
  const readRow = createRowReader(dialect, options.assumedCurrency ?? null);
  const reader: PageReader = { client, dialect, readRow, repetition: createRepetition() };
  let step: NextPage = { is: 'ask', path: paging.firstPath };
  let pages = 0;
  let received = 0;
  let firstPageRecords = 0;
  let hints = NO_HINTS;
  while (step.is === 'ask') {
    pages += 1;
    reader.repetition.turnPage();
    const maxBytes = pages === 1 ? MAX_LIST_BYTES : MAX_PAGE_BYTES;
    const request: PageRequest = { path: step.path, pages, maxBytes, signal: options.signal };
    const page: PageEnd = yield* readPage(reader, request);
    received += page.records;
    hints = page.hints ?? hints;
    if (pages === 1) firstPageRecords = page.records;
    step =
      page.cut === null
        ? paging.next({ ...page, hints, pages, firstPageRecords, received, ...reader.repetition.seen() })
        : { is: 'cut', reason: page.cut };
  }
  const end: HistoryEnd = step.is === 'whole' ? { complete: true } : { complete: false, reason: step.reason };
  yield { rows: [], pages, end };
}
