import { allocatedOf, bookedOutOf, expectedOf, type Books } from './books.ts';
import type { Ledger } from './ledger.ts';
import { max, min, type Source } from './sources.ts';

/** What follows from a ledger by subtraction. */
export type Position = {
  /** What should be at the provider. Below 0: more was sent out than received, and the loss was written off. */
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
  /**
   * How much more outflow it reports than was booked. Below 0: it does not report all of what was
   * booked.
   */
  excessOutflow: bigint;
  /** It reports less than expected, even if it still has time to report more. */
  isShort: boolean;
};

/**
 * The position of a ledger. Of the two sources, held and missing are the larger figure. NotShown is
 * the smaller one: one source that reports a refund is enough.
 *
 * Example: 8500 paid the order, and a refund of 2500 was booked. Verify reports the refund. The
 * history reports a chargeback of 8500 instead.
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
 * For a history that had time and is certain, with the balance L = C - W, held - missing + notShown
 * is always L - E.
 * @param lagMin minutes for which the history may lack money after it was booked as being at the
 * provider
 */
export function positionOf(ledger: Ledger, lagMin: number): Position {
  const { books } = ledger;
  const verify = verifyStanding(ledger.verify, books);
  const inHistory = historyStanding(ledger, hadTime(ledger, lagMin));
  const history = { ...inHistory, isShort: inHistory.isShort && ledger.historyReachedAt !== null };
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

/**
 * Verify may never report a second charge that the history reports. So verify is never required to
 * show more than the most that it ever reported as received. With its balance L, that is missing =
 * min(E, mostReceived) - L.
 *
 * What verify has not reported yet is not a lack of it, so a negative surplus counts 0 in notShown.
 */
function verifyStanding(verify: Source, books: Books): Standing {
  const surplus = verify.received - allocatedOf(books);
  const beyondVerify = max(0n, expectedOf(books) - verify.mostReceived);
  return standingOf(verify, books, surplus + beyondVerify, max(0n, surplus));
}

/**
 * What the history reports counts at once. What it lacks counts only if it had the time to report
 * it. If it never reached back to the payment, it need not report what verify reports as received.
 * Some histories show a refund only as a smaller amount of its charge, so what is less by that
 * explains what was booked as going out.
 */
function historyStanding({ history, verify, books, historyReachedAt }: Ledger, hadTime: boolean): Standing {
  const surplus = history.received - allocatedOf(books);
  const byVerify = historyReachedAt === null ? verify.received - allocatedOf(books) : 0n;
  const inTime = hadTime ? surplus : max(0n, max(surplus, byVerify));
  const standing = standingOf(history, books, inTime, inTime);
  const isLess = history.received > 0n && surplus < 0n;
  const shownAsLess = isLess ? min(-surplus, max(0n, bookedOutOf(books))) : 0n;
  return { ...standing, excessOutflow: standing.excessOutflow + shownAsLess };
}

/**
 * @param missingSurplus the surplus for `missing`, without what the source need not report
 * @param notShownSurplus the same for `notShown`
 */
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

function hadTime({ bookedInAt, historyReachedAt }: Ledger, lagMin: number): boolean {
  if (historyReachedAt === null) return false;
  return bookedInAt === null || historyReachedAt.getTime() >= bookedInAt.getTime() + lagMin * 60_000;
}

/**
 * How much of the missing money the sources report as gone: the most that one reports as excess
 * outflow. If neither reports any, both fall short, and what both lack has gone. A decision books
 * no more than this.
 */
function goneOf({ verify, history }: Pick<Position, 'verify' | 'history'>): bigint {
  const reportedBy = ({ missing, excessOutflow }: Standing): bigint => min(missing, max(0n, excessOutflow));
  const reported = max(reportedBy(verify), reportedBy(history));
  return reported > 0n ? reported : min(verify.missing, history.missing);
}

/** The same from a ledger. Two sources that agree about a loss need no lag. */
export function goneFrom(ledger: Ledger): bigint {
  return goneOf(positionOf(ledger, 0));
}

/**
 * Surplus that left before anybody decided about it. One source reports both: more received than
 * the books know, and more outflow. The caller books it as returned. While nothing is booked this
 * is 0, because the other source may still report the money, and then a person must look.
 */
export function returnedByItself({ books, verify, history }: Ledger): bigint {
  if (allocatedOf(books) === 0n) return 0n;
  const by = (source: Source): bigint => min(source.received - allocatedOf(books), source.outflow - bookedOutOf(books));
  return max(0n, max(by(verify), by(history)));
}

/** Ten days. A refund takes some working days until the provider reports it. */
const NOT_SHOWN_MS = 10 * 24 * 60 * 60_000;

/**
 * The history was read whole ten days after money was last booked as going out: it must report that
 * by now. If no history was ever read, verify must.
 * @param verifiedAt when verify last answered
 */
export function isOutflowLate({ bookedOutAt, historyReadAt }: Ledger, verifiedAt: Date | null): boolean {
  const readAt = historyReadAt ?? verifiedAt;
  if (bookedOutAt === null || readAt === null) return false;
  return readAt.getTime() >= bookedOutAt.getTime() + NOT_SHOWN_MS;
}

/**
 * How much left before anybody decided about the money, by the source that reports most as held.
 * Nothing is booked about it yet. A refund of the rest books it as returned, too; after other
 * decisions, `returnedByItself` does that.
 */
export function leftBefore({ books, verify, history }: Ledger): bigint {
  if (allocatedOf(books) > 0n || bookedOutOf(books) > 0n) return 0n;
  const balanceOf = ({ received, outflow }: Source): bigint => received - outflow;
  const isLarger = balanceOf(history) > balanceOf(verify);
  const isFuller = balanceOf(history) === balanceOf(verify) && history.received > verify.received;
  const most = isLarger || isFuller ? history : verify;
  return min(most.received, most.outflow);
}

/** The balance that the history reports. Null: it never reported anything. */
export function historyBalance({ history }: Ledger): bigint | null {
  const isSilent = history.mostReceived === 0n && history.outflow === 0n;
  return isSilent ? null : history.received - history.outflow;
}

/**
 * Whether the history never reported anything, or certainly reports a balance of at least the
 * price. Money that it reports as gone, or doubts, pays nothing.
 */
export function historyLeaves(ledger: Ledger, price: bigint): boolean {
  const balance = historyBalance(ledger);
  return balance === null || (!ledger.history.isUncertain && balance >= price);
}
