import type { VNode } from 'preact';
import { STATES } from '../alerts/states.ts';
import { ALL, BY_PROGRAM, openStops } from '../cases/stops.ts';
import { spanOf } from '../commands/named.ts';
import { atText, dateOf, whenText } from '../custom/days.ts';
import { parseMajor } from '../platform/money.ts';
import type { Run } from '../platform/prisma/client.ts';
import type { Report } from '../reconciliation/report.ts';
import { badgeOf, type Group } from '../reporting/groups.ts';
import { act, isTyped } from './acts.tsx';
import type { Drawn, Here } from './frame.tsx';
import { caseRows, emailOf, groupsText, PAGE, TABS, unsent } from './lists.tsx';
import { earnedByDay, figure, moneyText, totalOf } from './money.tsx';
import * as ui from './parts.tsx';
import { DAY_MS, daysOf, heldNow, idOf, ordersOf, soldIn, unsentOf, WINDOW, type ListedOrder } from './queries.ts';
import words from './words.json' with { type: 'json' };

/** The start page: alarms, the oldest open cases and the sales. */
export async function todayPage(here: Here): Promise<Drawn> {
  const { view, todo, who } = here;
  const [held, checks, rows] = [await heldNow(here), await checksOf(here), await caseRows(here, 8)];
  const alarms = checks.filter(({ badge }) => badge === 'Wrong').map(({ says }) => ui.notice('bad', says));
  const idle = alarms.length > 0 ? 'No case is open' : 'Nothing to do';
  const isFine = checks.every(({ badge }) => badge === 'Fine') ? 'All checks are fine.' : 'Look at the checks.';
  const stoppable = ['everything', ...(await soldIn(here))].map((one) => [one, one] as const);
  const what = ui.choice('currency', words.labels.currency, '', stoppable);
  const date = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: view.timeZone }).format(view.now);
  const body = [
    await summaryOfToday(here),
    await stops(here),
    [...alarms, await unsent(here)],
    await figuresOfToday(here, held),
    ui.card(
      todo > 0 ? `${ui.counted(todo, 'thing')} to do` : idle,
      ui.list(rows, alarms.length > 0 ? 'Look at the alarms above.' : await comparedText(here)),
      todo > rows.length && ui.line(ui.link('/admin/cases', `All ${todo}`)),
    ),
    ui.card('Sold and paid', await soldAndPaid(here)),
    await lastDays(here),
    ui.line(ui.link('/admin/checks', `${await comparedText(here)} ${isFine}`)),
    who.role !== 'viewer' &&
      ui.more(
        'Stop taking payments',
        act(here, 'checkouts stop', 'Stop it', { without: ['currency'] }, what),
        isTyped(here, 'checkouts stop'),
      ),
  ];
  return { title: date, body };
}

/** The three figures that an owner looks for first. Null: the shop has no order yet. */
async function figuresOfToday(here: Here, held: Map<string, bigint>): Promise<VNode | null> {
  const { prisma, mode, view, books } = here;
  if ((await prisma.order.findFirst({ where: { mode }, select: { id: true } })) === null) return null;
  const sums = [...totalOf(await books(daysOf('today', view), view))];
  const earned = sums.flatMap(([currency, { earned: amount }]) => (amount === 0n ? [] : [[currency, amount] as const]));
  const toSend = await prisma.message.count({ where: { mode, type: 'order.paid', sentAt: null, heldBy: null } });
  return ui.figures([
    ['Earned today', moneyText(earned) || 'Nothing'],
    ['Held for a decision', moneyText(held) || 'Nothing'],
    ['To send to shipping', toSend === 0 ? 'Nothing' : ui.counted(toSend, 'order')],
  ]);
}

