import type { HistoryBatch, RowCollector } from '../../gateway/history/history.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Checkpoint } from './checkpoint.sql.ts';
import type { Session } from '../session.sql.ts';
import { dropRows, stageTuples, type Staging } from './staging.sql.ts';
import { createCopyWriter, type Tuples } from './copy-writer.ts';

/** Stages each batch while the next one is being read. */
export type Stager = {
  /** What the reading puts its rows into. */
  collector: RowCollector<Tuples>;
  take(batch: HistoryBatch<Tuples>): Promise<void>;
  /** Stages what is left. */
  finish(): Promise<void>;
  counts(): { records: number; unreadable: number };
};

type StagerParts = {
  session: Session;
  staging: Staging;
  /** The earlier reading that this one continues. */
  from: Checkpoint | null;
  saveCheckpoint(checkpoint: Omit<Checkpoint, 'startedAt'>): Promise<void>;
};

/** Enough rows to make a COPY worth its round trips, few enough to hold in memory. */
const ROWS_PER_COPY = 8_000;
const ROWS_PER_BOOKMARK = 5_000;
/** For a slow service: rows already received must not wait long for the next ones. */
const BOOKMARK_EVERY_MS = 2_000;

export function createStager({ session, staging, from, saveCheckpoint }: StagerParts): Stager {
  const writer = createCopyWriter(from?.records ?? 0, staging.hasFees);
  let waiting = 0; // rows that were not sent yet
  let staged = from?.records ?? 0;
  let unreadable = from?.unreadable ?? 0;
  let whole = { records: staged, unreadable }; // at the end of the last complete page
  let saved = { records: staged, atMs: systemClock.elapsedMs() };
  let inHand = Promise.resolve();

  function add({ rows: tuples }: HistoryBatch<Tuples>): void {
    waiting += tuples.rows;
    unreadable += tuples.unreadable;
  }

  /** Waits for the previous copy, but not for this one. If a copy fails, the next wait throws the error. */
  async function copy(place: Checkpoint['place'] | null): Promise<void> {
    await inHand;
    staged += waiting;
    inHand = write(writer.bytes(), place && { ...whole, place });
    inHand.catch(() => undefined);
    waiting = 0;
    if (place !== null) saved = { records: staged, atMs: systemClock.elapsedMs() };
  }

  async function write(tuples: Buffer, checkpoint: Omit<Checkpoint, 'startedAt'> | null): Promise<void> {
    if (tuples.length > 0) await stageTuples(session, staging, tuples);
    // The checkpoint is written after the rows that it covers, never before them.
    if (checkpoint !== null) await saveCheckpoint(checkpoint);
  }

  /** Whether the end of a page is worth a checkpoint: after many rows, much time, or the last page. */
  function isDue(isLast: boolean): boolean {
    if (isLast || whole.records - saved.records >= ROWS_PER_BOOKMARK) return true;
    return systemClock.elapsedMs() - saved.atMs > BOOKMARK_EVERY_MS;
  }

  async function dropPage(): Promise<void> {
    await inHand;
    waiting = 0;
    await dropRows(session, staging, whole.records);
    ({ records: staged, unreadable } = whole);
    writer.restart(staged);
  }

  return {
    collector: writer,
    take: async (batch) => {
      if (batch.isPageAgain === true) await dropPage();
      add(batch);
      const { checkpoint } = batch;
      if (checkpoint !== null) whole = { records: staged + waiting, unreadable };
      if (checkpoint !== null && isDue(checkpoint.next.is !== 'ask')) await copy(checkpoint);
      else if (waiting >= ROWS_PER_COPY) await copy(null);
    },
    finish: async () => {
      await copy(null);
      await inHand;
    },
    counts: () => ({ records: staged + waiting, unreadable }),
  };
}
