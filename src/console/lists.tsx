import { dueSeen } from '../cases/classes.ts';
import { OWN_NAMES } from '../platform/ids.ts';
import type { JournalEntry, Prisma } from '../platform/prisma/client.ts';
import type { Group } from '../reporting/groups.ts';
import { amountText, caseWords, masked, TEXTS, TOLD_CASE, type ToldCase } from '../reporting/words.ts';
import { act } from './acts.tsx';
import type { Drawn, Here } from './frame.tsx';
import { moneyText, totalOf } from './money.tsx';
import * as ui from './parts.tsx';
import { idOf, ordersOf, periodOf, SEARCHED, searchOrders, soldIn } from './queries.ts';
import { unsentOf, WINDOW, type ListedOrder } from './queries.ts';
import { may } from './session.ts';
import words from './words.json' with { type: 'json' };

export const PAGE = 50;

/** Clerks answer customers, so they see whole addresses. Viewers see masked ones. */
export const emailOf = ({ who }: Here, { email }: { email: string }): string =>
  may(who, 'clerk') ? email : masked(email);

/** The order of open cases: missing money first, then held money, then cases without money. */
const BY_MONEY: Prisma.CaseWhereInput[] = [
  { missing: { gt: 0n } },
  { missing: 0n, held: { gt: 0n } },
  { missing: 0n, held: 0n },
];

/** The group of a case in this order. */
function rankOf({ missing, held }: ToldCase): number {
  if (missing > 0n) return 0;
  return held > 0n ? 1 : 2;
}

/**
 * In each group the oldest case is first.
 * @param after the group and the id of the last case, like `1-52`: a case may change its group
 * meanwhile
 */
async function openCases({ prisma, mode }: Here, take: number, after: string): Promise<ToldCase[]> {
  const [, rank = '0', id = '0'] = /^([0-2])-(\d{1,18})$/.exec(after) ?? [];
  const found: ToldCase[] = [];
  for (const [place, money] of BY_MONEY.entries()) {
    if (place < Number(rank) || found.length === take) continue;
    const where = { mode, closedAt: null, ...money, id: { gt: place === Number(rank) ? BigInt(id) : 0n } };
    const left = take - found.length;
    found.push(...(await prisma.case.findMany({ where, include: TOLD_CASE, orderBy: { id: 'asc' }, take: left })));
  }
  return found;
}

function closedCases({ prisma, mode }: Here, take: number, after: bigint): Promise<ToldCase[]> {
  const orderBy: Prisma.CaseOrderByWithRelationInput[] = [{ closedAt: 'desc' }, { id: 'desc' }];
  const newest = { where: { mode, closedAt: { not: null } }, include: TOLD_CASE, orderBy, take };
  if (after === 0n) return prisma.case.findMany(newest);
  return prisma.case.findMany({ ...newest, cursor: { id: after }, skip: 1 });
}

/**
 * The open cases, or the newest closed ones.
 * @param after the `cursor` of the last case on the previous page
 */
export async function caseRows(here: Here, take: number, isDone = false, after = '') {
  const { view } = here;
  const cases = await (isDone ? closedCases(here, take, idOf(after)) : openCases(here, take, after));
  return cases.map((one) => {
    const { badge, sentence } = caseWords(one, view);
    const amount = amountAtStake(one);
    const end = isDone ? ` ${endText(one)}` : '';
    const href = one.orderId === null ? `/admin/cases/${one.id}` : `/admin/orders/${one.orderId}`;
    const whose = one.order ? emailOf(here, one.order) : 'no order';
    const waiting = one.closedAt === null ? ` · waiting for ${durationText(one.openedAt, view.now)}` : '';
    const small = [ui.when(one.closedAt ?? one.openedAt, view), `${waiting} · ${whose}`];
    const sum = amount > 0n ? amountText({ ...one, amount }) : '';
    const cursor = isDone ? String(one.id) : `${rankOf(one)}-${one.id}`;
    return { cursor, href, small, main: sentence + end, amount: sum, badge };
  });
}

/** How a closed case ended. */
function endText({ decision, closedBy }: ToldCase): string {
  if (decision === null) return 'Closed without a decision.';
  return `${closedBy ?? ''}: ${TEXTS.decisions[decision] ?? decision}.`;
}

/** The money that a case is about: what is too much, what is held, or what is missing. */
function amountAtStake({ class: name, held, missing, currency, evidence, order }: ToldCase): bigint {
  const due = dueSeen(evidence, currency) ?? order?.amount ?? 0n;
  if (name === 'overpaid' && held > due) return held - due;
  return held > 0n ? held : missing;
}

