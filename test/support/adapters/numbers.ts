import adapter from '../../../local/sandbox-adapter.ts';

/** Invalid numbers, chosen by NUMBERS. No program may start with one of them. */
const WRONG: Record<string, object> = {
  'a lag of half a minute': { ...adapter, history: { ...adapter.history, lagMin: 0.5 } },
  'a lag below zero': { ...adapter, history: { ...adapter.history, lagMin: -1 } },
  'a reach of half a day': { ...adapter, history: { ...adapter.history, reachesBackDays: 89.5 } },
  'no reach': { ...adapter, history: { ...adapter.history, reachesBackDays: undefined } },
  'days that are no number': { ...adapter, payableDays: NaN },
  'no days': { ...adapter, payableDays: undefined },
};

export default WRONG[process.env.NUMBERS ?? ''];
