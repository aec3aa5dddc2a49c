import { z } from 'zod';
import type { Order } from '../platform/prisma/client.ts';
import { dateOf, startOfDay, whenText, type View } from '../custom/days.ts';
import { monthAfter, monthSpan, type Span } from '../reporting/books.ts';
import { amountText } from '../reporting/words.ts';
import { usageError, type CommandParts } from './registry.ts';
import words from './words.json' with { type: 'json' };

// How people refer to orders and dates.

export const viewOf = ({ config }: CommandParts): View => ({ now: new Date(), timeZone: config.SHOP_TIME_ZONE });

/**
 * Matches an e-mail address regardless of case. Without the escapes, PostgreSQL's ILIKE would treat
 * _ and % as wildcards.
 */
export const isAddress = (email: string) =>
  ({ equals: email.replace(/[\\%_]/g, '\\$&'), mode: 'insensitive' }) as const;

const MAX_NAMED = 20;

/**
 * The order that a person means.
 * @throws {UserFacingError} (64) if there is none, or if there are several, which the message lists
 */
export async function findOrder(parts: CommandParts, text: string): Promise<Order> {
  const { prisma, gateway, policy } = parts;
  const reference = gateway.references.parse(text) ?? '';
  const { mode } = policy;
  const paid = await prisma.payment.findFirst({ where: { mode, reference }, select: { orderId: true } });
  const whole = [{ id: { in: [text, paid?.orderId ?? text] } }, { externalId: text }];
  const newest = { orderBy: { createdAt: 'desc' }, take: MAX_NAMED } as const;
  const named = await prisma.order.findMany({ where: { mode, OR: whole }, ...newest });
  // E-mail addresses of all orders are searched only if no number matches.
  const part = [...(text.length < 8 ? [] : [{ id: { startsWith: text } }]), { email: isAddress(text) }];
  const found = named.length > 0 ? named : await prisma.order.findMany({ where: { mode, OR: part }, ...newest });
  const [only, ...others] = found;
  if (only === undefined) throw usageError(`There is no order ${text}. Name an order by ${words.fields.order}.`);
  if (others.length === 0) return only;
  const lines = found.map((one) => {
    return `  ${one.id}  ${whenText(one.createdAt, viewOf(parts))}  ${amountText(one)}  ${one.status}`;
  });
  if (found.length === MAX_NAMED) lines.push(`  These are the newest ${MAX_NAMED} orders. There may be more.`);
  throw usageError([`Several orders match ${text}. Name one by its id:`, ...lines].join('\n'));
}

const DAYS = ['today', 'yesterday', 'this-week', 'last-week', 'this-month', 'last-month'] as const;
export const DATE = z.iso.date().regex(/^(19|20|21)/);
export const DAY = z.enum(DAYS).or(DATE).default('today');

const DAY_MS = 86_400_000;
const dayNumber = (date: string): number => Date.parse(date) / DAY_MS;
export const thisMonth = ({ now, timeZone }: View): string => dateOf(now, timeZone).slice(0, 7);

/** The start and the end of a day, week or month in the shop's time zone. */
export function spanOf(day: string, view: View): Span {
  const { now, timeZone } = view;
  if (day.endsWith('month')) return monthSpan(monthAfter(thisMonth(view), day === 'last-month' ? -1 : 0), timeZone);
  const today = dayNumber(dateOf(now, timeZone));
  // Days are numbered from 1 January 1970. The first Monday has the number 4.
  const monday = today - ((today - 4) % 7);
  const firsts: Record<string, number> = { today, yesterday: today - 1, 'this-week': monday, 'last-week': monday - 7 };
  const first = firsts[day] ?? dayNumber(day);
  const start = (number: number) => startOfDay(new Date(number * DAY_MS).toISOString().slice(0, 10), timeZone);
  return { gte: start(first), lt: start(first + (day.endsWith('week') ? 7 : 1)) };
}
