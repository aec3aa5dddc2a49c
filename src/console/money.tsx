import type { Response } from 'express';
import type { VNode } from 'preact';
import { pipeline } from 'node:stream/promises';
import { spanOf, thisMonth } from '../commands/named.ts';
import { dateOf, type View } from '../custom/days.ts';
import type { Mode, PrismaClient } from '../platform/prisma/client.ts';
import { bookPages, isMonth, monthAfter, monthSpan, movementsOf, TYPES } from '../reporting/books.ts';
import type { MovementType, Span } from '../reporting/books.ts';
import { csvOf } from '../reporting/export.ts';
import { amountText } from '../reporting/words.ts';
import type { Drawn, Here } from './frame.tsx';
import * as ui from './parts.tsx';
import { DAY_MS, heldNow } from './queries.ts';
import words from './words.json' with { type: 'json' };

/**
 * The movements of a period in one currency, in minor units, by type. `earned` is the sum of the
 * types that change what the shop has earned. `held` is the change of held money.
 */
export type Sums = Record<MovementType | 'earned', bigint>;
export type Totals = Map<string, Sums>;
const NAMES = [...TYPES, 'earned'] as const;

function addTo(totals: Totals, currency: string, change: Partial<Sums>): void {
  const before = totals.get(currency);
  const sums = NAMES.map((name) => [name, (before?.[name] ?? 0n) + (change[name] ?? 0n)]);
  totals.set(currency, Object.fromEntries(sums) as Sums);
}

export function totalOf(days: readonly (readonly [date: string, totals: Totals])[]): Totals {
  const all: Totals = new Map();
  for (const [, totals] of days) for (const [currency, sums] of totals) addTo(all, currency, sums);
  return new Map([...all].sort());
}

async function readSums(prisma: PrismaClient, mode: Mode, span: Span): Promise<Totals> {
  const totals: Totals = new Map();
  for (const { type, currency, earned, held } of await movementsOf(prisma, mode, span)) {
    if (type === 'returned') addTo(totals, currency, { returned: held, held });
    else if (type === 'held') addTo(totals, currency, { held });
    else addTo(totals, currency, { [type]: earned, earned, held });
  }
  return totals;
}

/** No transaction lasts this long, so the sums of a period that ended earlier are final. */
const SETTLED_MS = 60_000;
const HOUR_MS = 3_600_000;

/**
 * The movements by day, which Today, Orders and Money add up. The sums of past periods are read
 * once.
 */
export function createBooks(prisma: PrismaClient, mode: Mode) {
  const known = new Map<string, Totals>();
  async function read(from: number, to: number): Promise<Totals> {
    const key = `${from} ${to}`;
    const sums = known.get(key) ?? (await readSums(prisma, mode, { gte: new Date(from), lt: new Date(to) }));
    if (to + SETTLED_MS < Date.now()) known.set(key, sums);
    return sums;
  }
  /** Returns the movements of each day up to today. Today is read hour by hour. */
  return async ({ gte, lt }: Span, view: View): Promise<[date: string, totals: Totals][]> => {
    const days: [string, Totals][] = [];
    const end = Date.parse(dateOf(new Date(Math.min(Number(lt) - 1, Number(view.now))), view.timeZone));
    for (let day = Date.parse(dateOf(gte, view.timeZone)); day <= end; day += DAY_MS) {
      const date = new Date(day).toISOString().slice(0, 10);
      const { gte: from, lt: to } = spanOf(date, view);
      const [over, step] = to <= view.now ? [to, Number(to) - Number(from)] : [view.now, HOUR_MS];
      const hours: [string, Totals][] = [];
      for (let at = Number(from); at < Number(over); at += step) hours.push([date, await read(at, at + step)]);
      days.push([date, totalOf(hours)]);
    }
    return days;
  };
}

/** `12,750.00`: the heading names the currency. */
export const figure = (amount: bigint, currency: string): string => amountText({ amount, currency }).slice(4);

export const moneyText = (sums: Iterable<readonly [currency: string, amount: bigint]>): string =>
  [...sums].map(([currency, amount]) => amountText({ amount, currency })).join(', ');

