import type { Evidence } from '../gateway/evidence.ts';
import type { Mode, PrismaClient } from '../platform/prisma/client.ts';
import { partPaymentOf, type Aggregate, type AggregatePayment, type Policy } from './aggregate.ts';

// A provider transaction pays one order, once. Its id is looked up before an order is marked paid.
// If two orders use one id at the same moment, the keys of `proof_payments` refuse the second.

type LookUp = { prisma: PrismaClient; policy: Policy };

/**
 * Doubts an answer whose provider transaction has paid another order. The lookup happens before the
 * lock. If a key of `proof_payments` refuses the id later, the payment is verified again.
 */
export async function doubtUsedId({ prisma, policy }: LookUp, orderId: string, evidence: Evidence): Promise<Evidence> {
  const { outcome, serviceId, doubt } = evidence;
  if (outcome !== 'paid' || serviceId === null || doubt !== null) return evidence;
  const paidBy = await findPaidBy(prisma, policy.mode, serviceId);
  const isOthers = paidBy !== null && paidBy !== orderId;
  return isOthers ? { ...evidence, doubt: 'the service’s id of it has paid another order' } : evidence;
}

/** @returns the id of the order that a provider transaction has paid. Null: none */
export async function findPaidBy(prisma: PrismaClient, mode: Mode, serviceId: string): Promise<string | null> {
  const where = { mode_serviceId: { mode, serviceId } };
  const found = await prisma.proofPayment.findUnique({ where, select: { orderId: true } });
  return found?.orderId ?? null;
}

/** A part payment of the order is this provider transaction, which cannot pay the order twice. */
export function isIdOfPart(aggregate: Aggregate, payment: AggregatePayment, serviceId: string): boolean {
  const parts = aggregate.payments.filter((one) => one !== payment && partPaymentOf(aggregate, one) > 0n);
  return parts.some(({ verifications: [newest] }) => newest?.serviceId === serviceId);
}

/** Doubts an answer that names the provider transaction of another part payment of the order. */
export function doubtIdOfPart(aggregate: Aggregate, payment: AggregatePayment, evidence: Evidence): Evidence {
  const { outcome, serviceId, doubt } = evidence;
  if (outcome !== 'paid' || serviceId === null || doubt !== null) return evidence;
  if (!isIdOfPart(aggregate, payment, serviceId)) return evidence;
  return { ...evidence, doubt: 'the service’s id of it is that of another payment of this order' };
}
