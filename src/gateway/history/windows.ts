import { systemClock } from '../../platform/clock.ts';
import type { Dialect } from '../dialect/dialect.ts';
import { at, numberText, tryReadJson, type Json } from '../dialect/json-pointer.ts';

/** The part of the history to ask for, if the dialect can. By creation, the only time both sides share. */
export type HistoryWindow = { since?: Date | undefined; until?: Date | undefined };

/** Both ends of one request as they are sent, ISO 8601; null: open. Plain data, kept in a checkpoint. */
export type AskedWindow = { since: string | null; until: string | null };

type Paging = Dialect['history']['paging'];

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Clocks and a filter's time zone may differ. Surplus rows drop out in the join; missing ones are lost. */
const MARGIN_MS = DAY_MS;
/** It is unspecified whether a window includes its ends, and whether a filter means the moment or its day. */
const OVERLAP_MS = DAY_MS;
/** A service that takes dates counts days in its own time zone, which may be half a day from ours. */
const DATE_MARGIN_MS = 2 * DAY_MS;

/**
 * The requests that cover the wanted period, newest first: the most recent money is the most urgent.
 * None is longer than the dialect's `windowDays`, and neighbours overlap, so that a record at an edge is
 * in at least one of them. Without `windowDays` there is one request, as open as the wanted period; with
 * it and without `since`, one window.
 */
export function windowsToAsk(
  { windowDays, windowFormat }: Pick<Paging, 'windowDays' | 'windowFormat'>,
  { since, until }: HistoryWindow,
  clock = systemClock,
): AskedWindow[] {
  const isByDate = windowFormat === 'date';
  const marginMs = isByDate ? DATE_MARGIN_MS : MARGIN_MS;
  const windowOf = (from?: number, to?: number): AskedWindow => ({
    since: textOf(from, windowFormat),
    until: textOf(to, windowFormat),
  });
  const first = since && since.getTime() - marginMs;
  if (windowDays === null) return [windowOf(first, until && until.getTime() + marginMs)];
  // From the 1st to the 30th are thirty days, if a service counts both.
  const lengthMs = (isByDate ? windowDays - 1 : windowDays) * DAY_MS;
  // With windows of one day the loop would otherwise never advance.
  const overlapMs = Math.min(OVERLAP_MS, lengthMs / 2);
  const windows: AskedWindow[] = [];
  let end = (until ?? clock.now()).getTime() + marginMs;
  const start = first ?? end - lengthMs;
  for (;;) {
    const begin = Math.max(start, end - lengthMs);
    windows.push(windowOf(begin, end));
    if (begin <= start) return windows;
    end = begin + overlapMs;
  }
}

function textOf(ms: number | undefined, format: Paging['windowFormat']): string | null {
  if (ms === undefined) return null;
  const iso = new Date(ms).toISOString();
  return format === 'date' ? iso.slice(0, 10) : iso;
}

/**
 * How far beyond the wanted period a list of it begins and ends, in milliseconds; null: it has all that is
 * older, or younger. Of a list that is read until it is older than wanted, the last page is not counted.
 */
export type Reach = { beforeMs: number | null; afterMs: number | null };

export function reachOf({ sinceParam, untilParam, newestFirstBy, windowFormat }: Paging): Reach {
  const marginMs = windowFormat === 'date' ? DATE_MARGIN_MS : MARGIN_MS;
  const filteredMs = sinceParam === null ? null : marginMs;
  return {
    beforeMs: newestFirstBy === null ? filteredMs : CLOCKS_MS,
    afterMs: untilParam === null ? null : marginMs,
  };
}

/** Transactions from before this are not wanted. `pointer`: where a record has its time. */
export type Bound = { ms: number; pointer: string };

/** Two clocks may differ by so much. */
const CLOCKS_MS = 15 * 60 * 1_000;

/** The bound of a list that is ordered, newest first, by a field of its records; null: it has none. */
export function boundOf(pointer: string | null, since: Date | undefined): Bound | null {
  return pointer === null || since === undefined ? null : { ms: since.getTime() - CLOCKS_MS, pointer };
}

/**
 * Whether a page goes down to before the bound. A page whose records are not newest first, or have no
 * readable time, does not: then the list is read to its end.
 */
export function isPast(bound: Bound | null, first: Buffer | null, last: Buffer | null): boolean {
  if (bound === null || first === null || last === null) return false;
  const timeOf = (row: Buffer): number | null => momentOf(at(tryReadJson(row), bound.pointer));
  const [newest, oldest] = [timeOf(first), timeOf(last)];
  return newest !== null && oldest !== null && oldest < newest && oldest < bound.ms;
}

const WITH_ZONE = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*(Z|[+-]\d{2}:?\d{2})$/i;
/** Seconds since 1970 have ten digits, milliseconds thirteen. */
const EPOCH = /^(\d{10})(\d{3})?$/;

/**
 * Milliseconds since 1970; null: unreadable. A time without its zone may be off by half a day, so it is
 * unreadable.
 */
export function momentOf(value: Json): number | null {
  const text = numberText(value) ?? '';
  const epoch = EPOCH.exec(text);
  if (epoch !== null) return Number(`${epoch[1]}${epoch[2] ?? '000'}`);
  const ms = WITH_ZONE.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(ms) ? null : ms;
}
