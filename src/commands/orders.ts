import { z } from 'zod';
import { ALL, openStops, resumeCheckouts, stopCheckouts } from '../cases/stops.ts';
import { refundOrder } from '../payments/acts.ts';
import { endOrder, reopenOrder } from '../payments/end.ts';
import { parseMajor, payableCurrency } from '../platform/money.ts';
import { timeOf, whenText } from '../custom/days.ts';
import { amountText, masked, orderWords, TOLD } from '../reporting/words.ts';
import { DAY, findOrder, spanOf, viewOf } from './named.ts';
import { action, FLAG, refused, TEXT, usageError } from './registry.ts';

const MAX_LISTED = 1_000;
const REFUND = { order: TEXT, amount: TEXT, number: TEXT, elsewhere: FLAG, note: TEXT.default('refunded') };
const toStop = (text: string): string | null => (text === 'everything' ? ALL : payableCurrency(text));
const HOUR_MS = 3_600_000;
/** 30 days. A person ends a longer stop, so that payments never resume unexpectedly. */
const MAX_HOURS = 30 * 24;
/** How many hours a stop lasts. Null: until a person ends it. */
const HOURS = z.coerce.number().positive().max(MAX_HOURS).nullable().default(null);
const inCurrency = (currency: string): string => (currency === ALL ? '' : ` in ${currency}`);
const CURRENCY = z.string().transform(toStop).pipe(z.string());

export const ORDERS = [
  action('viewer', 'orders list DAY', { day: DAY }, async (parts, { day }) => {
    const view = viewOf(parts);
    const where = { mode: parts.policy.mode, createdAt: spanOf(day, view) };
    const told = { include: TOLD, orderBy: { createdAt: 'asc' }, take: MAX_LISTED } as const;
    const count = await parts.prisma.order.count({ where });
    const data = (await parts.prisma.order.findMany({ where, ...told })).map((order) => {
      const { id, externalId, status, createdAt, email } = order;
      const texts = { amount: amountText(order), customer: masked(email), ...orderWords(order, view) };
      return { id, externalId, status, createdAt, ...texts };
    });
    const lines = data.map(({ id, createdAt, amount, badge, customer }) => {
      return `${timeOf(createdAt, view.timeZone)}  ${id}  ${amount}  ${badge}  ${customer}`;
    });
    if (count > lines.length)
      lines.push(
        `These are the first ${lines.length} of ${count} orders. The command \`export orders\` writes all of them.`,
      );
    return { data, sentence: lines.join('\n') || 'No order was placed on this day.' };
  }),
  action('clerk', 'orders cancel ORDER', { order: TEXT, note: TEXT }, async (parts, { order, note }) => {
    const { id } = await findOrder(parts, order);
    const ended = await endOrder(parts, id, parts.by, note);
    if (ended !== 'ended') throw refused(ended);
    return { sentence: `The order ${id} is cancelled.` };
  }),
  action('clerk', 'orders reopen ORDER', { order: TEXT, note: TEXT }, async (parts, { order, note }) => {
    const { id } = await findOrder(parts, order);
    if (!(await reopenOrder(parts, id, parts.by, note))) throw refused('not-ended');
    return { sentence: `The order ${id} is open again.` };
  }),
  action('operator', 'orders refund ORDER AMOUNT', REFUND, async (parts, input) => {
    const { number: externalId, elsewhere, note: reason } = input;
    const { id, currency } = await findOrder(parts, input.order);
    const amount = parseMajor(input.amount, currency) ?? 0n;
    if (amount <= 0n)
      throw usageError(`AMOUNT must be a number above zero, with no more decimals than ${currency} has.`);
    const done = await refundOrder(parts, id, { amount, reason, externalId, elsewhere, by: parts.by });
    if (done.outcome === 'too-much') throw refused('too-much', { left: amountText({ amount: done.left, currency }) });
    if (done.outcome !== 'refunded') throw refused(done.outcome);
    const said = done.isNew ? 'is recorded as refunded' : 'was already recorded as refunded';
    const sentence = `${amountText({ amount, currency })} ${said}, number ${externalId}.`;
    return { data: done.refund, sentence };
  }),
  action(
    'operator',
    'checkouts stop CURRENCY',
    { currency: CURRENCY, hours: HOURS, note: TEXT },
    async (parts, { currency, hours, note }) => {
      const { prisma, policy, by } = parts;
      const until = hours === null ? null : new Date(Date.now() + hours * HOUR_MS);
      await stopCheckouts(prisma, policy.mode, { what: currency, by, reason: note, until });
      await prisma.journalEntry.create({ data: { what: 'checkouts stopped', by, data: { currency, hours, note } } });
      // A stop without an end stays in force beside this one.
      const stops = await openStops(prisma, policy.mode);
      const isEndless = stops.some(({ what, endedAt }) => what === currency && endedAt === null);
      const end = until === null || isEndless ? '' : ` until ${whenText(until, viewOf(parts))}`;
      const sentence = `New payments${inCurrency(currency)} are stopped${end}. Pages that are open can still be paid.`;
      return { sentence };
    },
  ),
  action('operator', 'checkouts resume CURRENCY', { currency: CURRENCY }, async (parts, { currency }) => {
    const { prisma, policy, by } = parts;
    if (!(await resumeCheckouts(prisma, policy.mode, currency, by)))
      return { sentence: `New payments${inCurrency(currency)} were not stopped.` };
    await prisma.journalEntry.create({ data: { what: 'checkouts resumed', by, data: { currency } } });
    const stops = await openStops(prisma, policy.mode);
    const others = stops.map(({ what }) => (what === ALL ? 'everything' : what)).join(', ');
    const left = others === '' ? '' : ` Still stopped: ${others}.`;
    return { sentence: `New payments${inCurrency(currency)} are allowed again.${left}` };
  }),
];
