import { AGE_WORDS } from '../../cases/findings.ts';
import type { OpenCases } from '../cases/cases.sql.ts';
import {
  WAIT_STEPS_SEC,
  type ConfirmedDay,
  type HeldDay,
  type WentBackDay,
} from '../../reporting/money-by-day.sql.ts';
import { written } from '../../cases/case-text.ts';
import { minorDigits } from '../../platform/money.ts';

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

/** The money that came per day, split into earned and held back: one chart for each currency. */
export function receivedPerDay(
  confirmed: readonly ConfirmedDay[],
  held: readonly HeldDay[],
  days: readonly string[],
  locale: string,
): Chart[] {
  const currencies = [...new Set([...confirmed, ...held].map(({ currency }) => currency))].sort();
  return currencies.map((currency) => {
    const [earned, heldBack] = [confirmed, held].map((rows) =>
      rows.filter((row) => row.currency === currency),
    );
    const values: Chart['values'] = {};
    const write = writerOf(currency, locale);
    const add = (name: string, rows: readonly { day: string; amount: bigint }[] = []): void => {
      for (const { day, amount } of rows) {
        const ofDay = (values[day] ??= {});
        // For drawing only: what a number loses beyond 2^53 is smaller than a pixel, and the table
        // uses the same values.
        ofDay[name] = (ofDay[name] ?? 0) + Number(amount);
      }
    };
    add(EARNED, earned);
    add(HELD, heldBack);
    const heldSum = sum(heldBack);
    return {
      id: `received-${currency}`,
      title: `Money received per day, ${currency}`,
      summary: `${write(sum(earned))} earned in ${days.length} days${heldSum > 0n ? `, and ${write(heldSum)} held back` : ''}.`,
      keys: days,
      classes: heldSum > 0n ? [EARNED, HELD] : [EARNED],
      values,
      ...formatsOf(currency, locale),
    };
  });
}

/** The money that went back per day, and the takings it leaves: one chart for each currency that has some. */
export function wentBackPerDay(
  confirmed: readonly ConfirmedDay[],
  wentBack: readonly WentBackDay[],
  days: readonly string[],
  locale: string,
): Chart[] {
  return [...new Set(wentBack.map(({ currency }) => currency))].sort().map((currency) => {
    const write = writerOf(currency, locale);
    const [came, went] = [confirmed, wentBack].map((rows) => rows.filter((row) => row.currency === currency));
    const values: Chart['values'] = {};
    for (const { day, by, amount } of wentBack.filter((row) => row.currency === currency))
      (values[day] ??= {})[by] = Number(amount);
    return {
      id: `went-back-${currency}`,
      title: `Went back per day, ${currency}`,
      summary:
        `${write(sum(went))} went back in ${days.length} days, which leaves takings of ` +
        `${write(sum(came) - sum(went))}.`,
      keys: days,
      classes: ['refunded', 'reversed'],
      values,
      ...formatsOf(currency, locale),
    };
  });
}

function sum(rows: readonly { amount: bigint }[] = []): bigint {
  return rows.reduce((all, { amount }) => all + amount, 0n);
}

function formatsOf(currency: string, locale: string): Pick<Chart, 'format' | 'short'> {
  const write = writerOf(currency, locale);
  const ofMajor = 10 ** (minorDigits(currency) ?? 0);
  const compact = new Intl.NumberFormat(locale, { notation: 'compact' });
  return {
    format: (value) => write(BigInt(Math.round(value))),
    short: (value) => compact.format(value / ofMajor),
  };
}

function writerOf(currency: string, locale: string): (amount: bigint) => string {
  return (amount) => written({ amount, currency }, locale);
}
