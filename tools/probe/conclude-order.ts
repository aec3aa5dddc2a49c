import type { Dialect } from '../../src/gateway/dialect/dialect.ts';
import { at, type Json } from '../../src/gateway/dialect/json-pointer.ts';
import { momentOf } from '../../src/gateway/history/windows.ts';
import { finding, quoted, type Finding } from './finding.ts';
import type { Observed } from './observed.ts';
import { isOneOf, placesOf } from './places.ts';

/** The first payment was opened before the last one. */
export function orderOf(rows: readonly Json[], references: readonly string[]): 'oldest' | 'newest' | null {
  const [first, last] = [references.slice(0, 1), references.slice(-1)].map((one) =>
    rows.findIndex((row) => isOneOf(row, one)),
  );
  if (first === undefined || last === undefined || first < 0 || last < 0) return null;
  return first < last ? 'oldest' : 'newest';
}

const DAY_MS = 24 * 60 * 60 * 1_000;

/**
 * The time that orders the list. The first payment is paid last, so the time of a change is in another order
 * than the time at which the payments were opened. Only a list in which it is seen to be paid shows which of
 * them it keeps to.
 */
export function newestFirstFinding({ history, sent, askedAt }: Observed, dialect: Dialect): Finding {
  const key = 'history.paging.newestFirstBy';
  const inForce = dialect.history.paging.newestFirstBy;
  const { page } = history.walked;
  const references = sent.map(({ reference }) => reference);
  const order = orderOf(page, references);
  const as = (verdict: 'agrees' | 'differs', seen: string, change: string | null): Finding => ({
    ...finding(key, verdict, seen, inForce),
    ...(verdict === 'differs' && { change }),
  });
  if (order === 'oldest')
    return as(inForce === null ? 'agrees' : 'differs', 'the list begins with the oldest', null);
  const cannotTell = (why: string): Finding => finding(key, 'cannot tell', why, inForce);
  if ((history.paging?.next ?? null) === null) return cannotTell('no pages were seen to be turned');
  if (history.agreedSec === null) return cannotTell('no payment was seen to become paid in the list');
  // Those behind the third may have been opened in one second.
  const mine = references.slice(0, 3).map((reference) => page.find((row) => isOneOf(row, [reference])));
  const isOrder = (place: string): boolean =>
    falls(page.map((row) => at(row, place))) && falls(mine.map((row) => at(row, place)).reverse(), 1);
  const places = placesOf(mine[0], (value) => {
    const ms = momentOf(value);
    return ms !== null && Math.abs(askedAt.getTime() - ms) < DAY_MS;
  }).filter(isOrder);
  const [place] = places;
  if (place === undefined) return cannotTell('no time with its zone orders the records of a page');
  const seen = `${quoted(places)}: so ${page.length} records of a page are ordered`;
  return inForce !== null && places.includes(inForce)
    ? as('agrees', seen, inForce)
    : as('differs', seen, place);
}

/** Whether each is a moment, and at least so many milliseconds before the one in front of it. */
function falls(times: readonly Json[], byMs = 0): boolean {
  let before = Infinity;
  return times.every((time) => {
    const ms = momentOf(time) ?? NaN;
    const isNext = before - ms >= byMs;
    before = ms;
    return isNext;
  });
}
