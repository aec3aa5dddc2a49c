import type { HistoryRow } from './history-row.ts';

/** Notices that pages repeat, by the first page and the one before. Not by all of them: lists are long. */
export type Repetition = {
  turnPage(): void;
  /** Takes a record's bytes. @returns false when the list starts over with it */
  look(bytes: Buffer, start: number, end: number): boolean;
  note(row: HistoryRow): void;
  seen(): { hasStartedOver: boolean; addsNothing: boolean };
};

/** Transactions remembered of a page. A longer page is no page but the list. */
const MAX_REMEMBERED = 10_000;

export function createRepetition(): Repetition {
  let pages = 0;
  let firstRecord: Buffer | null = null;
  let hasStartedOver = false;
  let addsNothing = true;
  let first = new Set<string>();
  let previous = new Set<string>();
  let current = new Set<string>();

  return {
    turnPage: () => {
      if (pages === 1) first = current;
      previous = current;
      current = new Set();
      addsNothing = true;
      pages += 1;
    },
    // Bytes and not names: one payment may stand in the list twice without the list starting over.
    look: (bytes, start, end) => {
      if (pages === 1) firstRecord ??= Buffer.from(bytes.subarray(start, end));
      else if (firstRecord?.compare(bytes, start, end) === 0) hasStartedOver = true;
      return !hasStartedOver;
    },
    note: ({ reference, digest }) => {
      const name = reference ?? digest ?? '';
      if (addsNothing && !first.has(name) && !previous.has(name)) addsNothing = false;
      if (current.size < MAX_REMEMBERED) current.add(name);
    },
    seen: () => ({ hasStartedOver, addsNothing }),
  };
}
