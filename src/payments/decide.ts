import type { Evidence } from '../gateway/evidence.ts';
import type { PaymentStatus } from '../platform/prisma/client.ts';

/**
 * Every state of a payment, what it waits for, and where it goes. From each but `paid` and
 * `unmatched`, what verify says leads to paid, review, failed, expired or open.
 *
 * - `sending`: initialize may have reached the service or not: waits for its answer, then for
 *   verify. It is never sent again. Open, refused, or expired when the time to pay is over.
 * - `open`: the shopper may pay: waits for a notification or the schedule. Expired when the time to
 *   pay is over.
 * - `paid`: it paid its order, perhaps with others. For ever: what happens to its money later is a
 *   case.
 * - `failed`: the service says failed or taken back, or a person gave its money back. Watched on:
 *   late money counts.
 * - `expired`: by the service's word, or the time to pay is over. Late money pays an order that is
 *   still open, and is held where it has ended.
 * - `review`: money is held, or the answer proves nothing: waits for a person, or for an answer
 *   that pays.
 * - `refused`: the service said no at initialize, or nothing was sent. The end, unless verify knows
 *   it after all.
 * - `unmatched`: the history reports money under a reference that is not ours. It has no order.
 */
export type { PaymentStatus };

/** What one answer is decided on. */
export type AnswerSituation = {
  evidence: Pick<Evidence, 'outcome' | 'balance' | 'currency' | 'doubt'>;
  order: {
    amount: bigint;
    /** The price without the part payments that other payments hold. */
    due: bigint;
    currency: string;
    isPaid: boolean;
    /** By a person, or by its deadline. */
    isEnded: boolean;
  } | null;
  /** A person has decided about this reference: its money pays nothing by itself any more. */
  isDecided: boolean;
  /**
   * The history does not report that the money went. If it does, the money pays nothing, although
   * verify shows it.
   */
  isLeft: boolean;
};

/**
 * Whether the answer marks the order paid: verify, undoubted, shows exactly the price in the
 * order's currency, or exactly what is due beside part payments, and the order is open. All other
 * money is held. Pure: same input, same decision.
 */
export function decide({ evidence, order, isLeft, isDecided }: AnswerSituation): 'mark-paid' | 'hold' {
  const proves = evidence.outcome === 'paid' && evidence.doubt === null;
  const isPrice = order !== null && evidence.balance === order.amount;
  const isRest = order !== null && order.due > 0n && evidence.balance === order.due;
  const isInCurrency = evidence.currency === order?.currency;
  const isOpen = order !== null && !order.isPaid && !order.isEnded;
  return proves && (isPrice || isRest) && isInCurrency && isOpen && isLeft && !isDecided ? 'mark-paid' : 'hold';
}

type PaymentFacts = {
  status: PaymentStatus;
  /** It is in the order's proof of payment. */
  isPaidBy: boolean;
  hasHeldMoney: boolean;
  hasOpenCase: boolean;
  /** Of verify's newest readable answer; null: there is none. */
  outcome: Evidence['outcome'] | null;
  /** The time in which it may be paid is over, and verify was asked after that. */
  isOver: boolean;
};

/**
 * The status of a payment follows from the order's proof, its money and the newest readable answer.
 * Pure.
 */
export function statusOfPayment({
  status,
  isPaidBy,
  hasHeldMoney,
  hasOpenCase,
  outcome,
  isOver,
}: PaymentFacts): PaymentStatus {
  if (status === 'unmatched') return 'unmatched';
  if (isPaidBy) return 'paid';
  if (hasHeldMoney || hasOpenCase) return 'review';
  // Paid, and nothing of it is held: a person decided about it, or it went back.
  if (outcome === 'failed' || outcome === 'reversed' || outcome === 'paid') return 'failed';
  if (outcome === 'expired' || (isOver && status !== 'refused')) return 'expired';
  if (outcome === 'pending' || status === 'review') return 'open';
  return status;
}
