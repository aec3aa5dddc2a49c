import adapter from '../../../local/sandbox-adapter.ts';

/** Numbers with which no adapter may start, by what NUMBERS says. */
const WRONG: Record<string, object> = {
  'a lag of half a minute': { ...adapter, history: { ...adapter.history, lagMin: 0.5 } },
  'a lag below zero': { ...adapter, history: { ...adapter.history, lagMin: -1 } },
  'a reach of half a day': { ...adapter, history: { ...adapter.history, reachesBackDays: 89.5 } },
  'no reach': { ...adapter, history: { ...adapter.history, reachesBackDays: undefined } },
  'days that are no number': { ...adapter, payableDays: NaN },
  'no days': { ...adapter, payableDays: undefined },
};

export default WRONG[process.env.NUMBERS ?? ''];
