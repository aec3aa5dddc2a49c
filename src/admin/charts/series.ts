import { AGE_WORDS } from '../../cases/age.ts';
import type { OpenCases } from '../cases/cases.sql.ts';
import { WAIT_STEPS_SEC, type ConfirmedDay } from '../../reporting/money-by-day.sql.ts';

/** A column chart: one column per key, stacked from one part per class. */
export type Chart = {
  id: string;
  title: string;
  /** One sentence that says what there is to see. */
  summary: string;
  keys: readonly string[];
  classes: readonly string[];
  /** `values[key][class]`; a missing value is 0. */
  values: Record<string, Record<string, number>>;
  /** Formats a value for the table. */
  format: (value: number) => string;
  /** The same in few letters, for the axis. */
  short: (value: number) => string;
};

export const EARNED = 'earned';
export const HELD = 'held back';
const TO_DO = 'to do';

/** Who found out that an order was paid. */
const FINDERS: Readonly<Record<string, string>> = {
  webhook: 'webhook',
  return: 'shopper came back',
  schedule: 'our own checks',
  reconciliation: 'check against the service',
  operator: 'a person',
  hint: 'hint of unknown kind',
};

/** One colour has one meaning in all charts; the style sheet has as many. */
const MEANINGS = [EARNED, HELD, 'refunded', 'reversed', TO_DO, ...Object.values(FINDERS)];

/** The number of the colour of a class. */
export function colourOf(name: string): number {
  return Math.max(MEANINGS.indexOf(name), 0);
}

const COUNTS: Pick<Chart, 'format' | 'short'> = {
  format: (value) => value.toLocaleString('en'),
  short: (value) => value.toLocaleString('en'),
};

const WAITS = [...WAIT_STEPS_SEC.map((sec) => spanOf(sec)), 'longer', 'none'];

function spanOf(sec: number): string {
  if (sec < 60) return `${sec} s`;
  return sec < 3_600 ? `${sec / 60} min` : `${sec / 3_600} h`;
}

/** How long orders waited between the first webhook and their release. */
export function timeToConfirm(confirmed: readonly ConfirmedDay[], days: number): Chart {
  const values: Chart['values'] = {};
  let [withOne, quick, without] = [0, 0, 0];
  for (const { waited, foundBy, releases } of confirmed) {
    const key = WAITS[waited === -1 ? WAITS.length - 1 : waited] ?? '';
    const finder = FINDERS[foundBy] ?? foundBy;
    const ofKey = (values[key] ??= {});
    ofKey[finder] = (ofKey[finder] ?? 0) + releases;
    if (waited === -1) without += releases;
    else withOne += releases;
    if (waited === 0 || waited === 1) quick += releases;
  }
  const write = COUNTS.format;
  return {
    id: 'time-to-confirm',
    title: 'From the first webhook to confirmed, within',
    summary:
      withOne + without === 0
        ? `No order was paid in ${days} days.`
        : `${write(quick)} of the ${write(withOne)} orders with a webhook were confirmed within 5 s; ` +
          `${write(without)} came without one.`,
    keys: WAITS,
    classes: MEANINGS.filter((name) => Object.values(values).some((ofKey) => name in ofKey)),
    values,
    ...COUNTS,
  };
}

/** What is to be done, by how long it has been open. */
export function toDoByAge(cases: readonly OpenCases[]): Chart {
  const values: Chart['values'] = {};
  for (const { age, count } of cases) {
    const ofAge = (values[AGE_WORDS[age]] ??= {});
    ofAge[TO_DO] = (ofAge[TO_DO] ?? 0) + count;
  }
  const total = cases.reduce((all, { count }) => all + count, 0);
  return {
    id: 'to-do-by-age',
    title: 'To do, by age',
    summary:
      total === 0 ? 'Nothing to do.' : `${COUNTS.format(total)} ${total === 1 ? 'thing' : 'things'} to do.`,
    keys: Object.values(AGE_WORDS),
    classes: [TO_DO],
    values,
    ...COUNTS,
  };
}

export function totalOf({ values }: Pick<Chart, 'values'>, key: string): number {
  return Object.values(values[key] ?? {}).reduce((all, value) => all + value, 0);
}
