import { applyAnswer, applyHistory, max, min, SILENT, type Answer, type HistoryRow, type Source } from './sources.ts';

/**
 * The ledger of one payment in one currency: what each source reported, and what we booked. Amounts are minor units.
 *
 * The two sources are never merged, and nothing is stored that no source said. Our books say what should be at the
 * provider. Two subtractions give what is held and what is missing. Everything here is pure.
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
};

/** What we decided about the money. Each figure only grows, by a proof of payment or by a decision. */
export type Books = {
  /** Received money that pays the order. */
  captured: bigint;
  /** Surplus that the shop keeps. */
  retained: bigint;
  /** Surplus that goes back. It was never revenue. */
  returned: bigint;
  /** Captured money that goes back. */
  refunded: bigint;
  /** Money that is gone and no longer expected. */
  writtenOff: bigint;
  /** The part of returned and refunded that goes another way, such as a bank transfer. The provider never shows it. */
  offProvider: bigint;
  /** Booked as going out, but it did not go, or it came back. */
  recovered: bigint;
};
export type Booking = Partial<Books>;

const NOTHING: Books = {
  captured: 0n,
  retained: 0n,
  returned: 0n,
  refunded: 0n,
  writtenOff: 0n,
  offProvider: 0n,
  recovered: 0n,
};
export const BOOK_FIGURES = Object.keys(NOTHING) as (keyof Books)[];
export const EMPTY: Ledger = {
  books: NOTHING,
  verify: SILENT,
  history: SILENT,
  bookedInAt: null,
  bookedOutAt: null,
  historyReadAt: null,
};

/** What follows from a ledger by subtraction. */
export type Position = {
  /** What should be at the provider. Below 0: more went than ever came, and it was written off. */
  expected: bigint;
  /** Received, and nobody has decided what it is for: the shop owes it. */
  held: bigint;
  /** Should be at the provider and is not. */
  missing: bigint;
  /** Booked as going out, and neither source reports it yet. */
  notShown: bigint;
  /** The part of `notShown` that a source reported as gone before: it came back. */
  reinstated: bigint;
  verify: Standing;
  history: Standing;
};

/** What one source says against the books. */
export type Standing = {
  held: bigint;
  missing: bigint;
  notShown: bigint;
  reinstated: bigint;
  /** How much more outflow it reports than was booked. Below 0: it does not report all of what was booked. */
  excessOutflow: bigint;
  /** By what it reports it falls short, even if it needs more time. */
  isShort: boolean;
};

/**
 * The position of a ledger. Of the two sources, held and missing are the larger figure. NotShown is the smaller one:
 * one source that reports a refund is enough.
 *
 * Example: 8500 paid the order, and a refund of 2500 was booked. Verify reports the refund. The history reports a
 * chargeback of 8500 instead.
 *
 *   allocated   A = captured + retained + returned = 8500
 *   booked out  O = returned + refunded + writtenOff - offProvider - recovered = 2500
 *   expected    E = A - O = 6000
 *
 *                                  verify                    history
 *   received C, outflow W          8500, 2500                8500, 8500
 *   surplus S = C - A              0                         0
 *   excess outflow X = W - O       0                         6000
 *   held = max(0, S - max(0, X))   0                         0                        held 0
 *   missing = max(0, X - S)        0                         6000                     missing 6000
 *   notShown = min(-X, S - X)      0                         -6000, which counts 0    notShown 0
 *
 * For a history that had time, with the balance L = C - W, held - missing + notShown is always L - E.
 * @param lagMin minutes for which the history may lack money after it was booked as being at the provider
 */
export function positionOf(ledger: Ledger, lagMin: number): Position {
  const { books } = ledger;
  const verify = verifyStanding(ledger.verify, books);
  const inHistory = historyStanding(ledger.history, books, hadTime(ledger, lagMin));
  const history = { ...inHistory, isShort: inHistory.isShort && ledger.historyReadAt !== null };
  const reinstated = max(verify.reinstated, history.reinstated);
  return {
    expected: expectedOf(books),
    held: max(verify.held, history.held),
    missing: max(verify.missing, history.missing),
    notShown: max(min(verify.notShown, history.notShown), reinstated),
    reinstated,
    verify,
    history,
  };
}

/** Received money that has a meaning. */
export function allocatedOf({ captured, retained, returned }: Books): bigint {
  return captured + retained + returned;
}

/** What must leave through the provider. */
export function bookedOutOf({ returned, refunded, writtenOff, offProvider, recovered }: Books): bigint {
  return returned + refunded + writtenOff - offProvider - recovered;
}

/** What should be at the provider. */
function expectedOf(books: Books): bigint {
  return allocatedOf(books) - bookedOutOf(books);
}

/**
 * Verify may never report a second charge that the history reports. So of what should be there, verify must show at
 * most what it ever reported as received. With its balance L, that is missing = min(E, mostReceived) - L.
 *
 * What verify has not reported yet is not a lack of it, so a negative surplus counts 0 in notShown.
 */
function verifyStanding(verify: Source, books: Books): Standing {
  const surplus = verify.received - allocatedOf(books);
  const beyondVerify = max(0n, expectedOf(books) - verify.mostReceived);
  return standingOf(verify, books, surplus + beyondVerify, max(0n, surplus));
}

