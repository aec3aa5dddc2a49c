import { allocatedOf, BOOK_FIGURES, bookedOutOf, NOTHING, type Booking, type Books } from './books.ts';
import { applyHistory } from './history.ts';
import { applyAnswer, isOfOther, max, min, SILENT, withdraw } from './sources.ts';
import type { HistoryRow } from './history.ts';
import type { Answer, Source } from './sources.ts';

/**
 * The ledger of one payment in one currency: what each source reported, and what we booked. Amounts
 * are minor units.
 *
 * The two sources are never merged, and nothing is stored that no source said. Our books say what
 * should be at the provider. Two subtractions give what is held and what is missing. Everything
 * here is pure.
 */
export type Ledger = {
  books: Books;
  verify: Source;
  history: Source;
  /** When money was last booked as being at the provider. Null: never. */
  bookedInAt: Date | null;
  /** When money was last booked as going out through the provider. Null: never. */
  bookedOutAt: Date | null;
  /** When the newest whole reading of the history began that was applied here. Null: none was. */
  historyReadAt: Date | null;
  /**
   * The same of the newest reading that reached back to this payment: only such a reading can lack
   * something.
   */
  historyReachedAt: Date | null;
};

export const EMPTY: Ledger = {
  books: NOTHING,
  verify: SILENT,
  history: SILENT,
  bookedInAt: null,
  bookedOutAt: null,
  historyReadAt: null,
  historyReachedAt: null,
};

/** Applies an answer of verify. */
export function observeVerify(ledger: Ledger, answer: Answer): Ledger {
  return remember({ ...ledger, verify: applyAnswer(ledger.verify, answer, mayWithdraw(ledger)) });
}

function isGoneInHistory({ history, historyReachedAt }: Ledger): boolean {
  return historyReachedAt !== null && history.received === 0n;
}

/**
 * Whether an answer that calls the payment failed may take back what verify reported: a reading
 * that reached the payment reports no charge, and the money was booked. Other money may be younger
 * than the lag of the history, so it waits for the next reading.
 */
function mayWithdraw(ledger: Ledger): boolean {
  return isGoneInHistory(ledger) && allocatedOf(ledger.books) > 0n;
}

/** How the history was read. */
export type Reading = {
  /** When the reading began. */
  at: Date;
  /** False: the payment is older than the history reaches back. */
  isInReach: boolean;
  /**
   * The answer of verify that calls the payment failed or expired. Null: verify does not call it
   * so, or the history may still lack money that was reported before that answer.
   */
  failed: { id: string | null } | null;
};

/**
 * Applies a whole reading of the history. One that began before the newest applied one changes
 * nothing. If no source ever reported a charge, an outflow took no money of ours: some services
 * write the reversal of a failed debit so.
 * @param rows all rows about this payment and currency
 */
export function observeHistory(ledger: Ledger, rows: readonly HistoryRow[], reading: Reading): Ledger {
  const { at, isInReach, failed } = reading;
  if (ledger.historyReadAt !== null && ledger.historyReadAt > at) return ledger;
  const historyReachedAt = isInReach ? at : ledger.historyReachedAt;
  const isCharged = mostReceivedOf(ledger) > 0n || rows.some(({ received }) => received > 0n);
  const history = applyHistory(ledger.history, ledger.verify, isCharged ? rows : [], isInReach);
  const read = { ...ledger, history, historyReadAt: at, historyReachedAt };
  // Verify calls it failed, and the history reports no charge: two sources that agree.
  const isGone = failed !== null && !isOfOther(read.verify, failed.id) && isInReach && isGoneInHistory(read);
  return remember(isGone ? { ...read, verify: withdraw(read.verify) } : read);
}

/**
 * A person accepted the money in spite of a doubt: what the sources reported so far is certain from
 * now on.
 */
export function acceptDoubts(ledger: Ledger): Ledger {
  const certain = { isUncertain: false };
  return { ...ledger, verify: { ...ledger.verify, ...certain }, history: { ...ledger.history, ...certain } };
}

/** The most that a source ever reported as received. */
function mostReceivedOf({ verify, history }: Ledger): bigint {
  return max(verify.mostReceived, history.mostReceived);
}

/**
 * A reading that reached the payment after the last booking lacks some of the money that was
 * booked.
 */
function isLackedByHistory({ books, history, historyReachedAt, bookedInAt }: Ledger): boolean {
  const isRead = historyReachedAt !== null && bookedInAt !== null && historyReachedAt >= bookedInAt;
  return isRead && history.received < allocatedOf(books);
}

/**
 * Adds to the books: a proof of payment or a decision.
 * @throws {RangeError} the booking breaks a rule of money; the database refuses it, too
 */
export function book(ledger: Ledger, booking: Booking, at: Date): Ledger {
  const books = { ...ledger.books };
  for (const figure of BOOK_FIGURES) {
    const amount = booking[figure] ?? 0n;
    if (amount < 0n) throw new RangeError(`${figure} only grows`);
    books[figure] += amount;
  }
  const { captured, returned, refunded, writtenOff, offProvider, recovered } = books;
  if (allocatedOf(books) > mostReceivedOf(ledger)) throw new RangeError('more is booked than was ever received');
  if (refunded > captured + recovered) throw new RangeError('more is refunded than was captured');
  if (offProvider + recovered > returned + refunded + writtenOff)
    throw new RangeError('more is taken back from the outgoing money than was booked as outgoing');
  // The history may lack newly booked money for a while. Money that it lacks already stays missing.
  const isNewMoney = allocatedOf(books) > allocatedOf(ledger.books) && !isLackedByHistory(ledger);
  const goesOut = bookedOutOf(books) > bookedOutOf(ledger.books);
  // A recovered or off-provider amount no longer has to leave through the provider.
  const outflowCancelled = max(0n, bookedOutOf(ledger.books) - bookedOutOf(books));
  const forget = (source: Source): Source => ({
    ...source,
    mostOutflow: max(0n, source.mostOutflow - outflowCancelled),
  });
  return remember({
    ...ledger,
    books,
    verify: forget(ledger.verify),
    history: forget(ledger.history),
    bookedInAt: isNewMoney ? at : ledger.bookedInAt,
    bookedOutAt: goesOut ? at : ledger.bookedOutAt,
  });
}

/**
 * Keeps, per source, the most that it reported as gone of what is booked as outgoing. If a source
 * reports less later, money came back: a refund failed, or a dispute was won after its loss was
 * written off.
 */
function remember(ledger: Ledger): Ledger {
  const bookedOut = bookedOutOf(ledger.books);
  const mostOutflow = (source: Source): bigint => min(max(source.mostOutflow, source.outflow), bookedOut);
  return {
    ...ledger,
    verify: { ...ledger.verify, mostOutflow: mostOutflow(ledger.verify) },
    history: { ...ledger.history, mostOutflow: mostOutflow(ledger.history) },
  };
}
