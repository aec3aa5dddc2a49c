import type { Gateway } from '../gateway/client.ts';
import type { Catalogue } from '../orders/catalogue.ts';
import { MAX_TOTAL, totalOf } from '../orders/order.ts';
import type { Queryable } from '../platform/database.ts';
import { newId } from '../platform/ids.ts';
import type { Logger } from '../platform/logger.ts';
import type { Mode } from '../platform/mode.ts';
import type { Money } from '../platform/money.ts';
import type { Basket, CheckoutInput } from './input.ts';
import {
  addPayment,
  lockPayableOrder,
  placeOrder,
  recordInitialize,
  sendUnsent,
  type CheckoutStore,
  type PayableOrder,
} from './repository.ts';

/**
 * Starts a hosted checkout: prices the basket, writes the order and its payment, and only then asks the service for
 * the address that the shopper is sent to. The route calls it; it decides nothing about money received.
 */
export type StartCheckout = (input: CheckoutInput) => Promise<CheckoutResult>;

export type CheckoutResult =
  | { outcome: 'opened'; orderId: string; reference: string; money: Money; checkoutUrl: string }
  | { outcome: 'unknown-sku'; skus: string[] }
  | { outcome: 'mixed-currencies' | 'wrong-currency'; currencies: string[] }
  | {
      outcome:
        'total-too-large' | 'unknown-order' | 'already-paid' | 'under-review' | 'too-many-open-payments';
    }
  /** The service said no; the order is kept and can be paid by a new checkout. */
  | { outcome: 'refused'; orderId: string }
  /** Nobody knows whether the service took it; the order is kept, and what it was asked for stays watched. */
  | { outcome: 'unavailable'; orderId: string };

export type CheckoutParts = {
  store: CheckoutStore;
  catalogue: Catalogue;
  gateway: Gateway;
  /** Our own origin as browsers reach it, from configuration and never from a request. */
  publicOrigin: () => string;
  /** Called when a payment is due at once. */
  onDue: () => void;
  logger: Logger;
};

/** Statuses in which a payment may still bring money. */
const LIVE = ['created', 'sending', 'open', 'ambiguous'];
/** More attempts than a person makes; a program that makes them is stopped here. */
const MAX_LIVE_PAYMENTS = 5;
/** Hosted checkouts live for hours at least; a second click within one gets the same page. */
const RESUME_WITHIN_SEC = 3_600;

export function createStartCheckout(parts: CheckoutParts): StartCheckout {
  return (input) => ('orderId' in input ? payOrder(parts, input.orderId) : buyBasket(parts, input));
}

async function buyBasket(parts: CheckoutParts, basket: Basket): Promise<CheckoutResult> {
  const { store, catalogue, gateway } = parts;
  const priced = await catalogue.price(basket.items);
  if (priced.outcome !== 'priced') return priced;
  const { currency, lines } = priced;
  if (basket.currency !== undefined && basket.currency !== currency) {
    return { outcome: 'wrong-currency', currencies: [currency] };
  }
  const amount = totalOf(lines);
  if (amount > MAX_TOTAL) return { outcome: 'total-too-large' };
  const [id, reference] = [newId(), newId()];
  const order = { id, externalId: null, mode: gateway.mode, email: basket.email, currency, amount, lines };
  await placeOrder(store, order, reference);
  return open(parts, { orderId: id, reference, email: basket.email, money: { amount, currency } });
}

/** What to do for an order that exists: a payment to send, or the answer at once. */
type Plan =
  | { outcome: 'send'; reference: string; email: string; money: Money }
  | Exclude<CheckoutResult, { outcome: 'refused' | 'unavailable' }>;

async function payOrder(parts: CheckoutParts, orderId: string): Promise<CheckoutResult> {
  const plan = await parts.store.transaction((tx) => planPayment(tx, orderId, parts.gateway.mode));
  return plan.outcome === 'send' ? open(parts, { orderId, ...plan }) : plan;
}

async function planPayment(tx: Queryable, orderId: string, mode: Mode): Promise<Plan> {
  const order = await lockPayableOrder(tx, orderId, mode);
  if (order === null) return { outcome: 'unknown-order' };
  const { email, money } = order;
  const next = nextPayment(order);
  switch (next.outcome) {
    case 'resume':
      return { outcome: 'opened', orderId, reference: next.reference, money, checkoutUrl: next.checkoutUrl };
    case 'send-unsent':
      await sendUnsent(tx, next.reference);
      return { outcome: 'send', reference: next.reference, email, money };
    case 'add': {
      const reference = newId();
      await addPayment(tx, orderId, reference);
      return { outcome: 'send', reference, email, money };
    }
    case 'already-paid':
    case 'under-review':
    case 'too-many-open-payments':
      return { outcome: next.outcome };
  }
}

type NextPayment =
  | { outcome: 'already-paid' | 'under-review' | 'too-many-open-payments' | 'add' }
  | { outcome: 'send-unsent'; reference: string }
  | { outcome: 'resume'; reference: string; checkoutUrl: string };

/** A second click resumes the open checkout; a payment that was never sent is sent; else a new one begins. */
function nextPayment({ status, payments }: PayableOrder): NextPayment {
  if (status === 'paid') return { outcome: 'already-paid' };
  if (status === 'review') return { outcome: 'under-review' };
  for (const { reference, status: at, checkoutUrl, ageSec } of payments) {
    const isResumable = at === 'open' && checkoutUrl !== null && ageSec < RESUME_WITHIN_SEC;
    if (isResumable) return { outcome: 'resume', reference, checkoutUrl };
    if (at === 'created') return { outcome: 'send-unsent', reference };
  }
  const live = payments.filter((payment) => LIVE.includes(payment.status));
  return { outcome: live.length >= MAX_LIVE_PAYMENTS ? 'too-many-open-payments' : 'add' };
}

/** The one initialize call of a payment. Its row is committed, so a crash from here on loses nothing. */
async function open(
  { store, gateway, publicOrigin, onDue, logger }: CheckoutParts,
  { orderId, reference, email, money }: { orderId: string; reference: string; email: string; money: Money },
): Promise<CheckoutResult> {
  const redirectUrl = `${publicOrigin()}/checkout/return/${reference}`;
  const result = await gateway.initialize({ email, money, reference, redirectUrl });
  await recordInitialize(store, reference, result);
  const log = logger.child({ reference, orderId });
  switch (result.outcome) {
    case 'opened':
      log.info('checkout opened');
      return { outcome: 'opened', orderId, reference, money, checkoutUrl: result.checkoutUrl };
    case 'refused':
      log.warn({ reason: result.reason }, 'the service refused the checkout');
      return { outcome: 'refused', orderId };
    case 'not-sent':
    case 'ambiguous':
      log.warn({ outcome: result.outcome, reason: result.reason }, 'checkout not opened');
      onDue();
      return { outcome: 'unavailable', orderId };
  }
}