const MINUTE_MS = 60_000;

/** `5 min`, `3 h` or `2 days`. */
function durationText(since: Date, now: Date): string {
  const minutes = Math.max(0, Math.floor((now.getTime() - since.getTime()) / MINUTE_MS));
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
}

export const goodsOf = ({ lines }: { lines: { quantity: number; description: string }[] }): string =>
  lines.map(({ quantity, description }) => `${quantity} × ${description}`).join(', ');

const orderRow = (here: Here, order: ListedOrder): ui.Row => ({
  href: `/admin/orders/${order.id}`,
  small: [ui.when(order.createdAt, here.view), ` · ${goodsOf(order)}`],
  main: emailOf(here, order),
  amount: amountText(order),
  badge: order.badge,
});

export const TABS = Object.entries(words.tabs) as ['all' | Group, string][];
const dayOptions = (...keys: (keyof typeof words.days)[]): ui.Option[] => keys.map((key) => [key, words.days[key]]);

/** `3 paid, 1 waiting`: how many orders each group has, without empty groups. */
export function groupsText(orders: readonly ListedOrder[]): string {
  const counts = TABS.flatMap(([group, name]) => {
    const count = orders.filter((one) => one.group === group).length;
    return count === 0 ? [] : `${count} ${name.toLowerCase()}`;
  });
  return counts.join(', ');
}

/** The page of orders: the orders of a period, and whether they were paid. */
export async function ordersPage(here: Here): Promise<Drawn> {
  const { view, query, books } = here;
  const tab = TABS.find(([key]) => key === query.get('tab'))?.[0] ?? 'all';
  const currency = /^[A-Z]{3}$/.exec(query.get('currency') ?? '')?.[0] ?? '';
  const period = periodOf(query, view, 'today');
  const cursor = query.get('before') ?? '';
  const orders = await ordersOf(here, period, cursor, currency);
  const isWhole = orders.length < WINDOW && cursor === '';
  const of = (group: 'all' | Group) => (group === 'all' ? orders : orders.filter((one) => one.group === group));
  const fitting = of(tab);
  const rows = fitting.slice(0, PAGE).map((order) => orderRow(here, order));
  const lastRead = orders.length === WINDOW ? orders.at(-1) : undefined;
  const last = fitting.length > PAGE ? fitting[PAGE - 1] : lastRead;
  const to = (more: object) => `?${new URLSearchParams({ ...Object.fromEntries(query), before: '', ...more })}`;
  const tabs = TABS.map(([key, name]) => {
    return [isWhole ? `${name} ${of(key).length}` : name, to({ tab: key }), key === tab] as const;
  });
  const told = `${ui.counted(orders.length, 'order')}. ${groupsText(orders)}.`;
  const totals = totalOf(period.key === 'all' ? [] : await books(period, view));
  const shown = [...totals].filter(([one]) => currency === '' || one === currency);
  const earned = moneyText(shown.map(([one, sums]) => [one, sums.earned]));
  const currencies: ui.Option[] = [['', 'All'], ...(await soldIn(here)).map((one) => [one, one] as const)];
  const days = dayOptions('today', 'yesterday', 'this-week', 'this-month', 'last-month', 'all');
  const body = [
    ui.filter(
      ui.choice('day', 'Day', period.key, period.key === '' ? [['', period.label], ...days] : days),
      ui.choice('currency', 'Currency', currency, currencies),
      <input type="hidden" name="tab" value={tab} />,
    ),
    ui.more('Other days', ui.filter(ui.date('from', query), ui.date('to', query))),
    ui.line(`${period.label}: ${isWhole ? told : `the newest ${WINDOW} orders.`} ${earned && `Earned ${earned}.`}`),
    ui.tabs('Which', tabs),
    tab === 'unsent' && (await unsent(here)),
    ui.list(rows, 'No order on this day.'),
    last && ui.line(ui.link(to({ before: last.id }), 'Older')),
  ];
  return { title: 'Orders', body };
}

export async function unsent(here: Here) {
  const count = await unsentOf(here);
  const sentence = `${ui.counted(count, 'order')} not taken by your shipping system. We try again by ourselves.`;
  const all = { hidden: { message: 'all' }, without: ['note', 'despite-missing-money'] };
  const orders = ui.line(ui.link('/admin/orders?day=all&tab=unsent', 'Show these orders'));
  const send = act(here, 'messages resend', `Send all ${count} now`, all);
  return count > 0 && ui.notice('warn', sentence, '', orders, send);
}

