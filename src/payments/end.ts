import type { Logger } from 'pino';
import { BY_DEADLINE, deadlineFrom, priceEndsAt } from '../orders/order.ts';
import { isDatabaseAway } from '../platform/db.ts';
import type { Prisma } from '../platform/prisma/client.ts';
import { changeOrder } from './change-order.ts';
import { hasHeldMoney, hasOpenCase, isVerifiedWithin, type AggregatePayment } from './aggregate.ts';
import { record, setOrder, setPayment, tell, type Change } from './change.ts';
import { markPaidIfProven } from './confirm.ts';
import { askNow, type AskParts } from './due.ts';
import { FRESH_MS } from './mark-paid.ts';
import { isOver } from './schedule.ts';

/** `unanswered`: verify must first say that no money came, and it could not be asked. */
export type Ended = 'ended' | 'paid' | 'review' | 'not-due' | 'unanswered' | 'unknown-order';

/**
 * Ends an order that is not paid, because a person cancels it or because its deadline has passed.
 * Every payment that may have been paid is verified first. A person cannot cancel an order with an
 * open case. Money that comes later is held.
 */
export async function endOrder(parts: AskParts, orderId: string, by: string, reason: string): Promise<Ended> {
  const isByDeadline = by === BY_DEADLINE;
  // The other payments were never sent to the service, or have paid the order.
  const payments = await parts.prisma.payment.findMany({ where: { orderId, status: { notIn: ['refused', 'paid'] } } });
  const asked = payments.map(({ reference }) => reference);
  for (const reference of asked)
    if (!(await askNow(parts, reference, isByDeadline ? 'deadline' : 'cancel'))) return 'unanswered';
  const ended = await changeOrder(parts, orderId, by, (change): Ended => {
    const why = whyNotEnded(change, asked, isByDeadline);
    if (why === null) {
      setOrder(change, { endedAt: change.now, endedBy: by, endReason: reason });
      record(change, 'order ended', null, { reason });
      if (!isByDeadline) tell(change, 'order.cancelled', { reason });
    }
    return why ?? 'ended';
  });
  return ended ?? 'unknown-order';
}

/**
 * Checks again while the lock is held: meanwhile, a new payment may have begun, or the deadline may
 * have moved.
 * @returns null if the order may end
 */
function whyNotEnded(change: Change, asked: readonly string[], isByDeadline: boolean): Ended | null {
  const { aggregate } = change;
  const { payments } = aggregate;
  if (aggregate.proof !== null) return 'paid';
  if (aggregate.endedAt !== null) return 'ended';
  if (isByDeadline && !isOverdue(change)) return 'not-due';
  if (!isByDeadline && payments.some(hasOpenCase)) return 'review';
  const isAnswered = (one: AggregatePayment): boolean => asked.includes(one.reference) && one.unreadableSince === null;
  return payments.every((one) => one.status === 'refused' || isAnswered(one)) ? null : 'unanswered';
}

/**
 * Opens an ended order again, with a deadline of `payableDays` from now. Payments with held money
 * are verified first, and money that is exactly the price pays the order by the same change. So no
 * case opens in between.
 * @returns false if the order is paid, is open, or does not exist
 */
export async function reopenOrder(parts: AskParts, orderId: string, by: string, reason: string): Promise<boolean> {
  const held = await parts.prisma.payment.findMany({ where: { orderId, status: 'review' } });
  await Promise.all(held.map(({ reference }) => askNow(parts, reference, 'person')));
  const reopened = await changeOrder(parts, orderId, by, (change) => {
    const { aggregate, now, policy } = change;
    if (aggregate.proof !== null || aggregate.endedAt === null) return false;
    const payBy = deadlineFrom(now, policy.payableDays);
    setOrder(change, { endedAt: null, endedBy: null, endReason: null, payBy });
    const sent = aggregate.payments.filter(({ status }) => status !== 'refused');
    for (const payment of sent) setPayment(change, payment, { nextCheckAt: now });
    record(change, 'order reopened', null, { reason });
    tell(change, 'order.reopened', { reason });
    payByHeldMoney(change);
    return true;
  });
  return reopened ?? false;
}

/** Marks the order paid if verify has just shown that its held money is exactly the price. */
function payByHeldMoney(change: Change): void {
  const { aggregate, now } = change;
  const held = aggregate.payments.filter(hasHeldMoney);
  if (!held.every((one) => isVerifiedWithin(one, now, FRESH_MS))) return;
  for (const payment of held) {
    const [answer] = payment.verifications;
    if (answer !== undefined) markPaidIfProven(change, payment, answer);
  }
}

const DAY_MS = 86_400_000;
const ORDERS_A_PASS = 20;

/**
 * Whether the deadline of the order has passed. An order without a deadline of its own ends when
 * its price has ended and none of its payments can be paid any more.
 */
function isOverdue({ aggregate, now, policy: { payableDays } }: Change): boolean {
  const priceEnd = priceEndsAt(aggregate, payableDays);
  if (priceEnd === null || priceEnd > now) return false;
  return aggregate.payBy !== null || aggregate.payments.every(({ createdAt }) => isOver(createdAt, now, payableDays));
}

/** Ends orders whose deadline has passed. If a payment cannot be verified now, its order waits. */
export async function endOverdue({ logger, ...parts }: AskParts & { logger: Logger }): Promise<void> {
  const { mode, payableDays } = parts.policy;
  const now = new Date();
  const isPutOff = { nextCheckAt: { gt: now }, OR: [{ failures: { gt: 0 } }, { unreadableSince: { not: null } }] };
  const longAgo = new Date(now.getTime() - payableDays * DAY_MS);
  // The rule of priceEndsAt for a basket of the demo shop's kind, as a query.
  const priceEnded = { payBy: null, contentHash: null, createdAt: { lte: longAgo } };
  const isOpen = { endedAt: null, paidReference: null };
  const mayBePaid = { createdAt: { gt: longAgo } };
  const find = (where: Prisma.OrderWhereInput) =>
    parts.prisma.order.findMany({
      where: { mode, ...isOpen, ...where },
      orderBy: { createdAt: 'asc' },
      take: ORDERS_A_PASS,
      select: { id: true },
    });
  const overdue = [
    ...(await find({ payBy: { lte: now }, payments: { none: isPutOff } })),
    ...(await find({
      ...priceEnded,
      payments: { none: { OR: [isPutOff, mayBePaid] } },
      cases: { none: { closedAt: null } },
    })),
  ];
  for (const { id } of overdue) {
    try {
      const outcome = await endOrder(parts, id, BY_DEADLINE, 'the time to pay is over');
      logger.info({ orderId: id, outcome }, 'the deadline of an order has passed');
    } catch (error) {
      // If one order cannot be written, the others still end.
      if (isDatabaseAway(error)) throw error;
      logger.error({ err: error, orderId: id }, 'the deadline of an order has passed, and it could not be ended');
    }
  }
}
