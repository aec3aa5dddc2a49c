import type { Dialect } from '../../src/gateway/dialect/dialect.ts';
import { windowsToAsk } from '../../src/gateway/history/windows.ts';
import type { Query } from './paging.ts';
import { WINDOWS, windowsNamedIn } from './parameter-names.ts';

type Keys = Dialect['history']['paging'];

/** A window of time as a list may take it, in the words of the dialect. */
export type Window = Pick<Keys, 'windowFormat'> & {
  sinceParam: string;
  untilParam: string;
  windowDays: number;
};

const WINDOW_DAYS = 30;
/** With dates, the dialect takes no fewer. */
const FEWEST_DATES = 3;

/**
 * Each pair of names, those of the dialect and of the refusal first, with a time of day and with dates only.
 */
export function windowsToTry({ history: { paging } }: Dialect, refusal: string): Window[] {
  const { sinceParam: since, untilParam: until, windowDays } = paging;
  const known = since === null || until === null ? [] : [[since, until] as const];
  const days = windowDays ?? WINDOW_DAYS;
  return [...known, ...windowsNamedIn(refusal), ...WINDOWS].flatMap(([sinceParam, untilParam]): Window[] => [
    { sinceParam, untilParam, windowFormat: 'date-time', windowDays: days },
    { sinceParam, untilParam, windowFormat: 'date', windowDays: Math.max(days, FEWEST_DATES) },
  ]);
}

/** The newest window, as the program asks. */
export function windowQuery(window: Window, now: Date): Query {
  const [newest] = windowsToAsk(window, { until: now });
  return { [window.sinceParam]: newest?.since ?? '', [window.untilParam]: newest?.until ?? '' };
}

export function nameOf({ sinceParam, untilParam, windowFormat }: Window): string {
  return `history with ${sinceParam} and ${untilParam}${windowFormat === 'date' ? ' as dates' : ''}`;
}
