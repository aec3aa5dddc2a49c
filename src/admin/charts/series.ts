import { AGES } from '../cases/filter.ts';
import { displayMoney, minorDigits } from '../../platform/money.ts';
import type { OpenWork } from '../../reporting/shop-state.sql.ts';
import {
  WAIT_STEPS_SEC,
  type ConfirmedDay,
  type HeldDay,
  type WentBackDay,
} from '../../reporting/money-by-day.sql.ts';

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
  /** Formats a value for the table and the axis. */
  format: (value: number) => string;
};

export const CONFIRMED = 'confirmed';

/** The money that came per day, split into confirmed and held by class: one chart for each currency. */
export function collectedPerDay(
  confirmed: readonly ConfirmedDay[],
  held: readonly HeldDay[],
  days: readonly string[],
  locale: string,
): Chart[] {
  const currencies = [...new Set([...confirmed, ...held].map(({ currency }) => currency))].sort();
  return currencies.map((currency) => {
    const values: Chart['values'] = {};
    const write = writerOf(currency, locale);
    const add = (day: string, name: string, amount: bigint): void => {
      const ofDay = (values[day] ??= {});
      // For drawing only: what a number loses beyond 2^53 is smaller than a pixel, and the table
      // uses the same values.
      ofDay[name] = (ofDay[name] ?? 0) + Number(amount);
    };
    let total = 0n;
    for (const row of confirmed.filter((each) => each.currency === currency)) {
      add(row.day, CONFIRMED, row.amount);
      total += row.amount;
    }
    const strays = held.filter((each) => each.currency === currency);
    for (const row of strays) add(row.day, row.class, row.amount);
    return {
      id: `collected-${currency}`,
      title: `Collected per day, ${currency}`,
      summary: `${write(total)} confirmed in ${days.length} days${strays.length > 0 ? ', and money that was not earned besides' : ''}.`,
      keys: days,
      classes: [CONFIRMED, ...[...new Set(strays.map((row) => row.class))].sort()],
      values,
      format: (value) => write(BigInt(Math.round(value))),
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
    const sum = (rows: readonly { amount: bigint }[] = []): bigint =>
      rows.reduce((all, { amount }) => all + amount, 0n);
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
      format: (value) => write(BigInt(Math.round(value))),
    };
  });
}

function writerOf(currency: string, locale: string): (amount: bigint) => string {
  return (amount) =>
    minorDigits(currency) === null
      ? `${currency} ${amount} minor units`
      : displayMoney({ amount, currency }, locale);
}

const WAITS = [...WAIT_STEPS_SEC.map((sec) => `under ${spanOf(sec)}`), 'longer', 'no webhook'];

function spanOf(sec: number): string {
  if (sec < 60) return `${sec} s`;
  return sec < 3_600 ? `${sec / 60} min` : `${sec / 3_600} h`;
}

/** How long orders waited between the first webhook and their release. */
export function timeToConfirm(confirmed: readonly ConfirmedDay[], days: number): Chart {
  const values: Chart['values'] = {};
  let all = 0;
  let quick = 0;
  for (const { waited, foundBy, releases } of confirmed) {
    const key = WAITS[waited === -1 ? WAITS.length - 1 : waited] ?? '';
    const ofKey = (values[key] ??= {});
    ofKey[foundBy] = (ofKey[foundBy] ?? 0) + releases;
    all += releases;
    if (waited >= 0 && waited <= 1) quick += releases;
  }
  return {
    id: 'time-to-confirm',
    title: 'From the first webhook to confirmed',
    summary:
      all === 0
        ? `No order was confirmed in ${days} days.`
        : `Of ${all.toLocaleString('en')} orders in ${days} days, ${Math.round((quick / all) * 100)} % were confirmed within 5 seconds of the first webhook.`,
    keys: WAITS,
    classes: [...new Set(confirmed.map(({ foundBy }) => foundBy))].sort(),
    values,
    format: (value) => value.toLocaleString('en'),
  };
}

/** The open findings, by how long they have been open. */
export function findingsByAge(findings: readonly Pick<OpenWork, 'class' | 'age' | 'count'>[]): Chart {
  const values: Chart['values'] = {};
  for (const { class: name, age, count } of findings) (values[age] ??= {})[name] = count;
  const total = findings.reduce((sum, { count }) => sum + count, 0);
  return {
    id: 'findings-by-age',
    title: 'Open findings by age',
    summary: total === 0 ? 'No finding is open.' : `${total.toLocaleString('en')} findings are open.`,
    keys: AGES,
    classes: [...new Set(findings.map((row) => row.class))].sort(),
    values,
    format: (value) => value.toLocaleString('en'),
  };
}

export function totalOf({ values }: Chart, key: string): number {
  return Object.values(values[key] ?? {}).reduce((sum, value) => sum + value, 0);
}
