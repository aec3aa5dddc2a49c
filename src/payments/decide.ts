import type { VerifyAnswer } from '../gateway/verify.ts';
import type { OrderStatus } from '../orders/order.ts';
import { isPowerOfTenApart } from '../platform/money.ts';
import type { Dialect } from '../gateway/dialect/dialect.ts';
import type { Evidence } from '../gateway/records/evidence.ts';
import type { Payment, PaymentStatus } from './payment.ts';

/**
 * What one verify answer proves about one payment. Only `paid` pays; every other value says why not. An
 * answer that cannot be read is neither paid nor failed.
 */
export type VerificationOutcome =
  | 'paid'
  | 'pending'
  | 'failed'
  | 'expired'
  | 'reversed'
  | 'underpaid'
  | 'overpaid'
  | 'unit_error'
  | 'currency_mismatch'
  | 'mode_mismatch'
  | 'reference_mismatch'
  | 'unknown_status'
  | 'unproven'
  | 'not_found'
  | 'unreadable';

/** What follows: the payment's next status, whether the order is released, and money to be accounted for. */
export type Decision = {
  outcome: VerificationOutcome;
  /** Of the payment. */
  nextStatus: PaymentStatus;
  release: boolean;
  /**
   * Money that the shop holds and has not earned, in minor units of the answered currency. This is the
   * whole amount: the statement that writes it subtracts what closed items have accounted for.
   */
  suspense: { class: string; amount: bigint; currency: string } | null;
};

type EvidenceRules = Pick<
  Dialect['verify'],
  'referenceMayBeAbsent' | 'amountMayBeAbsent' | 'currencyMayBeAbsent'
>;

/** What a dialect allows to be absent goes without saying only where we know what was asked for. */
export const NOTHING_MAY_BE_ABSENT: EvidenceRules = {
  referenceMayBeAbsent: false,
  amountMayBeAbsent: false,
  currencyMayBeAbsent: false,
};

/** Decides from the answer and the states of payment and order. Pure: same input, same decision. */
export function decide(payment: Payment, answer: VerifyAnswer, rules: EvidenceRules): Decision {
  const proven = outcomeOf(payment, answer, payment.isAdopted ? NOTHING_MAY_BE_ABSENT : rules);
  const outcome = proven === 'unproven' && isPaidAndBack(payment, answer) ? 'reversed' : proven;
  if (outcome === 'paid') return decidePaid(payment);
  return {
    outcome,
    nextStatus: statusAfter(payment, outcome),
    release: false,
    suspense: answer.kind === 'record' ? suspenseEntry(outcome, answer.evidence, payment) : null,
  };
}

/** Some services leave the status of a payment that was given back as it was, and set a flag beside it. */
function isPaidAndBack({ status }: Payment, answer: VerifyAnswer): boolean {
  if (status !== 'paid' || answer.kind !== 'record') return false;
  return answer.evidence.isAllBack && answer.evidence.reference.is === 'read';
}

/** What the answer has to be about. */
type Expected = Pick<Payment, 'reference' | 'mode' | 'amount' | 'currency'>;

/** What the answer proves, independent of what happened before. */
export function outcomeOf(
  payment: Expected,
  answer: VerifyAnswer,
  rules: EvidenceRules,
): VerificationOutcome {
  if (answer.kind === 'not-found') return 'not_found';
  if (answer.kind === 'unreadable') return 'unreadable';
  const { evidence } = answer;
  // First of all: is it about this payment? Services have answered with a neighbour's record.
  if (evidence.reference.is === 'read' && evidence.reference.value !== payment.reference)
    return 'reference_mismatch';
  if (evidence.mode !== null && evidence.mode !== payment.mode) return 'mode_mismatch';
  if (evidence.status === 'unknown') return 'unknown_status';
  if (evidence.status !== 'paid') return evidence.status;
  return compareMoney(evidence, payment, rules);
}

/** For a record that says paid: is it this payment's money, all of it and no more? */
function compareMoney(
  { reference, currency, amount, contradiction }: Evidence,
  payment: Expected,
  rules: EvidenceRules,
): VerificationOutcome {
  if (typeof contradiction === 'string') return 'unproven';
  if (!isUsable(reference.is, rules.referenceMayBeAbsent)) return 'unproven';
  if (!isUsable(currency.is, rules.currencyMayBeAbsent)) return 'unproven';
  if (currency.is === 'read' && currency.value !== payment.currency) return 'currency_mismatch';
  if (!isUsable(amount.is, rules.amountMayBeAbsent)) return 'unproven';
  if (amount.is !== 'read' || amount.value === payment.amount) return 'paid';
  if (isPowerOfTenApart(amount.value, payment.amount)) return 'unit_error';
  return amount.value < payment.amount ? 'underpaid' : 'overpaid';
}

