import { createHash } from 'node:crypto';

/**
 * What a resumed reading has to know of earlier pages: the first record, and the names on the first and
 * the previous page. Of the record only length and digest (base64) are kept: it may hold personal data,
 * and this state is stored.
 */
export type RepeatState = {
  pages: number;
  firstPrint: RecordPrint | null;
  first: string[];
  previous: string[];
};

type RecordPrint = { length: number; sha256: string };

/** Detects that pages repeat, by the first page and the one before. Not by all pages: lists are long. */
export type RepeatDetector = {
  turnPage(): void;
  /** The page broke off and is asked for again. */
  beginPageAgain(): void;
  /** Takes a record's bytes. @returns false when the list starts over with it */
  look(bytes: Buffer, start: number, end: number): boolean;
  /** Whether {@link note} still needs the names of this page's rows. */
  isNoting(): boolean;
  /** @param name what tells a row from others: its reference, id, status word and amount */
  note(name: string): void;
  seen(): { hasStartedOver: boolean; hasNoNewRows: boolean };
  /** Valid between two pages. */
  state(): RepeatState;
};

/** Transactions remembered per page. A longer answer is not a page but the whole list. */
const MAX_REMEMBERED = 10_000;

/** @param from the state of a reading that is resumed */
export function createRepeatDetector(from: RepeatState | null = null): RepeatDetector {
  let pages = from?.pages ?? 0;
  let firstRecord: Buffer | null = null;
  const firstPrint = from?.firstPrint ?? null;
  let hasStartedOver = false;
  let hasNoNewRows = true;
  let first = new Set<string>(from?.first);
  let previous = new Set<string>();
  let current = new Set<string>(from?.previous);

  return {
    turnPage: () => {
      if (pages === 1) first = current;
      previous = current;
      current = new Set();
      hasNoNewRows = true;
      pages += 1;
    },
    beginPageAgain: () => {
      if (pages === 1) firstRecord = null;
      current = new Set();
      hasNoNewRows = true;
      hasStartedOver = false;
    },
    // Compares bytes, not names: one payment may be listed twice without the list starting over.
    look: (bytes, start, end) => {
      if (pages === 1) firstRecord ??= Buffer.from(bytes.subarray(start, end));
      else if (firstRecord !== null) hasStartedOver ||= firstRecord.compare(bytes, start, end) === 0;
      else if (firstPrint?.length === end - start)
        hasStartedOver ||= printOf(bytes.subarray(start, end)).sha256 === firstPrint.sha256;
      return !hasStartedOver;
    },
    isNoting: () => hasNoNewRows || current.size < MAX_REMEMBERED,
    note: (name) => {
      if (hasNoNewRows && !first.has(name) && !previous.has(name)) hasNoNewRows = false;
      if (current.size < MAX_REMEMBERED) current.add(name);
    },
    seen: () => ({ hasStartedOver, hasNoNewRows }),
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