/** The open stops: what cannot be paid, since when and why. */
async function stops(here: Here): Promise<VNode[]> {
  const { prisma, mode, view } = here;
  const open = await openStops(prisma, mode);
  return open.map(({ what, by, at, reason, endedAt }) => {
    const currency = what === ALL ? 'everything' : what;
    const which = what === ALL ? 'New payments' : `New payments in ${what}`;
    const since = `${which} are stopped since ${whenText(at, view)}. Pages that are open can still be paid.`;
    const why = `${by === BY_PROGRAM ? 'The program' : by} stopped it: “${reason}”`;
    const end =
      endedAt === null ? 'It lasts until you allow payments again.' : `It ends automatically ${atText(endedAt, view)}.`;
    const allow = act(here, 'checkouts resume', `Allow ${currency} again`, { hidden: { currency } });
    return ui.notice('warn', `${since} ${why}`, end, allow);
  });
}

/** The page of open cases, or of closed ones. */
export async function todoPage(here: Here): Promise<Drawn> {
  const { todo, query } = here;
  const isDone = query.get('show') === 'done';
  const rows = await caseRows(here, PAGE, isDone, query.get('after') ?? '');
  const held = await heldNow(here);
  const titleOfOpen = todo === 0 ? 'Nothing to do' : `${ui.counted(todo, 'thing')} to do`;
  const title = isDone ? 'Done' : titleOfOpen;
  const body = [
    ui.tabs('Which', [
      [`Open ${todo}`, '/admin/cases', !isDone],
      ['Done', '/admin/cases?show=done', isDone],
    ]),
    !isDone && held.size > 0 && ui.line(`We hold ${moneyText(held)} that is not ours yet.`),
    ui.list(rows, isDone ? 'Nothing was decided yet.' : `Nothing to do. ${await comparedText(here)}`),
    rows.length === PAGE &&
      ui.line(ui.link(`/admin/cases?${isDone ? 'show=done&' : ''}after=${rows.at(-1)?.cursor}`, 'More')),
  ];
  return { title, body };
}

/** One sentence about the orders of today, with a link to them. Null: there are too many to count. */
async function summaryOfToday(here: Here): Promise<VNode | null> {
  const orders = await ordersOf(here, daysOf('today', here.view));
  if (orders.length >= WINDOW) return null;
  const groups = orders.length > 0 ? `: ${groupsText(orders)}` : '';
  return ui.line(ui.link('/admin/orders?day=today', `${ui.counted(orders.length, 'order')} today${groups}.`));
}

/** Counts orders on the day of the order, and money on the day it moved. */
async function soldAndPaid(here: Here): Promise<VNode> {
  const read = async (day: string) => {
    const period = daysOf(day, here.view);
    // If there are more orders than a page reads, they are not counted.
    const where = { mode: here.mode, createdAt: { gte: period.gte, lt: period.lt } };
    const isFew = (await here.prisma.order.count({ where, take: WINDOW })) < WINDOW;
    const orders = isFew ? await ordersOf(here, period) : null;
    return { ...period, orders, sums: totalOf(await here.books(period, here.view)) };
  };
  const columns = await Promise.all(['today', 'yesterday', 'this-month'].map(read));
  const currencies = [...new Set(columns.flatMap(({ sums }) => [...sums.keys()]))].sort();
  if (currencies.length === 0 && columns.every(({ orders }) => orders?.length === 0))
    return ui.line('No orders yet. Buy something in ', ui.link('/shop', 'your shop'), ' to see how it works.');
  const count = (name: string, group?: Group) => {
    const isOne = (one: ListedOrder) => group === undefined || one.group === group;
    return [name, columns.map(({ orders }) => orders?.filter(isOne).length ?? 'many')] as const;
  };
  const heads = columns.map(({ key, label }) => ui.link(`/admin/orders?day=${key}`, label));
  // Rows of zeros are left out.
  const kinds = TABS.flatMap(([group, name]) => (group === 'all' ? [] : [count(name, group)]));
  const figures = [
    count('Orders'),
    ...kinds.filter(([, counts]) => counts.some((one) => one !== 0)),
    ...currencies.map((one) => {
      return [`Earned ${one}`, columns.map(({ sums }) => figure(sums.get(one)?.earned ?? 0n, one))] as const;
    }),
  ];
  const month = [...(columns.at(-1)?.sums ?? [])].map(([one, sums]) => [one, -sums.reversed] as const);
  const reversed = month.filter(([, amount]) => amount > 0n);
  const back = reversed.length > 0 && ui.line(`${moneyText(reversed)} was reversed this month.`);
  return <div>{[ui.numbers('Sold and paid', heads, figures), back]}</div>;
}

