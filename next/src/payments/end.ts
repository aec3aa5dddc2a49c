import type { Logger } from 'pino';
import { BY_DEADLINE } from '../orders/order.ts';
import type { PrismaClient } from '../platform/prisma/client.ts';
import { changeOrder } from './change-order.ts';
import { record, setOrder, tell, type Terms } from './change.ts';
import type { Confirm, Lease } from './confirm.ts';
import { lease } from './due.ts';

export type EndParts = { prisma: PrismaClient; confirm: Confirm; terms: Terms };

/** `unanswered`: the service must say first that no money came, and it could not be asked. */
export type Ended = 'ended' | 'paid' | 'review' | 'unanswered' | 'unknown-order';

/**
 * Ends an order that is not paid: by a person, who must not do so over money, or by its deadline. Each payment that may
 * have been paid is asked about first. Money that comes later is held.
 */
export async function endOrder(parts: EndParts, orderId: string, by: string, reason: string): Promise<Ended> {
  const { prisma, confirm } = parts;
  const isByDeadline = by === BY_DEADLINE;
  const payments = await prisma.payment.findMany({
    where: { orderId, status: { notIn: ['refused', 'paid'] } },
    select: { reference: true },
  });
  for (const { reference } of payments) {
    if (!(await isAnswered(prisma, confirm, reference, isByDeadline ? 'deadline' : 'cancel'))) return 'unanswered';
  }
  const ended = await changeOrder(parts, orderId, by, (change): Promise<Ended> => {
    const { dossier, now } = change;
    if (dossier.release !== null) return Promise.resolve('paid');
    if (dossier.endedAt !== null) return Promise.resolve('ended');
    if (!isByDeadline && dossier.status === 'review') return Promise.resolve('review');
    setOrder(change, { endedAt: now, endedBy: by, endReason: reason });
    record(change, 'order ended', null, { reason });
    if (!isByDeadline) tell(change, 'order.cancelled', { reason });
    return Promise.resolve('ended');
  });
  return ended ?? 'unknown-order';
}

const WAIT_STEP_MS = 250;
const WAIT_STEPS = 20;

/** Asks about a payment; waits a little for a question that is under way. */
async function isAnswered(
  prisma: PrismaClient,
  confirm: Confirm,
  reference: string,
  cause: Lease['cause'],
): Promise<boolean> {
  for (let step = 0; step < WAIT_STEPS; step += 1) {
    const taken = await lease(prisma, reference, cause);
    if (taken !== null) {
      const confirmed = await confirm(taken, cause === 'deadline' ? 'background' : 'person');
      return confirmed.outcome === 'written' && confirmed.answer !== 'unreadable';
    }
    await new Promise((resolve) => setTimeout(resolve, WAIT_STEP_MS));
  }
  return false;
}

/** A person opens an ended order again, without a deadline. @returns false where it is paid or open, or there is none */
export async function reopenOrder(parts: EndParts, orderId: string, by: string, reason: string): Promise<boolean> {
  const reopened = await changeOrder(parts, orderId, by, (change) => {
    const { dossier } = change;
    if (dossier.release !== null || dossier.endedAt === null) return Promise.resolve(false);
    setOrder(change, { endedAt: null, endedBy: null, endReason: null, payBy: null });
    record(change, 'order reopened', null, { reason });
    tell(change, 'order.reopened', { reason });
    return Promise.resolve(true);
  });
  return reopened ?? false;
}

const ORDERS_A_PASS = 20;

/** Ends the orders whose own deadline has passed. One that cannot be asked about is tried again in the next pass. */
export async function endOverdue(parts: EndParts & { mode: 'test' | 'live'; logger: Logger }): Promise<void> {
  const { prisma, mode, logger } = parts;
  const overdue = await prisma.order.findMany({
    where: { mode, payBy: { lte: new Date() }, endedAt: null, releasedReference: null },
    orderBy: { payBy: 'asc' },
    take: ORDERS_A_PASS,
    select: { id: true },
  });
  for (const { id } of overdue) {
    const outcome = await endOrder(parts, id, BY_DEADLINE, 'the time to pay is over');
    logger.info({ orderId: id, outcome }, 'the deadline of an order has passed');
  }
}
