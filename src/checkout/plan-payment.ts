import type { OrderStatus } from '../orders/order.ts';
import type { Queryable } from '../platform/database/database.ts';
import { newReference, type OrderId, type Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import type { Money } from '../platform/money.ts';
import { bindKey } from './idempotency.sql.ts';
import type { Declined, OpenedCheckout, ShopperRequest } from './checkout.ts';
import {
  addPayment,
  chooseReturnUrl,
  lockPayableOrder,
  MAX_OPEN_PAYMENTS,
  OPEN_STATUSES,
  RESUME_WITHIN_SEC,
  sendUnsent,
  type PayableOrder,
} from './further-payment.sql.ts';

/** What to do for an order that exists: a payment to send, a checkout to resume, or why neither. */
type PaymentPlan =
  | { outcome: 'send'; reference: Reference; email: string; money: Money }
  | OpenedCheckout
  /** Another click is opening a checkout of this order right now. */
  | { outcome: 'wait' }
  | { outcome: 'key-is-taken' }
  | Declined;

/** Initialize takes 10 s at most: after this a second click no longer waits for the first one's checkout. */
const SENDING_TAKES_SEC = 12;

/**
 * Decides on the next payment of an order and writes it down, with the order locked: two clicks queue here.
 * @param answered the payment whose checkout the key was answered with before; null when there is none
 */
export async function planPayment(
  tx: Queryable,
  orderId: OrderId,
  mode: Mode,
  { key, returnUrl }: Pick<ShopperRequest, 'key' | 'returnUrl'>,
  answered: string | null,
): Promise<PaymentPlan> {
  const order = await lockPayableOrder(tx, orderId, mode);
  if (order === null) return { outcome: 'unknown-order' };
  const next = nextPayment(order, answered);
  if (!mayProceed(next)) return next;
  const answer = next.outcome === 'resume' ? next.reference : null;
  if (key !== null && !(await bindKey(tx, mode, key, orderId, answer))) return { outcome: 'key-is-taken' };
  // The first checkout decides: its page, which may still be open, has promised its shopper the way back.
  if (returnUrl !== null && order.payments.length === 0) await chooseReturnUrl(tx, orderId, returnUrl);
  const { email, money } = order;
  switch (next.outcome) {
    case 'resume':
      return { outcome: 'opened', orderId, reference: next.reference, money, checkoutUrl: next.checkoutUrl };
    case 'send-unsent':
      await sendUnsent(tx, next.reference);
      return { outcome: 'send', reference: next.reference, email, money };
    case 'add': {
      const reference = newReference();
      await addPayment(tx, orderId, reference);
      return { outcome: 'send', reference, email, money };
    }
  }
}

type Proceed =
  | { outcome: 'add' }
  | { outcome: 'send-unsent'; reference: Reference }
  | { outcome: 'resume'; reference: Reference; checkoutUrl: string };

function mayProceed(next: Proceed | Declined | { outcome: 'wait' }): next is Proceed {
  return next.outcome === 'add' || next.outcome === 'send-unsent' || next.outcome === 'resume';
}

/** The refusal of an order by its status; null: it may be paid. The compiler asks for each new status. */
const REFUSAL: Record<OrderStatus, 'already-paid' | 'under-review' | 'order-cancelled' | null> = {
  pending: null,
  failed: null,
  expired: null,
  paid: 'already-paid',
  review: 'under-review',
  cancelled: 'order-cancelled',
};

/** Why an order may not be paid; null: it may. */
export function whyNotPayable({
  status,
  isPastDeadline,
}: Pick<PayableOrder, 'status' | 'isPastDeadline'>): Declined | null {
  const outcome = REFUSAL[status] ?? (isPastDeadline ? 'order-expired' : null);
  return outcome === null ? null : { outcome };
}

/**
 * A second click resumes the open checkout; a payment that was never sent is sent; else a new one
 * begins. The checkout that a key was answered with is resumed as long as it is open: another page
 * beside it could be paid as well. In a stopped currency the service is not asked to open any more, but
 * an open checkout is resumed: the shopper has its address already, and an Idempotency-Key has promised
 * it. What is paid there is confirmed or held like any other payment.
 */
function nextPayment(order: PayableOrder, answered: string | null): Proceed | Declined | { outcome: 'wait' } {
  const refusal = whyNotPayable(order);
  if (refusal !== null) return refusal;
  const { money, stopped, payments } = order;
  for (const { reference, status: at, checkoutUrl, ageSec } of byPromise(payments, answered)) {
    const isYoung = reference === answered || ageSec < RESUME_WITHIN_SEC;
    if (at === 'open' && checkoutUrl !== null && isYoung)
      return { outcome: 'resume', reference, checkoutUrl };
    if (at === 'created' && stopped === null) return { outcome: 'send-unsent', reference };
    if (at === 'sending' && ageSec < SENDING_TAKES_SEC) return { outcome: 'wait' };
  }
  if (stopped !== null) return { outcome: stopped, currency: money.currency };
  const live = payments.filter(
    ({ status: at, ageSec }) => OPEN_STATUSES.includes(at) && ageSec < RESUME_WITHIN_SEC,
  );
  return { outcome: live.length >= MAX_OPEN_PAYMENTS ? 'too-many-open-payments' : 'add' };
}

/** Puts the promised payment before all others. */
function byPromise(payments: PayableOrder['payments'], answered: string | null): PayableOrder['payments'] {
  const promised = payments.filter(({ reference }) => reference === answered);
  return [...promised, ...payments.filter(({ reference }) => reference !== answered)];
}