/** Checks that the page shows elsewhere. */
const ELSEWHERE = ['cases-open', 'checkouts-stopped'];

/** The checks that alerts and `doctor` report too. `doctor` also says what to do. */
async function checksOf(here: Here) {
  const parts = { ...here.parts, caseSentences: () => Promise.resolve([]) };
  const unseen = () => ({ says: 'One thing could not be looked at.' });
  const looked = STATES.filter(({ name }) => !ELSEWHERE.includes(name)).map(async ({ fine, look }) => {
    const seen = await look(parts, null).catch(unseen);
    return { badge: seen ? 'Wrong' : 'Fine', says: seen?.says ?? fine };
  });
  const count = await unsentOf(here);
  const waiting = `${ui.counted(count, 'paid order')} not taken by your shipping system.`;
  const sent = { badge: 'Fine', says: 'Nothing paid waits for your shipping system.' };
  return [...(await Promise.all(looked)), count > 0 ? { ...sent, badge: 'Attention', says: waiting } : sent];
}

function newestRun({ prisma, mode }: Here): Promise<Run | null> {
  return prisma.run.findFirst({ where: { mode, verdict: { not: null } }, orderBy: { startedAt: 'desc' } });
}

/** The time and the result of the last comparison. */
async function comparedText(here: Here): Promise<string> {
  const { view, todo } = here;
  const run = await newestRun(here);
  return run === null ? 'Nothing was compared yet.' : `Compared ${atText(run.startedAt, view)}: ${runText(run, todo)}`;
}

/** The result of a comparison in a sentence. @param open the number of open cases */
function runText(run: Run, open: number): string {
  const report = run.report as Report | null | undefined;
  if (run.verdict === null) return 'It goes on.';
  if (run.verdict === 'agreed') return `${ui.counted(report?.payments ?? 0, 'payment')}, and everything agrees.`;
  const why = report?.reason ?? 'it was interrupted';
  if (run.verdict === 'incomplete') return `We could not read the payment service’s list: ${why}. Nothing was changed.`;
  const unexplained = report?.identity.filter(({ difference }) => /[1-9]/.test(difference)) ?? [];
  const rest = unexplained.map(({ currency, difference }) => `${currency} ${difference}`).join(', ');
  const needs = open === 1 ? 'needs' : 'need';
  return `${ui.counted(open, 'payment')} ${needs} you; ${rest || 'nothing else'} is unexplained.`;
}

const CHART_DAYS = 14;

/** The earned money of the last two weeks. Null: nothing was earned. */
async function lastDays(here: Here): Promise<VNode | null> {
  const { view, books } = here;
  const first = spanOf(dateOf(new Date(Number(view.now) - (CHART_DAYS - 1) * DAY_MS), view.timeZone), view).gte;
  const days = await books({ gte: first, lt: view.now }, view);
  const currencies = [...totalOf(days)].flatMap(([currency, sums]) => (sums.earned > 0n ? [currency] : []));
  return currencies.length === 0 ? null : earnedByDay(days, currencies);
}

const VERDICTS: Record<string, string> = words.verdicts;
const COMPARED: Record<string, string> = words.comparison;

