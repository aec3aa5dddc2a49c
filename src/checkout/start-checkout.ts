import type { OutOfStock, WantedItem } from '../orders/catalogue.ts';
import { MAX_TOTAL, totalOf } from '../orders/order.ts';
import { shopperDetails } from '../orders/shopper-details.ts';
import type { NewOrder } from '../orders/orders.sql.ts';
import { sleep } from '../platform/clock.ts';
import { newOrderId, newReference, type OrderId, type Reference } from '../platform/ids.ts';
import type { Basket } from './checkout-bodies.ts';
import type { CheckoutParts, CheckoutResult, ShopperRequest, StartCheckout } from './checkout.ts';
import { openCheckout } from './open-checkout.ts';
import { planPayment } from './plan-payment.ts';
import { findKey } from './idempotency.sql.ts';
import type { IdempotencyKey } from './idempotency-key.ts';
import { isSameOpenOrder, limitPayment, placeOrder, type Placed } from './checkout.sql.ts';

/** Shoppers do not look at a page that does not move for longer. */
const PATIENCE_MS = 15_000;
/** A second click waits 12 s for the first one's checkout, of which one call takes 10 s at most. */
const LOOK_AGAIN_MS = 250;
const MAX_LOOKS = 48;

export function createStartCheckout(parts: CheckoutParts): StartCheckout {
  return async (input, key, openOrder = null) => {
    const answerByMs = parts.clock.elapsedMs() + PATIENCE_MS;
    const request = { key, openOrder, answerByMs, returnUrl: input.returnUrl ?? null };
    const result = await ('orderId' in input
      ? ((await repeat(parts, request)) ?? payOrder(parts, input.orderId, request))
      : buyOrRepeat(parts, input, request));
    return result === 'key-is-taken' ? { outcome: 'in-flight' } : result;
  };
}

/** Baskets are bought first and their keys looked up afterwards: nearly every key is new. */
async function buyOrRepeat(
  parts: CheckoutParts,
  basket: Basket,
  request: ShopperRequest,
): Promise<CheckoutResult | 'key-is-taken'> {
  const result = await buyBasket(parts, basket, request);
  if (result === 'key-is-taken') return (await repeat(parts, request)) ?? result;
  if (HAS_AN_ORDER.has(result.outcome)) return result;
  const isForm = request.key?.isImplied === true;
  if (isForm && result.outcome !== 'out-of-stock') return result;
  // A basket that can no longer be priced may have been bought by this very request: long ago, or by the
  // first of two clicks, which took the last one. A form is repeated only while the page of its order is
  // open.
  const repeated = await repeat(parts, request);
  if (repeated === null || (isForm && (repeated === 'key-is-taken' || repeated.outcome !== 'opened')))
    return result;
  return repeated;
}

/** Outcomes of a checkout that was begun: its key, if it has one, is tied to its order. */
const HAS_AN_ORDER = new Set<CheckoutResult['outcome']>(['opened', 'refused', 'unavailable']);

/** The answer to a request whose key has been seen before, as its order stands now; null when it has not. */
async function repeat(
  parts: CheckoutParts,
  request: ShopperRequest,
): Promise<CheckoutResult | 'key-is-taken' | null> {
  const { key } = request;
  if (key === null) return null;
  const known = await findKey(parts.store, parts.gateway.mode, key.key);
  if (known === null) return null;
  if (!known.fingerprint.equals(key.fingerprint)) return { outcome: 'key-reused' };
  // A browser shows the second answer and drops the first: it waits for the checkout, like any second click.
  if (key.isImplied) return payOrder(parts, known.orderId, { ...request, key: null });
  if (known.isLocked) return { outcome: 'in-flight' };
  return payOrder(parts, known.orderId, request, known.reference);
}

async function buyBasket(
  parts: CheckoutParts,
  basket: Basket,
  request: ShopperRequest,
): Promise<CheckoutResult | 'key-is-taken'> {
  const { store, catalogue, gateway } = parts;
  const priced = await catalogue.price(basket.items);
  if (priced.outcome !== 'priced') return priced;
  const { currency, lines } = priced;
  if (basket.currency !== undefined && basket.currency !== currency) {
    return { outcome: 'wrong-currency', currencies: [currency] };
  }
  const amount = totalOf(lines);
  if (amount > MAX_TOTAL) return { outcome: 'total-too-large' };
  if (amount <= 0n) return { outcome: 'total-too-small' };
  const wanted = { mode: gateway.mode, email: basket.email, currency, lines };
  // A client's own key says whether a request is a repeated one.
  if (request.openOrder !== null && (request.key?.isImplied ?? true)) {
    if (await isSameOpenOrder(store, request.openOrder, wanted))
      return payOrder(parts, request.openOrder, { ...request, key: null });
  }
  const [id, reference] = [newOrderId(), newReference()];
  const details = shopperDetails.parse(basket);
  const order = { ...wanted, id, externalId: null, amount, returnUrl: request.returnUrl, details };
  const placed = await placeReserved(parts, basket.items, order, reference, request.key);
  if (placed === 'key-is-taken') return placed;
  if (placed === 'currency-stopped' || placed === 'checkouts-stopped') return { outcome: placed, currency };
  if (placed !== 'placed') return placed;
  return openCheckout(
    parts,
    { orderId: id, reference, email: basket.email, money: { amount, currency } },
    request,
  );
}

/** Places an order and what the catalogue reserves for it; when stock is short, neither is kept. */
async function placeReserved(
  { store, catalogue }: CheckoutParts,
  items: readonly WantedItem[],
  order: NewOrder,
  reference: Reference,
  key: IdempotencyKey | null,
): Promise<Placed | OutOfStock> {
  const { reserve } = catalogue;
  if (reserve === undefined) return placeOrder(store, { order, reference, key });
  try {
    return await store.transaction(async (tx) => {
      const placed = await placeOrder(tx, { order, reference, key });
      if (placed !== 'placed') return placed;
      const reservation = await reserve(tx, { orderId: order.id, items, lines: order.lines });
      if (reservation.outcome === 'reserved') {
        const { payWithinSec } = reservation;
        if (payWithinSec !== undefined) await limitPayment(tx, order.id, payWithinSec);
        return placed;
      }
      // Leaving the transaction with an error takes the order back.
      throw new ShortageError(reservation);
    });
  } catch (error) {
    if (error instanceof ShortageError) return error.answer;
    throw error;
  }
}

class ShortageError extends Error {
  readonly answer: OutOfStock;

  constructor(answer: OutOfStock) {
    super('out of stock');
    this.answer = answer;
  }
}

async function payOrder(
  parts: CheckoutParts,
  orderId: OrderId,
  request: ShopperRequest,
  answered: string | null = null,
): Promise<CheckoutResult | 'key-is-taken'> {
  const { store, gateway } = parts;
  for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
    const plan = await store.transaction((tx) => planPayment(tx, orderId, gateway.mode, request, answered));
    if (plan.outcome === 'send') return openCheckout(parts, { orderId, ...plan }, request);
    if (plan.outcome === 'key-is-taken') return 'key-is-taken';
    if (plan.outcome !== 'wait') return plan;
    // The first of two clicks is opening its checkout: the second gets the same one.
    await sleep(LOOK_AGAIN_MS);
  }
  return { outcome: 'in-flight' };
}
