import type { HistoryBatch, HistoryRow } from '../../gateway/history.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Bookmark } from '../bookmarks/repository.ts';
import type { Session } from '../repository.ts';
import { createDoubles } from './doubles.ts';
import { dropRows, nameOf, stageMaybeRepeated, stageRows, type Staging } from './repository.ts';

/** Takes what is read, and stages it while the next is being read. */
export type Stager = {
  take(batch: HistoryBatch): Promise<void>;
  /** Stages what is left. */
  finish(): Promise<void>;
  counts(): { records: number; unreadable: number };
  /** Whether all references that repeat were noted: not after going on with an earlier reading. */
  areRepeatsNoted(): boolean;
};

export type StagerParts = {
  session: Session;
  staging: Staging;
  /** The reading that is gone on with. */
  from: Bookmark | null;
  saveBookmark(bookmark: Omit<Bookmark, 'startedAt'>): Promise<void>;
};

/** Enough to make a COPY worth its round trip, few enough to hold. */
const ROWS_PER_COPY = 5_000;
/** A slow service: what came must not wait long for what is to come. */
const BOOKMARK_EVERY_MS = 2_000;

export function createStager({ session, staging, from, saveBookmark }: StagerParts): Stager {
  const doubles = createDoubles();
  let rows: HistoryRow[] = [];
  let staged = from?.records ?? 0;
  let unreadable = from?.unreadable ?? 0;
  // Of the last page that was read to its end.
  let whole = { records: staged, unreadable };
  let savedAtMs = systemClock.elapsedMs();
  let inHand: Promise<void> = Promise.resolve();

  /** Waits for the copy before this one, and not for this one. A copy that failed is told by the next wait. */
  async function copy(place: Bookmark['place'] | null): Promise<void> {
    await inHand;
    const batch = rows;
    const firstSeq = staged;
    rows = [];
    staged += batch.length;
    const repeated = batch.map(nameOf).filter(doubles.note);
    inHand = write(batch, firstSeq, repeated, place === null ? null : { ...whole, place });
    inHand.catch(() => undefined);
  }

  async function write(
    batch: HistoryRow[],
    firstSeq: number,
    repeated: string[],
    bookmark: Omit<Bookmark, 'startedAt'> | null,
  ): Promise<void> {
    await stageRows(session, staging, batch, firstSeq);
    await stageMaybeRepeated(session, repeated);
    if (bookmark === null) return;
    await saveBookmark(bookmark);
    savedAtMs = systemClock.elapsedMs();
  }

  async function dropPage(): Promise<void> {
    await inHand;
    rows = [];
    if (staged > whole.records) await dropRows(session, staging, whole.records);
    ({ records: staged, unreadable } = whole);
  }

  return {
    take: async (batch) => {
      if (batch.isPageAgain === true) await dropPage();
      for (const row of batch.rows) {
        rows.push(row);
        if (row.status === 'unreadable') unreadable += 1;
      }
      if (batch.bookmark !== null) whole = { records: staged + rows.length, unreadable };
      const isDue = systemClock.elapsedMs() - savedAtMs > BOOKMARK_EVERY_MS;
      if (rows.length >= ROWS_PER_COPY || (isDue && batch.bookmark !== null)) await copy(batch.bookmark);
      else if (batch.bookmark !== null && batch.bookmark.next.is !== 'ask') await copy(batch.bookmark);
    },
    finish: async () => {
      if (rows.length > 0) await copy(null);
      await inHand;
    },
    counts: () => ({ records: staged + rows.length, unreadable }),
    areRepeatsNoted: () => from === null,
  };
}
