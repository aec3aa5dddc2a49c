/**
 * The ledger of one reference in one currency: what the sources showed, what came and went, and what became of it.
 * Pure: the same rows in, the same rows out. Amounts are minor units, and every counter only grows.
 */
export type Ledger = {
  /** What is there, and what went of it, by verify's newest answer about money; `verifyShows` null: none yet. */
  verifyShows: bigint | null;
  verifyGone: bigint;
  /** The same by the list as it was last heard, or is taken to be until then; null: neither. */
  listShows: bigint | null;
  listGone: bigint;
  came: bigint;
  went: bigint;
  earned: bigint;
  kept: bigint;
  sendBack: bigint;
  refunded: bigint;
  sendBackElsewhere: bigint;
  refundedElsewhere: bigint;
  lost: bigint;
  /** The part of sendBack that went back although no person had booked it. */
  byItself: bigint;
};
export type Counter = Exclude<keyof Ledger, keyof typeof UNSEEN>;

/** How much of which counter: a row of the journal each. */
export type Growth = Partial<Record<Counter, bigint>>;

const NOTHING = { came: 0n, went: 0n, earned: 0n, kept: 0n, sendBack: 0n, refunded: 0n, lost: 0n, byItself: 0n };
const NOTHING_ELSEWHERE = { sendBackElsewhere: 0n, refundedElsewhere: 0n };
const UNSEEN = { verifyShows: null, verifyGone: 0n, listShows: null, listGone: 0n };
export const EMPTY: Ledger = { ...UNSEEN, ...NOTHING, ...NOTHING_ELSEWHERE };

/** What follows from a ledger by subtraction. */
export type Standing = {
  /** All that is booked as going back through the service, shown by it or not yet. */
  toGo: bigint;
  /** Came, and nothing has been done with it: the shop's debt until somebody decides. */
  held: bigint;
  /** Went, and nobody wrote down why: goods may be out, and the money is gone. */
  reversed: bigint;
  /** Refunds and write-offs that no source shows yet. */
  stillToGo: bigint;
  /** The books; may be negative. */
  ours: bigint;
  /** What a released payment must still show. */
  need: bigint;
  /** What people have booked as going back through the service: to see so much go is no news. */
  expected: bigint;
};

export function standingOf(m: Ledger): Standing {
  const toGo = m.refunded - m.refundedElsewhere + m.sendBack - m.sendBackElsewhere;
  return {
    toGo,
    held: m.came - m.earned - m.kept - m.sendBack,
    reversed: max(0n, m.went - toGo - m.lost),
    stillToGo: max(0n, toGo + m.lost - m.went),
    ours: m.earned + m.kept - m.refunded - m.lost,
    need: m.earned - (m.refunded - m.refundedElsewhere) - m.lost,
    expected: toGo - m.byItself,
  };
}

/**
 * Verify says what is there of a charge, and what went of it.
 * @param gone null: all that came
 */
export function observeVerify(m: Ledger, shows: bigint, gone: bigint | null): Ledger {
  const verifyGone = gone ?? (m.verifyShows === null ? m.came : m.verifyShows + m.verifyGone);
  return settle(follow({ ...m, ...untilHeard(m, shows, verifyGone), verifyShows: shows, verifyGone }));
}

/**
 * What the list is taken to show until it is heard. Where verify's figure fell by more than it names as gone, the list
 * still shows that. Where verify takes back that money went (a dispute was won), so does the list, but for refunds.
 */
function untilHeard(m: Ledger, shows: bigint, gone: bigint): Pick<Ledger, 'listShows' | 'listGone'> {
  const shown = m.verifyShows ?? 0n;
  const isLess = shown - shows > max(0n, gone - m.verifyGone);
  // Where the list shows more than verify did, it has taken it back already.
  const isAhead = (m.listShows ?? 0n) > shown;
  const takenBack = isAhead ? 0n : max(0n, min(m.verifyGone - gone, shows - shown));
  const listGone = max(min(m.listGone, standingOf(m).expected), m.listGone - takenBack);
  const came = max((m.listShows ?? 0n) + m.listGone, isLess ? shown + m.verifyGone : 0n);
  return { listShows: came === 0n ? m.listShows : came - listGone, listGone };
}

/**
 * A whole run heard the list. Whether it may be heard is the caller's to know: the run began `lagMin` after verify last
 * said something else of the reference, and verify was asked in that run.
 */
export function observeList(m: Ledger, listShows: bigint, listGone: bigint): Ledger {
  return settle(follow({ ...m, listShows, listGone }));
}

/**
 * There is the most that a source shows as come, less the most that a source shows as gone. Of a payment of 85:
 *
 *   verify says         the list shows            there   booked
 *   60, and 25 gone     85: late, or never         60     25 went
 *   85: no refunds      60, and 25 gone            60     25 went
 *   85: the first one   170: two charges          170     85 came, and is held
 *   85: the second      85, and 85 gone            85     85 came, and 85 went
 */
function follow(m: Ledger): Ledger {
  const [verifyShows, listShows] = [m.verifyShows ?? 0n, m.listShows ?? 0n];
  const gone = max(m.verifyGone, m.listGone);
  const there = max(verifyShows + m.verifyGone, listShows + m.listGone) - gone;
  // Neither counter shrinks: what is there again came again.
  const came = max(m.came, there + max(m.went, gone));
  return { ...m, came, went: came - there };
}

/** What goes eats first what was to go, then what waits (it went back by itself), and only then what was earned. */
function settle(m: Ledger): Ledger {
  const { held, toGo } = standingOf(m);
  const byItself = min(held, m.went - toGo - m.lost);
  return byItself > 0n ? { ...m, sendBack: m.sendBack + byItself, byItself: m.byItself + byItself } : m;
}

/** @returns each counter that grew, by how much */
export function growthOf(before: Ledger, after: Ledger): Growth {
  const counters = Object.keys({ ...NOTHING, ...NOTHING_ELSEWHERE }) as Counter[];
  const grown = counters.filter((one) => after[one] > before[one]);
  return Object.fromEntries(grown.map((one) => [one, after[one] - before[one]]));
}

/** Adds to counters: a release or a person's decision. @throws RangeError where the rules of money forbid it */
export function grow(m: Ledger, growth: Growth): Ledger {
  const after = { ...m };
  for (const [counter, by] of Object.entries(growth) as [Counter, bigint][]) {
    if (by < 0n) throw new RangeError(`${counter} only grows`);
    after[counter] += by;
  }
  const fits =
    after.earned + after.kept + after.sendBack <= after.came &&
    after.refunded <= after.earned &&
    after.refundedElsewhere <= after.refunded &&
    after.sendBackElsewhere <= after.sendBack &&
    after.refunded - after.refundedElsewhere + after.lost <= after.earned + after.kept;
  if (!fits) throw new RangeError('more than came, or more than was earned');
  return after;
}

export const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
export const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
