import type { Evidence } from '../gateway/evidence.ts';
import type { Mode, PrismaClient } from '../platform/prisma/client.ts';
import { partPaymentOf, type Aggregate, type AggregatePayment, type Policy } from './aggregate.ts';

// One transaction of the service pays one order, and once. Its id is looked up before an order is
// marked paid, and the keys of `proof_payments` refuse what comes at the same moment.

type LookUp = { prisma: PrismaClient; policy: Policy };

/**
 * One transaction of the service pays one order: an answer with the id of another order's is
 * doubted. This is looked up before the lock. If two orders bring the same id at the same moment, a
 * key of `proof_payments` refuses the second one, and its payment is asked about again.
 */
export async function doubtUsedId({ prisma, policy }: LookUp, orderId: string, evidence: Evidence): Promise<Evidence> {
  const { outcome, serviceId, doubt } = evidence;
  if (outcome !== 'paid' || serviceId === null || doubt !== null) return evidence;
  const paidBy = await findPaidBy(prisma, policy.mode, serviceId);
  const isOthers = paidBy !== null && paidBy !== orderId;
  return isOthers ? { ...evidence, doubt: 'the service’s id of it has paid another order' } : evidence;
}

/** @returns the id of the order that a transaction of the service has paid; null: none */
export async function findPaidBy(prisma: PrismaClient, mode: Mode, serviceId: string): Promise<string | null> {
  const where = { mode_serviceId: { mode, serviceId } };
  const found = await prisma.proofPayment.findUnique({ where, select: { orderId: true } });
  return found?.orderId ?? null;
}

/** A part payment of the order has this id at the service. One transaction pays an order once. */
export function isIdOfPart(aggregate: Aggregate, payment: AggregatePayment, serviceId: string): boolean {
  const parts = aggregate.payments.filter((one) => one !== payment && partPaymentOf(aggregate, one) > 0n);
  return parts.some(({ verifications: [newest] }) => newest?.serviceId === serviceId);
}

/** The rest of an order is paid by a transaction of its own, and not by that of its part payment. */
export function doubtIdOfPart(aggregate: Aggregate, payment: AggregatePayment, evidence: Evidence): Evidence {
  const { outcome, serviceId, doubt } = evidence;
  if (outcome !== 'paid' || serviceId === null || doubt !== null) return evidence;
  if (!isIdOfPart(aggregate, payment, serviceId)) return evidence;
  return { ...evidence, doubt: 'the service’s id of it is that of another payment of this order' };
}
