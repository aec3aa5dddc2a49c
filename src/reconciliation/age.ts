/** How long a finding has been open: under one day, one to seven, seven to thirty, over thirty. */
export type Age = '<1d' | '1-7d' | '7-30d' | '>30d';

const DAY_SEC = 24 * 60 * 60;

export function ageOf(ageSec: number): Age {
  if (ageSec < DAY_SEC) return '<1d';
  if (ageSec < 7 * DAY_SEC) return '1-7d';
  return ageSec < 30 * DAY_SEC ? '7-30d' : '>30d';
}
