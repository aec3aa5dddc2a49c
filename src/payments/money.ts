/**
 * The ledger of one reference in one currency: what the sources showed, what came and went, and what became of it.
 * Pure: the same rows in, the same rows out. Amounts are minor units, and every counter only grows.
 */
export type Ledger = {
  /** By verify's newest readable answer, less what it hides; null: none yet. */
  verifyShows: bigint | null;
  /** What went of its charge by the list alone: verify says only a state and an amount. */
  verifyHides: bigint;
  /** By the list as it was last heard, or is taken to be until then; null: neither. */
  listShows: bigint | null;
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
export type Counter = Exclude<keyof Ledger, 'verifyShows' | 'verifyHides' | 'listShows'>;

/** How much of which counter: a row of the journal each. */
export type Growth = Partial<Record<Counter, bigint>>;

const NOTHING = { came: 0n, went: 0n, earned: 0n, kept: 0n, sendBack: 0n, refunded: 0n, lost: 0n, byItself: 0n };
const NOTHING_ELSEWHERE = { sendBackElsewhere: 0n, refundedElsewhere: 0n };
export const EMPTY: Ledger = { verifyShows: null, verifyHides: 0n, listShows: null, ...NOTHING, ...NOTHING_ELSEWHERE };

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
 * Verify says that `said` is there, and hides what only the list showed as gone. A fall in verify alone waits for the
 * list, which may still show the money: until it is heard, it is taken to show what verify showed before, less what
 * verify names.
 * @param gone what went back since the last answer, by this one; null: all that came
 * @param named what this answer names as gone: so much less is hidden
 */
export function observeVerify(m: Ledger, said: bigint, gone: bigint | null, named = 0n): Ledger {
  const before = m.verifyShows ?? 0n;
  const shows = max(min(said, before), said - max(0n, m.verifyHides - named));
  // Once verify itself says that all of it went, it hides that no more.
  const verifyHides = said === 0n && before === 0n ? max(0n, m.verifyHides - named) : m.verifyHides;
  if (shows >= before) return settle(follow({ ...m, verifyShows: shows, verifyHides }));
  const known = max(before, m.listShows ?? 0n);
  return settle(follow({ ...m, verifyShows: shows, listShows: gone === null ? 0n : max(0n, known - gone) }));
}

type Known = bigint | null;

/**
 * A whole run heard the list. Whether it may be heard is the caller's to know: the run began `lagMin` after verify last
 * said something else of the reference, and verify was asked in that run.
 * @param gone what the list shows as gone: a charge that goes while another comes is booked as both
 * @param before what it showed when it was last heard; null: it never was
 * @param named what verify's newest answer names as gone; null: it does not say
 */
export function observeList(m: Ledger, shows: bigint, gone: bigint, before?: Known, named?: Known): Ledger {
  const there = m.came - m.went;
  // Of 100 verify says that 40 went, and the list shows 100 as before: it shows refunds late, or never.
  const isKnown = shows <= (before ?? m.came) && shows + gone <= m.came;
  const isBehind = isKnown && shows > there && m.verifyShows !== null && (named ?? m.went) >= m.went - gone;
  // Before verify has shown any money it may hide all that went. What the list shows again is not hidden.
  const hides = m.verifyShows === null ? gone : shows > (m.listShows ?? 0n) ? min(m.verifyHides, gone) : m.verifyHides;
  const followed = follow({ ...m, verifyHides: hides, listShows: isBehind ? there : shows });
  // Of 100 it shows 60 and 40 gone: verify only does not show what went. So with a charge that came and went meanwhile.
  const hidden = (m.verifyShows ?? 0n) - shows;
  const more = max(0n, gone - followed.went);
  const isAll = more > 0n && hidden > 0n && (shows + gone <= m.came || hidden <= more);
  const all = { ...m, listShows: shows, verifyShows: shows, verifyHides: m.verifyHides + hidden };
  const known = isAll ? follow(all) : followed;
  const late = max(0n, gone - known.went);
  return settle({ ...known, came: known.came + late, went: known.went + late });
}

/** came - went is what the source that shows more shows: a rise grows what came, a fall what went. */
function follow(m: Ledger): Ledger {
  const change = max(m.verifyShows ?? 0n, m.listShows ?? 0n) - (m.came - m.went);
  return change > 0n ? { ...m, came: m.came + change } : { ...m, went: m.went - change };
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
