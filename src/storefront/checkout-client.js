/* global fetch, EventSource, crypto, AbortSignal, setTimeout */
// The whole browser side of a storefront: load it as a module, from here or copied into your own build.
// It holds no key and believes nothing the browser says: prices, payments and states come from the server.

/**
 * @typedef {{ sku: string, name: string, description: string, image: string, price: string, currency: string }} Product
 * @typedef {{ orderId: string, reference: string, status: 'pending', amount: string, currency: string, checkoutUrl: string }} OpenedCheckout
 * @typedef {'pending' | 'paid' | 'failed' | 'expired' | 'review'} OrderStatus
 * @typedef {{ orderId: string, status: OrderStatus, amount: string, currency: string, lines: { description: string, unitAmount: string, quantity: number }[], paidAt: string | null, reference: string | null }} Order
 * @typedef {{ email: string, currency?: string, items: { sku: string, quantity: number }[] } | { orderId: string }} CheckoutInput
 */

/** A refusal of the server: `type` is its name (`/problems/<name>` tells cause and cure), `errors` names faulty fields. */
export class CheckoutProblem extends Error {
  /** @param {{ type?: string, title?: string, status?: number, errors?: { path: string, message: string }[], orderId?: string }} body @param {number | null} retryAfterSec */
  constructor(body, retryAfterSec) {
    super(body.title ?? 'The server could not be reached');
    this.name = 'CheckoutProblem';
    this.type = (body.type ?? '').replace('/problems/', '');
    this.status = body.status ?? 0;
    this.errors = body.errors ?? [];
    /** The order that was kept although its checkout could not be opened: pay it by its id. */
    this.orderId = body.orderId ?? null;
    /** Seconds to wait before the same request is worth repeating; null: repeating it helps nothing. */
    this.retryAfterSec = retryAfterSec;
  }
}

const DEADLINE_MS = 20_000;
/** How often a checkout is repeated under one key while the server asks for patience. */
const REPETITIONS = 3;
/** Statuses that an order does not leave by itself while its reader waits. */
const SETTLED = new Set(['paid', 'failed', 'expired']);

/** @param {string} [origin] of the server; empty: the page's own */
export function createCheckoutClient(origin = '') {
  return {
    /** @returns {Promise<Product[]>} */
    products: () => ask(origin, '/products'),

    /**
     * Starts a checkout. Repeats the request under one Idempotency-Key when the network or the service fails, so a
     * double click or a lost answer never makes two orders. @param {CheckoutInput} input @param {string} [key] give
     * the same one again after a reload of the page
     * @returns {Promise<OpenedCheckout>} send the browser to its `checkoutUrl` @throws {CheckoutProblem}
     */
    async startCheckout(input, key = crypto.randomUUID()) {
      for (let repetition = 0; ; repetition += 1) {
        try {
          return await ask(origin, '/checkout', {
            method: 'POST',
            headers: { 'content-type': 'application/json', 'idempotency-key': key },
            body: JSON.stringify(input),
          });
        } catch (problem) {
          const pauseSec = problem instanceof CheckoutProblem ? problem.retryAfterSec : null;
          if (pauseSec === null || repetition === REPETITIONS) throw problem;
          await new Promise((resolve) => setTimeout(resolve, pauseSec * 1_000));
        }
      }
    },

    /** @param {string} orderId @returns {Promise<Order>} */
    order: (orderId) => ask(origin, `/orders/${encodeURIComponent(orderId)}`),

    /**
     * Calls back with the order now and whenever it changes, until it is paid, failed or expired, or `stop` is called.
     * @param {string} orderId @param {(order: Order) => void} see @returns {() => void} stop
     */
    watchOrder(orderId, see) {
      const events = new EventSource(`${origin}/orders/${encodeURIComponent(orderId)}/events`);
      events.addEventListener('order', (event) => {
        /** @type {unknown} */
        const told = JSON.parse(String(event.data));
        const order = /** @type {Order} */ (told);
        if (SETTLED.has(order.status)) events.close();
        see(order);
      });
      return () => {
        events.close();
      };
    },
  };
}

/**
 * @template T what the server promises to answer
 * @param {string} origin @param {string} path @param {RequestInit} [init]
 * @returns {Promise<T>} @throws {CheckoutProblem}
 */
async function ask(origin, path, init) {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const response = await fetch(origin + path, { ...init, signal }).catch(() => {
    throw new CheckoutProblem({}, 2);
  });
  /** @type {unknown} */
  const body = await response.json().catch(() => ({}));
  if (response.ok) return /** @type {T} */ (body);
  const pause = response.headers.get('retry-after');
  throw new CheckoutProblem(/** @type {object} */ (body), pause === null ? null : Number(pause));
}
