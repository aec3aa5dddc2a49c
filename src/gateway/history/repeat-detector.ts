import { createHash } from 'node:crypto';

/**
 * What a reading that goes on later has to know of the pages before: the first record and who stood there. Of the record
 * itself only its length and digest (base64): it may say anything about a person, and this is kept.
 */
export type RepetitionState = {
  pages: number;
  firstPrint: RecordPrint | null;
  first: string[];
  previous: string[];
};

type RecordPrint = { length: number; sha256: string };

/** Notices that pages repeat, by the first page and the one before. Not by all of them: lists are long. */
export type Repetition = {
  turnPage(): void;
  /** The page broke off and is asked for again. */
  beginPageAgain(): void;
  /** Takes a record's bytes. @returns false when the list starts over with it */
  look(bytes: Buffer, start: number, end: number): boolean;
  /** Whether {@link note} still wants to know who stands here. */
  isNoting(): boolean;
  /** @param name of a row: its reference, or what stands for it */
  note(name: string): void;
  seen(): { hasStartedOver: boolean; addsNothing: boolean };
  /** Between two pages. */
  state(): RepetitionState;
};

/** Transactions remembered of a page. A longer page is no page but the list. */
const MAX_REMEMBERED = 10_000;

/** @param from the state of a reading that is gone on with */
export function createRepetition(from: RepetitionState | null = null): Repetition {
  let pages = from?.pages ?? 0;
  let firstRecord: Buffer | null = null;
  // A bookmark of the version before has none.
  const firstPrint = from?.firstPrint ?? null;
  let hasStartedOver = false;
  let addsNothing = true;
  let first = new Set<string>(from?.first);
  let previous = new Set<string>();
  let current = new Set<string>(from?.previous);

  return {
    turnPage: () => {
      if (pages === 1) first = current;
      previous = current;
      current = new Set();
      addsNothing = true;
      pages += 1;
    },
    beginPageAgain: () => {
      if (pages === 1) firstRecord = null;
      current = new Set();
      addsNothing = true;
      hasStartedOver = false;
    },
    // Bytes and not names: one payment may stand in the list twice without the list starting over.
    look: (bytes, start, end) => {
      if (pages === 1) firstRecord ??= Buffer.from(bytes.subarray(start, end));
      else if (firstRecord !== null) hasStartedOver ||= firstRecord.compare(bytes, start, end) === 0;
      else if (firstPrint?.length === end - start)
        hasStartedOver ||= printOf(bytes.subarray(start, end)).sha256 === firstPrint.sha256;
      return !hasStartedOver;
    },
    isNoting: () => addsNothing || current.size < MAX_REMEMBERED,
    note: (name) => {
      if (addsNothing && !first.has(name) && !previous.has(name)) addsNothing = false;
      if (current.size < MAX_REMEMBERED) current.add(name);
    },
    seen: () => ({ hasStartedOver, addsNothing }),
    state: () => ({
      pages,
      firstPrint: firstRecord === null ? firstPrint : printOf(firstRecord),
      first: [...(pages === 1 ? current : first)],
      previous: [...current],
    }),
  };
}

function printOf(record: Buffer): RecordPrint {
  return { length: record.length, sha256: createHash('sha256').update(record).digest('base64') };
}
