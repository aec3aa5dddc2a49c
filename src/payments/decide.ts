import type { Evidence } from '../gateway/evidence.ts';
import type { PaymentStatus } from '../platform/prisma/client.ts';

/**
 * The states of a payment, and what each waits for. Every state but `paid` and `unmatched` can
 * change to paid, review, failed, expired or open by an answer of verify.
 *
 * - `sending`: initialize was called, and its result is not known yet. It is never called again.
 *   The payment becomes open, refused, or expired when the time to pay is over.
 * - `open`: the shopper can pay. It waits for a notification or the schedule, and expires when the
 *   time to pay is over.
 * - `paid`: it paid its order, alone or with part payments. This is final: later changes of its
 *   money open cases.
 * - `failed`: the service calls it failed or reversed, or a person refunded its money. It is still
 *   verified, because money may come late.
 * - `expired`: the service calls it expired, or the time to pay is over. Late money pays the order
 *   if it is still open, and is held if it has ended.
 * - `review`: money is held, or the answer proves nothing. It waits for a person, or for an answer
 *   that pays.
 * - `refused`: the service refused initialize, or nothing was sent. This is final, unless verify
 *   knows the payment.
 * - `unmatched`: the history reports money under a reference that is not ours. It has no order.
 */
export type { PaymentStatus };

/** The facts on which one answer is decided. */
export type AnswerSituation = {
  evidence: Pick<Evidence, 'outcome' | 'balance' | 'currency' | 'doubt'>;
  order: {
    amount: bigint;
    /** The price without the part payments that other payments hold. */
    due: bigint;
    currency: string;
    isPaid: boolean;
    /** A person or its deadline has ended it. */
    isEnded: boolean;
  } | null;
  /**
   * A person has decided about this payment, so its money no longer pays an order automatically.
   */
  isDecided: boolean;
  /**
   * The history does not report that the money left. If it does, the money pays nothing, even if
   * verify shows it.
   */
  isLeft: boolean;
};

/**
 * Whether the answer marks the order paid. It does if verify shows, without a doubt, exactly the
 * price in the order's currency, or exactly the amount that is due beside part payments, and the
 * order is open. All other money is held. Pure: the same input gives the same decision.
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
  /** The outcome of verify's newest readable answer. Null: there is none. */
  outcome: Evidence['outcome'] | null;
  /** The payment can no longer be paid, and it was verified after that. */
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
  // Verify showed money, and none of it is held: it was decided about or returned.
  if (outcome === 'failed' || outcome === 'reversed' || outcome === 'paid') return 'failed';
  if (outcome === 'expired' || (isOver && status !== 'refused')) return 'expired';
  if (outcome === 'pending' || status === 'review') return 'open';
  return status;
}
