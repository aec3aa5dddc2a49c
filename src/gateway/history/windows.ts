import { systemClock } from '../../platform/clock.ts';
import type { Dialect } from '../dialect/dialect.ts';

/** Which part of the history is wanted, where the dialect can say so. By creation: the only time both sides share. */
export type HistoryWindow = { since?: Date | undefined; until?: Date | undefined };

/** The two ends of one question, in ISO 8601; null: open. Plain data, to be kept in a bookmark. */
export type AskedWindow = { since: string | null; until: string | null };

const DAY_MS = 24 * 60 * 60 * 1_000;
/** The clocks of both sides and the time zone of a filter may differ. Too much is joined away, too little is missed. */
const MARGIN_MS = DAY_MS;
/** Whether an end belongs to its window, and whether a filter means the moment or its day, nobody says. */
const OVERLAP_MS = DAY_MS;

/**
 * The questions that cover what is wanted, newest first: money that came last is waited for. None is longer than the
 * dialect's `windowDays`, and each begins inside of the next, so that a record at an edge stands in one of them at least.
 * Without `windowDays` there is one question, as open as what is wanted; with it and without `since`, one window.
 */
export function windowsToAsk(
  { windowDays }: Pick<Dialect['history']['paging'], 'windowDays'>,
  { since, until }: HistoryWindow,
  clock = systemClock,
): AskedWindow[] {
  const first = since && since.getTime() - MARGIN_MS;
  if (windowDays === null) return [windowOf(first, until && until.getTime() + MARGIN_MS)];
  const lengthMs = windowDays * DAY_MS;
  // Two windows of a day would otherwise never get further.
  const overlapMs = Math.min(OVERLAP_MS, lengthMs / 2);
  const windows: AskedWindow[] = [];
  let end = (until ?? clock.now()).getTime() + MARGIN_MS;
  const start = first ?? end - lengthMs;
  for (;;) {
    const begin = Math.max(start, end - lengthMs);
    windows.push(windowOf(begin, end));
    if (begin <= start) return windows;
    end = begin + overlapMs;
  }
}

function windowOf(since: number | undefined, until: number | undefined): AskedWindow {
  return { since: isoOf(since), until: isoOf(until) };
}

function isoOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