/**
 * Searches with one field for everything that a customer may name. A single match opens at once.
 */
export async function searchPage(here: Here): Promise<Drawn> {
  const { prisma, mode, parts } = here;
  const text = (here.query.get('q') ?? '').trim().slice(0, 200);
  const reference = parts.gateway.references.parse(text) ?? '';
  const found = text === '' ? [] : await searchOrders(here, text, reference);
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return { to: `/admin/orders/${only.id}` };
  const about = found.length === 0 && text.length >= 3 ? { contains: text, mode: 'insensitive' as const } : reference;
  const unmatched = await prisma.case.findFirst({ where: { reference: about, mode, orderId: null } });
  if (unmatched !== null) return { to: `/admin/cases/${unmatched.id}` };
  const rows = found.map((order) => orderRow(here, order));
  const body = [
    ui.list(rows, `No order matches “${text}”. Try a part of the address.`),
    ui.quiet(`Numbers are looked for in all orders, words in the newest ${SEARCHED}.`),
  ];
  return { title: 'Orders found', body };
}

const ACTS: Record<string, string> = words.acts;
const WRITTEN = [...new Set(Object.keys(ACTS).map((one) => one.replace(/^decided .*/, 'decided')))];
const AT_MOST = 500;

/** Whether one act wrote both journal lines: they share the person, the order and the moment. */
const isOneAct = (one: JournalEntry, other: JournalEntry): boolean =>
  one.by === other.by && one.orderId === other.orderId && Math.abs(Number(one.at) - Number(other.at)) < 1_000;

function actText(entry: JournalEntry, all: readonly JournalEntry[]): string {
  const said = entry.data as Record<string, string | null>;
  const money = all.find((one) => one.amount !== null && isOneAct(one, entry));
  const why = said.note ?? said.reason;
  return ui.fill(ACTS[`${entry.what} ${said.decision ?? ''}`] ?? ACTS[entry.what] ?? entry.what, {
    amount: money?.amount && money.currency ? amountText({ amount: money.amount, currency: money.currency }) : '',
    number: said.number ? `, number ${said.number}` : '',
    why: why ? `: “${why}”` : '',
    what: said.currency === '*' ? 'everything' : (said.currency ?? ''),
  });
}

/** The page of activity. Each act is one row, even if it wrote several journal lines. */
export async function activityPage(here: Here): Promise<Drawn> {
  const { prisma, mode, view, query } = here;
  const { gte, lt, label, key } = periodOf(query, view, 'this-week');
  const who = query.get('who') ?? '';
  const isOurs = [{ order: { mode } }, { orderId: null }];
  const where = { at: { gte, lt }, by: { notIn: OWN_NAMES }, what: { in: WRITTEN }, OR: isOurs };
  const newest = { orderBy: { id: 'desc' }, take: AT_MOST, include: { order: { select: { email: true } } } } as const;
  const all = await prisma.journalEntry.findMany({ where, ...newest });
  const names = [...new Set([...all.map(({ by }) => by), ...(who ? [who] : [])])].sort();
  const decided = all.filter(({ what, counter }) => what === 'decided' && counter === null);
  const isFirst = (one: JournalEntry): boolean =>
    one.counter === null || (one.counter === 'refunded' && !decided.some((other) => isOneAct(one, other)));
  const rows = all.flatMap((one): ui.Row[] => {
    if (!isFirst(one) || (who !== '' && one.by !== who)) return [];
    const unmatched = one.reference === null ? {} : { href: `/admin/find?q=${one.reference}` };
    const about = one.orderId === null ? unmatched : { href: `/admin/orders/${one.orderId}` };
    const small = [ui.when(one.at, view), ` · ${one.by}`];
    return [{ ...about, small, main: actText(one, all), amount: one.order ? emailOf(here, one.order) : '–' }];
  });
  const body = [
    ui.filter(
      ui.choice('who', 'Who', who, [['', 'Everybody'], ...names.map((one) => [one, one] as const)]),
      ui.choice('day', 'When', key, dayOptions('today', 'this-week', 'last-week', 'this-month')),
    ),
    ui.line(ui.link('?day=last-week', words.days['last-week'])),
    ui.list(rows, `Nobody did anything: ${label.toLowerCase()}.`),
    all.length === AT_MOST && ui.line('There is more: choose fewer days.'),
  ];
  return { title: 'Activity', body };
}