/** The page of checks, with each comparison whose verdict differs from the one before. */
export async function checksPage(here: Here): Promise<Drawn> {
  const { prisma, mode, view } = here;
  const newest = { orderBy: { id: 'desc' }, take: 1_000, omit: { report: true, checkpoint: true } } as const;
  const runs = await prisma.run.findMany({ where: { mode }, ...newest });
  const turns = runs.filter((run, at) => run.verdict !== runs[at + 1]?.verdict);
  const rows = turns.map(({ id, startedAt, full, verdict }) => {
    const main = full ? 'All payments' : 'The newest payments';
    const badge = VERDICTS[verdict ?? ''] ?? '';
    return { href: `/admin/checks/${id}`, small: whenText(startedAt, view), main, badge };
  });
  const last = await newestRun(here);
  const body = [
    ui.card(
      await comparedText(here),
      last && ui.line(ui.link(`/admin/checks/${last.id}`, 'Show the newest comparison')),
      (await checksOf(here)).map(({ badge, says }) => ui.line(ui.badge(badge), ` ${says}`)),
      ui.quiet('The record of an order is checked each time its page is opened.'),
      act(here, 'compare', 'Compare now'),
    ),
    ui.card('Comparisons that differ from the one before', ui.list(rows, 'Nothing was compared yet.')),
  ];
  return { title: 'Checks', body };
}

/** The page of one comparison: the sums, and the payments that differ. */
export async function comparisonPage(here: Here): Promise<Drawn> {
  const { prisma, mode, view, id } = here;
  const run = await prisma.run.findFirst({ where: { id: idOf(id), mode } });
  if (run === null) return null;
  const { identity: sums = [], items = [], ...rest } = { ...(run.report as Report | null) };
  const body = [
    ui.notice(run.verdict === 'agreed' ? 'good' : 'warn', runText(run, items.length)),
    run.verdict !== 'incomplete' && sums.length > 0 && sumsOf(sums),
    ui.card('Payments that differ', ui.list(await differences(here, items.slice(0, PAGE)), 'No payment differs.')),
    ui.more('For your developer', <pre>{JSON.stringify(rest, null, 1)}</pre>),
  ];
  return { title: `Compared ${atText(run.startedAt, view)}`, body };
}

/** The name of a line of the sums, or of a class of cases. */
const nameOf = (one: string): string => COMPARED[one] ?? badgeOf(one);
/** `12,750.00` from `12750.00`. */
const grouped = (amount: string, currency: string): string => figure(parseMajor(amount, currency) ?? 0n, currency);

function sumsOf(identity: Report['identity']): VNode {
  const classes = new Set(identity.flatMap((one) => Object.keys(one.classes)));
  const row = (name: string, amountIn: (one: Report['identity'][number]) => string) =>
    [nameOf(name), identity.map((one) => grouped(amountIn(one), one.currency))] as const;
  const rows = [
    row('serviceTotal', (one) => one.serviceTotal),
    row('captured', (one) => one.earned),
    ...[...classes].map((name) => row(name, (one) => one.classes[name] ?? '')),
    row('difference', (one) => one.difference),
  ];
  const currencies = identity.map(({ currency }) => currency);
  const note = ui.quiet('They include all payments that were compared, and not only those of one month.');
  return ui.card('The sums', ui.numbers('The sums', currencies, rows), note);
}

async function differences(here: Here, items: Report['items']): Promise<ui.Row[]> {
  const ids = items.flatMap(({ orderId }) => orderId ?? []);
  const orders = await here.prisma.order.findMany({ where: { id: { in: ids } } });
  const customers = new Map(orders.map((order) => [order.id, emailOf(here, order)]));
  return items.map((one) => {
    const amount = /[1-9]/.test(one.held) ? one.held : one.expected;
    return {
      href: one.orderId === null ? `/admin/cases/${one.id}` : `/admin/orders/${one.orderId}`,
      small: [ui.when(new Date(one.firstSeenAt), here.view), ` · ${one.reference}`],
      main: customers.get(one.orderId ?? '') ?? 'no order',
      amount: `${one.currency} ${grouped(amount, one.currency)}`,
      badge: nameOf(one.class),
    };
  });
}