/** Absent evidence counts only where the dialect allows it; unreadable evidence never counts. */
function isUsable(is: 'read' | 'absent' | 'unreadable', mayBeAbsent: boolean): boolean {
  return is === 'read' || (is === 'absent' && mayBeAbsent);
}

/** What money is for an order that takes no more. */
const ENDED: Partial<Record<OrderStatus, string>> = {
  paid: 'duplicate_payment',
  cancelled: 'paid_after_cancel',
};

function decidePaid(payment: Payment): Decision {
  const { status, orderStatus, isDecided, amount, currency } = payment;
  if (status === 'paid')
    return { outcome: 'paid', nextStatus: 'paid', release: false, suspense: afterRefund(payment, amount) };
  const ended = ENDED[orderStatus] ?? (payment.isEndedByDeadline ? 'paid_after_deadline' : undefined);
  // The order has ended, or a person has decided about this money. It is real all the same.
  const name = isDecided && orderStatus !== 'paid' ? 'paid_after_decision' : ended;
  if (name === undefined) return { outcome: 'paid', nextStatus: 'paid', release: true, suspense: null };
  return { outcome: 'paid', nextStatus: 'held', release: false, suspense: { class: name, amount, currency } };
}

/**
 * Money that came and is not earned: all of it when it does not match, the surplus when the
 * rest has paid the order.
 */
function suspenseEntry(
  outcome: VerificationOutcome,
  { amount, currency }: Evidence,
  payment: Payment,
): Decision['suspense'] {
  // Not mode_mismatch. A test record under a live key is no money, and a suspense item would make an
  // operator refund what never came. A live record under a test key is money, but not of these books:
  // the transaction list of the live key shows it.
  const isMoney = ['underpaid', 'overpaid', 'unit_error', 'currency_mismatch'].includes(outcome);
  if (!isMoney || amount.is !== 'read' || amount.value === 0n) return null;
  // Money without a currency gets here only where the dialect lets the currency be absent.
  const money = {
    class: outcome,
    amount: amount.value,
    currency: currency.is === 'read' ? currency.value : payment.currency,
  };
  if (payment.status !== 'paid') return money;
  // A paid payment that now shows another amount contradicts itself: that is evidence, but no new money.
  if (payment.isRefunded && (outcome === 'underpaid' || outcome === 'overpaid'))
    return afterRefund(payment, amount.value);
  if (outcome !== 'overpaid') return null;
  const isAccepted = amount.value === payment.accepted;
  return {
    ...money,
    class: isAccepted ? 'overpaid' : 'charged_again',
    amount: amount.value - payment.amount,
  };
}

/** What has come of a payment after all that a person accepted was refunded. */
function afterRefund({ isRefunded, accepted, currency }: Payment, came: bigint): Decision['suspense'] {
  if (!isRefunded || accepted === null || came <= accepted) return null;
  return { class: 'charged_again', amount: came - accepted, currency };
}

function statusAfter(payment: Payment, outcome: Exclude<VerificationOutcome, 'paid'>): PaymentStatus {
  const { status } = payment;
  // There is no way back from paid. A contradicting answer is kept as evidence, and reconciliation raises it.
  if (status === 'paid') return 'paid';
  // A later answer does not undo money that waits for a person: the order stays in review.
  if (payment.hasSuspense) return 'held';
  switch (outcome) {
    case 'pending':
      return status === 'held' ? freed(payment) : watched(status);
    case 'not_found':
    case 'unreadable':
      return watched(status);
    case 'failed':
    case 'reversed':
      return 'failed';
    case 'expired':
      return 'expired';
    case 'underpaid':
    case 'overpaid':
    case 'unit_error':
    case 'currency_mismatch':
    case 'mode_mismatch':
    case 'reference_mismatch':
    case 'unknown_status':
    case 'unproven':
      return 'held';
  }
}

/** Nothing new. An initialize call whose end was never recorded is ambiguous by the time we ask. */
function watched(status: PaymentStatus): PaymentStatus {
  return status === 'sending' ? 'ambiguous' : status;
}

/**
 * One odd answer holds a payment; a plain "pending" after it ends the hold. A payment about whose money
 * a person has decided stays held.
 */
function freed({ isDecided, hasCheckoutUrl }: Payment): PaymentStatus {
  if (isDecided) return 'held';
  return hasCheckoutUrl ? 'open' : 'ambiguous';
}