type Days = readonly (readonly [date: string, totals: Totals])[];
const earnedOn = (totals: Totals, currency: string): bigint => totals.get(currency)?.earned ?? 0n;

/** A chart for each currency in which something was earned, and a table of the same figures. */
export function earnedByDay(days: Days, currencies: readonly string[]): VNode {
  const rows = days.map(([date, totals]) => {
    return [date.slice(5), currencies.map((currency) => figure(earnedOn(totals, currency), currency))] as const;
  });
  const charts = currencies.map((currency) => chartOf(days, currency));
  return ui.card('Earned per day', charts, ui.more('As a table', ui.numbers('Earned per day', currencies, rows)));
}

/** Null: nothing was earned in the currency. */
function chartOf(days: Days, currency: string): VNode | null {
  const text = (amount: bigint): string => amountText({ amount, currency });
  const points = days.map(([date, totals]): [string, bigint] => {
    const amount = earnedOn(totals, currency);
    return [`${date}: ${text(amount)}`, amount];
  });
  const most = points.reduce((largest, [, amount]) => (amount > largest ? amount : largest), 0n);
  if (most === 0n) return null;
  const [first = '', last = ''] = [days[0]?.[0], days.at(-1)?.[0]];
  return (
    <figure>
      {ui.bars(`Earned per day in ${currency}`, points)}
      <figcaption>{`${first} to ${last}. The highest bar is ${text(most)}.`}</figcaption>
    </figure>
  );
}

const MONTHS = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });
const monthName = (month: string): string => MONTHS.format(new Date(`${month}-01`));

function monthOf({ query, view }: Here): string {
  const asked = query.get('month') ?? '';
  return isMonth(asked) ? asked : thisMonth(view);
}

/** The page of a month's money, with the download for the accountant. */
export async function moneyPage(here: Here): Promise<Drawn> {
  const { view, books } = here;
  const month = monthOf(here);
  const span = monthSpan(month, view.timeZone);
  const days = await books(span, view);
  const totals = totalOf(days);
  const later = totalOf(await books({ gte: span.lt, lt: view.now }, view));
  const held = await heldNow(here);
  const columns = [...new Set([totals, later, held].flatMap((one) => [...one.keys()]))].sort();
  const rows = (Object.keys(words.sums) as (keyof typeof words.sums)[]).map((name) => {
    const cells = columns.map((one) => figure(totals.get(one)?.[name] ?? 0n, one));
    return [words.sums[name], cells, name === 'earned'] as const;
  });
  const atEnd = columns.map((one) => figure((held.get(one) ?? 0n) - (later.get(one)?.held ?? 0n), one));
  const name = monthName(month);
  const months = Array.from({ length: 24 }, (_, back) => monthAfter(thisMonth(view), -back));
  const options = [...new Set([month, ...months])].map((one) => [one, monthName(one)] as const);
  const table = ui.numbers(`The sums of ${name}`, columns, [...rows, ['Held at the end of the month', atEnd]]);
  const rule =
    'One row for each movement. The column earned adds up to the table above. Held is the change of held money.';
  const button = <span class="button">{`Download ${name} (CSV)`}</span>;
  const lastMonth = monthAfter(thisMonth(view), -1);
  const body = [
    ui.filter(ui.choice('month', 'Month', month, options)),
    month !== lastMonth && ui.line(ui.link(`?month=${lastMonth}`, monthName(lastMonth))),
    columns.length === 0 ? ui.line('No money moved in this month.') : table,
    ui.card('For the accountant', ui.line(rule), ui.line(ui.link(`/admin/money.csv?month=${month}`, button))),
    earnedByDay(days, columns),
  ];
  return { title: `Money in ${name}`, body };
}

/** Sends a month as CSV, with masked addresses. */
export async function bookFile(here: Here, res: Response): Promise<void> {
  const { prisma, mode, view } = here;
  const month = monthOf(here);
  res.type('text/csv').attachment(`money-${month}.csv`);
  await pipeline(csvOf(bookPages(prisma, mode, month, view.timeZone)), res);
}
