import { DATE, spanOf } from '../commands/named.ts';
import { catalogue } from '../custom/catalogue.ts';
import type { View } from '../custom/days.ts';
import type { Prisma } from '../platform/prisma/client.ts';
import type { Span } from '../reporting/books.ts';
import { orderWords, TOLD } from '../reporting/words.ts';
import type { Here } from './frame.tsx';
import { badgeOf } from './parts.tsx';
import words from './words.json' with { type: 'json' };

// What pages ask of the database: each question reads so many rows at most, however many there are.

export const DAY_MS = 86_400_000;
/** A number that somebody may have typed. */
export const idOf = (text: string | null): bigint => BigInt(/^\d{1,18}$/.exec(text ?? '')?.[0] ?? 0);

export type Period = Span & { key: string; label: string };
const DAYS: Record<string, string> = words.days;

export function daysOf(key: string, view: View): Period {
  const span = key === 'all' ? { ...spanOf('today', view), gte: new Date(0) } : spanOf(key, view);
  return { key, label: DAYS[key] ?? '', ...span };
}

/** The days that a query names: by one of the words, else from a day to a day. */
export function periodOf(query: URLSearchParams, view: View, usual: string): Period {
  const [from, to] = [query.get('from'), query.get('to')].map((day) => DATE.safeParse(day).data);
  if (from && to) return { key: '', label: `${from} to ${to}`, gte: spanOf(from, view).gte, lt: spanOf(to, view).lt };
  const asked = query.get('day') ?? '';
  return daysOf(Object.hasOwn(DAYS, asked) ? asked : usual, view);
}

/** Each order is one of these, by the word that its page shows. */
export type Kind = Exclude<keyof typeof words.tabs, 'all'> | 'closed';
const KINDS = Object.entries(words.kinds) as [Kind, string[]][];

/** So many orders are read and counted for a page; what is older is one link away. */
export const WINDOW = 500;
/** Words are looked for in the newest orders alone: a million addresses are not read for one. */
export const SEARCHED = 3_000;

export const WITH_LINES = { ...TOLD, lines: { orderBy: { position: 'asc' } } } satisfies Prisma.OrderInclude;
export type ListedOrder = Prisma.OrderGetPayload<{ include: typeof WITH_LINES }> & { kind: Kind; badge: string };
const NEWEST = [{ createdAt: 'desc' }, { id: 'desc' }] satisfies Prisma.OrderOrderByWithRelationInput[];

async function readOrders({ prisma, mode, view }: Here, where: Prisma.OrderWhereInput, take: number, before = '') {
  // Table by table: of many orders the join takes several times as long.
  const tables = { include: WITH_LINES, relationLoadStrategy: 'query' } as const;
  const all = { where: { mode, ...where }, orderBy: NEWEST, take, ...tables };
  const found = await prisma.order.findMany({ ...all, ...(before !== '' && { cursor: { id: before }, skip: 1 }) });
  return found.map((order): ListedOrder => {
    const { badge } = orderWords(order, view);
    const isOpen = order.payments.some(({ cases }) => cases.some(({ closedAt }) => closedAt === null));
    const kind = KINDS.find(([, states]) => states.some((one) => badgeOf(one) === badge))?.[0] ?? 'closed';
    return { ...order, badge, kind: isOpen ? 'needs' : kind };
  });
}

/**
 * The newest orders of some days, at most WINDOW.
 * @param before the id of the last order of the page before
 */
export function ordersOf(here: Here, { gte, lt }: Span, before = '', currency = '') {
  const where = { createdAt: { gte, lt }, ...(currency !== '' && { currency }) };
  return readOrders(here, where, WINDOW, before);
}

/** By numbers and references in all orders, else by words in the newest. */
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
  // ILIKE would take its _ and % for any letters.
  const contains = { contains: text.replace(/[\\%_]/g, '\\$&'), mode: 'insensitive' as const };
  const goods = { some: { description: contains, order: { createdAt: { gte } } } };
  const fits = [{ email: contains }, { id: { startsWith: text } }, { lines: goods }];
  return readOrders(here, { createdAt: { gte }, OR: fits }, 50);
}

/** How many paid orders the shop's system does not take, or did not. */
export function unsentOf({ prisma, mode }: Here): Promise<number> {
  const where = { mode, type: 'order.paid', sentAt: null, heldBy: null, lastError: { not: null } };
  return prisma.message.count({ where });
}

/** What is held for decisions, by currency. */
export async function heldNow({ prisma, mode }: Here): Promise<Map<string, bigint>> {
  const where = { mode, closedAt: null };
  const rows = await prisma.case.groupBy({ by: ['currency'], where, _sum: { held: true } });
  const held = rows.flatMap(({ currency, _sum: sum }) => (sum.held ? [[currency, sum.held] as const] : []));
  return new Map(held.sort());
}

/** The currencies of what is sold. */
export async function soldIn({ prisma }: Here): Promise<string[]> {
  return [...new Set((await catalogue.products(prisma)).map(({ currency }) => currency))].sort();
}
