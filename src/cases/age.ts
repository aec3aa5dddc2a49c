/** How long a finding has been open: under one day, one to seven, seven to thirty, over thirty. */
export type Age = '<1d' | '1-7d' | '7-30d' | '>30d';

const DAY_SEC = 24 * 60 * 60;

/** The bounds of an age in seconds: from, and below; null: no upper bound. */
export const AGE_BOUNDS_SEC: Record<Age, { fromSec: number; belowSec: number | null }> = {
  '<1d': { fromSec: 0, belowSec: DAY_SEC },
  '1-7d': { fromSec: DAY_SEC, belowSec: 7 * DAY_SEC },
  '7-30d': { fromSec: 7 * DAY_SEC, belowSec: 30 * DAY_SEC },
  '>30d': { fromSec: 30 * DAY_SEC, belowSec: null },
};

/** The same for a person, the youngest first. */
export const AGE_WORDS: Readonly<Record<Age, string>> = {
  '<1d': 'today',
  '1-7d': 'this week',
  '7-30d': 'this month',
  '>30d': 'older',
};

export function ageOf(ageSec: number): Age {
  if (ageSec < DAY_SEC) return '<1d';
  if (ageSec < 7 * DAY_SEC) return '1-7d';
  return ageSec < 30 * DAY_SEC ? '7-30d' : '>30d';
}
