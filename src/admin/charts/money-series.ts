import { displayMoney, minorDigits } from '../../platform/money.ts';
import type { ConfirmedDay, HeldDay, WentBackDay } from '../../reporting/money-by-day.sql.ts';
import { EARNED, HELD, type Chart } from './series.ts';

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
  return (amount) =>
    minorDigits(currency) === null
      ? `${currency} ${amount} minor units`
      : displayMoney({ amount, currency }, locale);
}