/** What the history reports counts at once. What it lacks counts only if it had the time to report it. */
function historyStanding(history: Source, books: Books, hadTime: boolean): Standing {
  const surplus = history.received - allocatedOf(books);
  const inTime = hadTime ? surplus : max(0n, surplus);
  return standingOf(history, books, inTime, inTime);
}

/** @param missingSurplus and @param notShownSurplus: the surplus, without what the source need not report */
function standingOf(source: Source, books: Books, missingSurplus: bigint, notShownSurplus: bigint): Standing {
  const bookedOut = bookedOutOf(books);
  const surplus = source.received - allocatedOf(books);
  const excessOutflow = source.outflow - bookedOut;
  // If its newest word proves nothing, all that it reported as received counts as gone.
  const gone = source.isUncertain ? max(source.received, source.outflow) - bookedOut : excessOutflow;
  const notShown = max(0n, min(-excessOutflow, notShownSurplus - excessOutflow));
  return {
    held: max(0n, surplus - max(0n, excessOutflow)),
    missing: max(0n, gone - missingSurplus),
    notShown,
    reinstated: min(notShown, max(0n, source.mostOutflow - source.outflow)),
    excessOutflow,
    isShort: excessOutflow > surplus,
  };
}

/** Ten days. A refund takes some working days until the provider reports it. */
const NOT_SHOWN_MS = 10 * 24 * 60 * 60_000;

/** The history was read whole ten days after money was last booked as going out: it must report that by now. */
export function isOutflowLate({ bookedOutAt, historyReadAt }: Ledger): boolean {
  if (bookedOutAt === null || historyReadAt === null) return false;
  return historyReadAt.getTime() >= bookedOutAt.getTime() + NOT_SHOWN_MS;
}

function hadTime({ bookedInAt, historyReadAt }: Ledger, lagMin: number): boolean {
  if (historyReadAt === null) return false;
  return bookedInAt === null || historyReadAt.getTime() >= bookedInAt.getTime() + lagMin * 60_000;
}

/** Applies an answer of verify. */
export function observeVerify(ledger: Ledger, answer: Answer): Ledger {
  return remember({ ...ledger, verify: applyAnswer(ledger.verify, answer) });
}

/**
 * Applies a whole reading of the history. One that began before the newest applied one changes nothing.
 * @param rows all rows about this payment and currency
 * @param readAt when the reading began
 * @param isInReach false: the payment is older than the history reaches back
 */
export function observeHistory(ledger: Ledger, rows: readonly HistoryRow[], readAt: Date, isInReach: boolean): Ledger {
  if (ledger.historyReadAt !== null && ledger.historyReadAt > readAt) return ledger;
  const history = applyHistory(ledger.history, ledger.verify, rows, isInReach);
  return remember({ ...ledger, history, historyReadAt: readAt });
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
  const mostReceived = max(ledger.verify.mostReceived, ledger.history.mostReceived);
  if (allocatedOf(books) > mostReceived) throw new RangeError('more is booked than was ever received');
  if (refunded > captured + recovered) throw new RangeError('more is refunded than was captured');
  if (offProvider + recovered > returned + refunded + writtenOff)
    throw new RangeError('more is taken back from the outgoing money than was booked as outgoing');
  const expectsMore = expectedOf(books) > expectedOf(ledger.books);
  const goesOut = bookedOutOf(books) > bookedOutOf(ledger.books);
  // A recovered or off-provider amount no longer has to leave through the provider.
  const takenBack = max(0n, bookedOutOf(ledger.books) - bookedOutOf(books));
  const forget = (source: Source): Source => ({ ...source, mostOutflow: max(0n, source.mostOutflow - takenBack) });
  return remember({
    ...ledger,
    books,
    verify: forget(ledger.verify),
    history: forget(ledger.history),
    bookedInAt: expectsMore ? at : ledger.bookedInAt,
    bookedOutAt: goesOut ? at : ledger.bookedOutAt,
  });
}

/**
 * Surplus that left before anybody decided about it. One source reports both: more received than the books know, and
 * more outflow. The caller books it as returned. While nothing is booked this is 0, because the other source may
 * still report the money, and then a person must look.
 */
export function returnedByItself({ books, verify, history }: Ledger): bigint {
  if (allocatedOf(books) === 0n) return 0n;
  const by = (source: Source): bigint => min(source.received - allocatedOf(books), source.outflow - bookedOutOf(books));
  return max(0n, max(by(verify), by(history)));
}

/**
 * How much of the missing money the sources report as gone: the most that one reports as excess outflow. If neither
 * reports any, both fall short, and what both lack has gone. A decision books no more than this.
 */
export function goneOf({ verify, history }: Pick<Position, 'verify' | 'history'>): bigint {
  const reportedBy = ({ missing, excessOutflow }: Standing): bigint => min(missing, max(0n, excessOutflow));
  const reported = max(reportedBy(verify), reportedBy(history));
  return reported > 0n ? reported : min(verify.missing, history.missing);
}

/** Whether the history, if it reported anything, leaves as much as the price: what it reports as gone pays nothing. */
export function historyLeaves({ history }: Ledger, price: bigint): boolean {
  const isSilent = history.mostReceived === 0n && history.outflow === 0n;
  return isSilent || history.received - history.outflow >= price;
}

/**
 * Keeps, per source, the most that it reported as gone of what is booked as outgoing. If a source reports less later,
 * money came back: a refund failed, or a dispute was won after its loss was written off.
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
