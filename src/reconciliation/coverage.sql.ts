import type { Queryable } from '../platform/database/database.ts';
import type { Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import type { Dialect } from '../gateway/dialect/dialect.ts';
import type { Sentinels } from './import/sentinels.sql.ts';

/** Payments that the list lacks, by the times at which they were written. */
type Missing = { count: bigint; oldest: Date; newest: Date };

/**
 * Confirmed payments of `differing` that the list lacks; null when there are none.
 * @param confirmedBefore leaves out what may be too young for the list
 * @param writtenFrom leaves out what is older
 */
async function findMissing(
  db: Queryable,
  confirmedBefore: Date,
  writtenFrom: Date | null = null,
): Promise<Missing | null> {
  const [row] = await db.query<Missing>(
    `SELECT count(*) AS count, min(created_at) AS oldest, max(created_at) AS newest FROM differing
     WHERE is_released AND NOT is_listed AND NOT is_before AND released_at < $1
       AND ($2::timestamptz IS NULL OR created_at >= $2)
     HAVING count(*) > 0`,
    [confirmedBefore, writtenFrom],
  );
  return row ?? null;
}

/** Our payments in the list: when the first and the last of them were written, and the order of the list. */
type ListRange = {
  rows: bigint;
  oldest: Date | null;
  newest: Date | null;
  order: 'newest first' | 'oldest first' | 'none';
};

/**
 * A list counts as ordered when nine of ten neighbours are in order, because late payments are out of
 * place. Fewer than four pairs prove nothing.
 */
const ORDER = `CASE WHEN greatest(up, down) < 4 THEN 'none' WHEN down * 9 <= up THEN 'oldest first'
  WHEN up * 9 <= down THEN 'newest first' ELSE 'none' END`;

/** Joins the whole list with the payments: call it only where something is missing. */
async function rangeOfList(db: Queryable, mode: Mode): Promise<ListRange> {
  const [row] = await db.query<ListRange>(
    `WITH ours AS (
       SELECT p.created_at, lag(p.created_at) OVER (ORDER BY h.seq) AS before
       FROM history_rows h JOIN payments p ON p.mode = $1 AND p.reference = h.reference
     ), counted AS (
       SELECT min(created_at) AS oldest, max(created_at) AS newest,
         count(*) FILTER (WHERE created_at > before) AS up,
         count(*) FILTER (WHERE created_at < before) AS down FROM ours
     )
     SELECT oldest, newest, ${ORDER} AS "order", (SELECT count(*) FROM history_rows) AS rows FROM counted`,
    [mode],
  );
  return row ?? { rows: 0n, oldest: null, newest: null, order: 'none' };
}

/**
 * When the sentinels that the list lacks were written; null when it has all of them, null times when
 * none of them is ours.
 */
async function lostSentinels(
  db: Queryable,
  mode: Mode,
  references: readonly Reference[],
): Promise<{ oldest: Date | null; newest: Date | null } | null> {
  const [row] = await db.query<{ oldest: Date | null; newest: Date | null }>(
    `SELECT min(p.created_at) AS oldest, max(p.created_at) AS newest
     FROM unnest($2::text[]) sentinel (reference)
     LEFT JOIN payments p ON p.mode = $1 AND p.reference = sentinel.reference
     WHERE NOT EXISTS (SELECT FROM history_rows h WHERE h.reference = sentinel.reference)
     HAVING count(*) > 0`,
    [mode, references],
  );
  return row ?? null;
}

/** What the list can be expected to hold. */
export type Coverage = {
  /** Payments confirmed later than this may be too young for the list. */
  lagFrom: Date;
  /** Payments written before this are older than the list reaches; null: it reaches back to the first. */
  reachesTo: Date | null;
  /** Whether `reachesTo` was inferred by the run and not configured in the dialect. */
  isNoticed: boolean;
  /** Why no payment may be reported as absent from it; null when there is no such reason. */
  cut: string | null;
};

type CoverageQuestion = {
  mode: Mode;
  /** The database's time at which the list was begun. */
  startedAt: Date;
  rules: Pick<Dialect['history'], 'lagSec' | 'reachesBackDays'>;
  /** Whether the end of the list is only assumed: no answer of the service marked it. */
  isEndAssumed: boolean;
  /** Whether older transactions were left out of the list. */
  isPart: boolean;
  /** Of the last complete run; null: there was none, or this run is about a window. */
  sentinels: Sentinels | null;
  /** Why the list seems shorter than in that run; null when it does not. */
  shorter: string | null;
};

/** Lists lag behind payments. This is the lag where the dialect does not name one. */
const USUAL_LAG_SEC = 15 * 60;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** If the oldest entry is younger than this, the list is taken as cut off, not as a list of the last days. */
const LEAST_REACH_MS = DAY_MS;

/**
 * Finds out how far the list reaches, from our confirmed payments that it lacks. Verify has confirmed each
 * of them, so either the list does not reach back to them, or they are absent. If all of them are older
 * than everything listed, they share one cause. Call it after `differing` was created. It is expensive
 * only where a payment is missing.
 */
export async function findCoverage(db: Queryable, question: CoverageQuestion): Promise<Coverage> {
  const { mode, startedAt, sentinels, shorter } = question;
  const { lagSec, reachesBackDays } = question.rules;
  const lagFrom = new Date(startedAt.getTime() - (lagSec ?? USUAL_LAG_SEC) * 1_000);
  const known = reachesBackDays === null ? null : reachBy(startedAt, reachesBackDays);
  const missing = await findMissing(db, lagFrom);
  if (missing === null && shorter === null) return { lagFrom, reachesTo: known, isNoticed: false, cut: null };
  const range = await rangeOfList(db, mode);
  // What is older than all that was read is left to the next run over everything.
  const named = question.isPart ? (range.oldest ?? startedAt) : known;
  const lost =
    shorter === null || sentinels === null ? null : await lostSentinels(db, mode, sentinels.references);
  const oldestGone = earlier(missing?.oldest ?? null, lost?.oldest ?? null);
  const noticed = named === null ? noticeReach(startedAt, range, oldestGone) : null;
  const reachesTo = named ?? noticed;
  const isOlder = (date: Date | null): boolean => reachesTo !== null && date !== null && date < reachesTo;
  // A list that covers a fixed number of days loses its oldest rows every day.
  const isShortened = shorter !== null && !(reachesTo !== null && (lost === null || isOlder(lost.newest)));
  const cut = isShortened
    ? shorter
    : question.isEndAssumed
      ? await whyCut(db, question, range, { lagFrom, reachesTo })
      : null;
  return { lagFrom, reachesTo, isNoticed: noticed !== null, cut };
}

/** How many whole days the list reaches back; null: to the first payment, as far as is known. */
export function daysOf({ reachesTo }: Coverage, startedAt: Date): number | null {
  return reachesTo === null ? null : Math.floor((startedAt.getTime() - reachesTo.getTime()) / DAY_MS);
}

function reachBy(startedAt: Date, days: number): Date | null {
  return days === 0 ? null : new Date(startedAt.getTime() - days * DAY_MS);
}

function noticeReach(startedAt: Date, { oldest }: ListRange, oldestGone: Date | null): Date | null {
  if (oldest === null || oldestGone === null || oldestGone >= oldest) return null;
  return startedAt.getTime() - oldest.getTime() >= LEAST_REACH_MS ? oldest : null;
}

function earlier(one: Date | null, other: Date | null): Date | null {
  return one === null || (other !== null && other < one) ? other : one;
}

/**
 * Decides whether a list whose end is only assumed, and that lacks payments, was cut off. If a list is
 * ordered by time, payments missing inside its range were not cut off. A list in no order may lack any
 * payment, unless a complete run saw it before.
 */
async function whyCut(
  db: Queryable,
  { sentinels }: CoverageQuestion,
  range: ListRange,
  { lagFrom, reachesTo }: Pick<Coverage, 'lagFrom' | 'reachesTo'>,
): Promise<string | null> {
  const missing = await findMissing(db, lagFrom, reachesTo);
  if (missing === null || !isBeyond(missing, range, sentinels !== null)) return null;
  return (
    `nothing in the answer says that the history ends after its ${range.rows} records,
      and ${missing.count} confirmed ` +
    'payments are not among them: name the paging in the dialect (history.paging)'
  );
}

function isBeyond(missing: Missing, { oldest, newest, order }: ListRange, wasSeenWhole: boolean): boolean {
  if (oldest === null || newest === null) return true;
  if (order === 'newest first') return missing.oldest < oldest;
  if (order === 'oldest first') return missing.newest > newest;
  return !wasSeenWhole;
}
