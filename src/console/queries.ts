import { DATE, spanOf } from '../commands/named.ts';
import { catalogue } from '../custom/catalogue.ts';
import type { View } from '../custom/days.ts';
import { ORDER_ID } from '../platform/ids.ts';
import { parseMajor } from '../platform/money.ts';
import type { Prisma } from '../platform/prisma/client.ts';
import type { Span } from '../reporting/books.ts';
import { groupOf, type Group } from '../reporting/groups.ts';
import { orderWords, TOLD } from '../reporting/words.ts';
import type { Here } from './frame.tsx';
import words from './words.json' with { type: 'json' };

// The queries of the pages. Each reads a limited number of rows, however large the tables are.

export const DAY_MS = 86_400_000;
/** An id that a person may have typed. 0: the text is no id. */
export const idOf = (text: string | null): bigint => BigInt(/^\d{1,18}$/.exec(text ?? '')?.[0] ?? 0);

export type Period = Span & { key: string; label: string };
const DAYS: Record<string, string> = words.days;

export function daysOf(key: string, view: View): Period {
  const span = key === 'all' ? { ...spanOf('today', view), gte: new Date(0) } : spanOf(key, view);
  return { key, label: DAYS[key] ?? '', ...span };
}

/** The period that a query asks for: from one day to another, or a named period. */
export function periodOf(query: URLSearchParams, view: View, usual: string): Period {
  const [from, to] = [query.get('from'), query.get('to')].map((day) => DATE.safeParse(day).data);
  if (from && to) return { key: '', label: `${from} to ${to}`, gte: spanOf(from, view).gte, lt: spanOf(to, view).lt };
  const asked = query.get('day') ?? '';
  return daysOf(Object.hasOwn(DAYS, asked) ? asked : usual, view);
}

/** A page reads and counts at most this many orders, and links to the older ones. */
export const WINDOW = 500;
/** A text search reads only the newest orders, so that it never reads a million addresses. */
export const SEARCHED = 3_000;

export const WITH_LINES = { ...TOLD, lines: { orderBy: { position: 'asc' } } } satisfies Prisma.OrderInclude;
export type ListedOrder = Prisma.OrderGetPayload<{ include: typeof WITH_LINES }> & { group: Group; badge: string };
const NEWEST = [{ createdAt: 'desc' }, { id: 'desc' }] satisfies Prisma.OrderOrderByWithRelationInput[];

async function readOrders({ prisma, mode, view }: Here, where: Prisma.OrderWhereInput, take: number, before = '') {
  // Read table by table: for many orders, a join takes several times as long.
  const tables = { include: WITH_LINES, relationLoadStrategy: 'query' } as const;
  const all = { where: { mode, ...where }, orderBy: NEWEST, take, ...tables };
  const found = await prisma.order.findMany({ ...all, ...(before !== '' && { cursor: { id: before }, skip: 1 }) });
  return found.map((order): ListedOrder => {
    const { badge } = orderWords(order, view);
    return { ...order, badge, group: groupOf(order, badge) };
  });
}

/**
 * The newest orders of a period, at most WINDOW.
 * @param before the id of the last order on the previous page
 */
export function ordersOf(here: Here, { gte, lt }: Span, before = '', currency = '') {
  const where = { createdAt: { gte, lt }, ...(currency !== '' && { currency }) };
  return readOrders(here, where, WINDOW, before);
}

/**
 * Searches all orders by number and reference. If none matches, searches the newest orders by text.
 */
export async function searchOrders(here: Here, text: string, reference: string) {
  const { prisma, mode } = here;
  const some = { select: { orderId: true }, take: 20 } as const;
  const named = [
    ...(await prisma.refund.findMany({ where: { externalId: text }, ...some })),
    ...(await prisma.case.findMany({ where: { number: text, mode }, ...some })),
    ...(await prisma.payment.findMany({ where: { reference, mode }, ...some })),
  ];
  const ids = [text, ...named.flatMap(({ orderId }) => orderId ?? [])];
  const found = await readOrders(here, { OR: [{ id: { in: ids } }, { externalId: text }] }, 50);
  if (found.length > 0 || text.length < 3) return found;
  const oldest = { where: { mode }, orderBy: NEWEST, skip: SEARCHED, select: { createdAt: true } };
  const gte = (await prisma.order.findFirst(oldest))?.createdAt ?? new Date(0);
  // In ILIKE, _ and % match any characters, so they are escaped.
  const contains = { contains: text.replace(/[\\%_]/g, '\\$&'), mode: 'insensitive' as const };
  const goods = { some: { description: contains, order: { createdAt: { gte } } } };
  const paid = { some: { reference: contains } };
  const fits = [{ email: contains }, { id: { startsWith: text } }, { lines: goods }, { payments: paid }];
  return readOrders(here, { createdAt: { gte }, OR: [...fits, ...(await amountsIn(here, text))] }, 50);
}

/** The amounts that a text like `8,500` may mean, in the currencies of the shop. */
async function amountsIn(here: Here, text: string): Promise<{ currency: string; amount: bigint }[]> {
  const [, prefix, digits = ''] = /^([A-Z]{3})?\s*(\d[\d,]*(?:\.\d+)?)$/i.exec(text) ?? [];
  const currencies = prefix === undefined ? await soldIn(here) : [prefix.toUpperCase()];
  return currencies.flatMap((currency) => {
    const amount = parseMajor(digits.replaceAll(',', ''), currency);
    return amount === null ? [] : { currency, amount };
  });
}

/** An order with everything that its page shows. Null: this mode has no such order. */
export const readOrder = ({ prisma, mode }: Here, id: string) =>
  ORDER_ID.test(id) ? prisma.order.findFirst({ where: { id, mode }, include: WITH_LINES }) : null;
export type ShownOrder = NonNullable<Awaited<ReturnType<typeof readOrder>>>;

/** The number of paid orders whose message the shop's system has failed to take so far. */
export function unsentOf({ prisma, mode }: Here): Promise<number> {
  const where = { mode, type: 'order.paid', sentAt: null, heldBy: null, lastError: { not: null } };
  return prisma.message.count({ where });
}

/** The held money of open cases, by currency. */
export async function heldNow({ prisma, mode }: Here): Promise<Map<string, bigint>> {
  const where = { mode, closedAt: null };
  const rows = await prisma.case.groupBy({ by: ['currency'], where, _sum: { held: true } });
  const held = rows.flatMap(({ currency, _sum: sum }) => (sum.held ? [[currency, sum.held] as const] : []));
  return new Map(held.sort());
}

/** The currencies of the products on sale. */
export async function soldIn({ prisma }: Here): Promise<string[]> {
  return [...new Set((await catalogue.products(prisma)).map(({ currency }) => currency))].sort();
}
