/* global fetch, EventSource, crypto, localStorage, performance, AbortSignal, TextEncoder, setTimeout */
// The whole browser side of a storefront: load it as a module, from here or copied into your own build.
// It holds no key and believes nothing the browser says: prices, payments and states come from the server.

/**
 * @typedef {{
 *   sku: string, name: string, description: string, image: string, price: string, currency: string
 * }} Product
 * @typedef {{
 *   orderId: string, reference: string, status: 'pending', amount: string, currency: string,
 *   checkoutUrl: string
 * }} OpenedCheckout
 * @typedef {'pending' | 'paid' | 'failed' | 'expired' | 'review' | 'cancelled'} OrderStatus
 * @typedef {{
 *   orderId: string, status: OrderStatus, amount: string, currency: string,
 *   lines: { description: string, unitAmount: string, quantity: number }[],
 *   paidAt: string | null, refunded: string, reference: string | null,
 *   metadata: Record<string, string>, payBy: string | null
 * }} Order
 * @typedef {(
 *   | { email: string, currency?: string, items: { sku: string, quantity: number }[], [detail: string]: unknown }
 *   | { orderId: string }
 * ) & { returnUrl?: string }} CheckoutInput
 * @typedef {{ key: string, orderId: string | null, at: number }} Intent
 */

/**
 * A refusal of the server: `type` is its name (`/problems/<name>` tells cause and cure), `errors` names faulty
 * fields.
 * @typedef {{ type?: string, title?: string, status?: number,
 *   errors?: { path: string, message: string }[], orderId?: string }} Problem
 */
export class CheckoutProblem extends Error {
  /** @param {Problem} body @param {number | null} retryAfterSec */
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
/** For how long a checkout is repeated under one key while the server asks for patience. */
const PATIENCE_MS = 30_000;
/** Statuses that an order does not leave by itself while its reader waits. */
const ENDED = new Set(['paid', 'failed', 'expired', 'cancelled']);
/** Statuses after which the shopper who buys the same things again wants a second order. */
const FINISHED = new Set(['paid', 'cancelled']);

/**
 * Calls under way on this page, by what is bought: further ones get the same promise.
 * @type {Map<string, Promise<OpenedCheckout>>}
 */
const underWay = new Map();

/** @param {string} [origin] of the server; empty: the page's own */
export function createCheckoutClient(origin = '') {
  const remembered = forgetFinished(origin);

  return {
    /** @returns {Promise<Product[]>} */
    products: () => ask(origin, '/products'),

    /**
     * Starts a checkout. What is bought has one Idempotency-Key, kept by this browser for a day: a second
     * call, a second click, a reload or a second tab asks for the same order and gets its page, and after a
     * declined card the next payment of that order. Another basket, or the same one once its order is paid,
     * is a new order. When this page does not know yet that the order is paid, the call fails with
     * `already-paid`, and the next one is a new order. While the network or the service fails the request is
     * repeated, for half a minute at most.
     * @param {CheckoutInput} input @param {string} [key] an Idempotency-Key of your own: then nothing is
     * remembered here
     * @returns {Promise<OpenedCheckout>} send the browser to its `checkoutUrl` @throws {CheckoutProblem}
     */
    startCheckout(input, key) {
      const what = `${origin} ${key ?? ''} ${wordsOf(input)}`;
      const running = underWay.get(what);
      if (running) return running;
      const started = (
        key === undefined ? remembered.then(() => startIntent(origin, input)) : post(origin, input, key)
      ).finally(() => underWay.delete(what));
      underWay.set(what, started);
      return started;
    },

    /** @param {string} orderId @returns {Promise<Order>} */
    order: async (orderId) => see(await askOrder(origin, orderId)),

    /**
     * Calls back with the order now and whenever it changes, until it has ended, or `stop` is called.
     * @param {string} orderId @param {(order: Order) => void} seen @returns {() => void} stop
     */
    watchOrder(orderId, seen) {
      const events = new EventSource(`${origin}/orders/${encodeURIComponent(orderId)}/events`);
      events.addEventListener('order', (event) => {
        /** @type {unknown} */
        const told = JSON.parse(String(event.data));
        const order = see(/** @type {Order} */ (told));
        if (ENDED.has(order.status)) events.close();
        seen(order);
      });
      return () => {
        events.close();
      };
    },
  };
}

/** @param {string} origin @param {CheckoutInput} input @returns {Promise<OpenedCheckout>} */
async function startIntent(origin, input) {
  const what = await digestOf(`${origin} ${wordsOf(input)}`);
  const intent = readIntents()[what] ?? { key: crypto.randomUUID(), orderId: null, at: Date.now() };
  // Before the request: a page that is reloaded meanwhile asks for the same order.
  keepIntent(what, intent);
  try {
    const opened = await post(origin, input, intent.key);
    keepIntent(what, { ...intent, orderId: opened.orderId });
    return opened;
  } catch (problem) {
    const isOver = problem instanceof CheckoutProblem && OVER.has(problem.type);
    if (isOver) keepIntent(what, null);
    throw problem;
  }
}

/** Refusals after which the same key would be refused for ever. */
const OVER = new Set(['already-paid', 'order-cancelled', 'order-expired', 'idempotency-key-reused']);

/**
 * @param {string} origin
 * @param {CheckoutInput} input
 * @param {string} key
 * @returns {Promise<OpenedCheckout>}
 */
async function post(origin, input, key) {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await ask(origin, '/checkout', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify(input),
      });
    } catch (problem) {
      const pauseSec = problem instanceof CheckoutProblem ? problem.retryAfterSec : null;
      if (pauseSec === null || performance.now() + pauseSec * 1_000 > until) throw problem;
      await new Promise((resolve) => setTimeout(resolve, pauseSec * 1_000));
    }
  }
}

/** In one order of fields, as the server compares requests. @param {CheckoutInput} input */
function wordsOf(input) {
  const landing = input.returnUrl === undefined ? [] : [input.returnUrl];
  if ('orderId' in input) return [input.orderId, ...landing].join(' ');
  const { email, currency = null, items, ...rest } = input;
  const basket = [email, currency, items.map(({ sku, quantity }) => [sku, quantity]), ...landing];
  const others = Object.entries(rest)
    .filter(([name]) => name !== 'returnUrl')
    .sort();
  return JSON.stringify(others.length === 0 ? basket : [...basket, others]);
}

// What this browser remembers: for each thing bought a key, under a digest, because no e-mail address is kept
// here.

const INTENTS = 'checkout.intents';
/** The server knows a key for three days; whoever wants the same things tomorrow is a new customer. */
const REMEMBERED_MS = 24 * 3_600_000;
const REMEMBERED_AT_MOST = 20;
/** Where the browser forbids storage, things are remembered as long as the page lives. */
let onThisPage = '{}';

/** @returns {Record<string, Intent>} those that are not too old */
function readIntents() {
  try {
    const text = localStorage.getItem(INTENTS) ?? '{}';
    /** @type {unknown} */
    const kept = JSON.parse(text);
    return youngOf(/** @type {Record<string, Intent>} */ (kept));
  } catch {
    /** @type {unknown} */
    const kept = JSON.parse(onThisPage);
    return youngOf(/** @type {Record<string, Intent>} */ (kept));
  }
}

/** @param {Record<string, Intent>} intents */
function youngOf(intents) {
  const young = Object.entries(intents).filter(([, { at }]) => Math.abs(Date.now() - at) < REMEMBERED_MS);
  return Object.fromEntries(young.slice(-REMEMBERED_AT_MOST));
}

/** @param {string} what @param {Intent | null} intent null: forget it */
function keepIntent(what, intent) {
  const others = Object.entries(readIntents()).filter(([other]) => other !== what);
  onThisPage = JSON.stringify(Object.fromEntries(intent === null ? others : [...others, [what, intent]]));
  try {
    localStorage.setItem(INTENTS, onThisPage);
  } catch {
    // Kept on this page.
  }
}

/** @param {string} text @returns {Promise<string>} */
async function digestOf(text) {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Notes what was learnt of an order. @param {Order} order */
function see(order) {
  if (!FINISHED.has(order.status)) return order;
  for (const [what, { orderId }] of Object.entries(readIntents()))
    if (orderId === order.orderId) keepIntent(what, null);
  return order;
}

/**
 * What was paid before this page was loaded is not wanted by a click on it. What is paid later, in another
 * tab, may be: that click is told so. @param {string} origin
 */
async function forgetFinished(origin) {
  const orders = Object.values(readIntents()).flatMap(({ orderId }) => orderId ?? []);
  await Promise.all(orders.map((orderId) => askOrder(origin, orderId).then(see, () => undefined)));
}

/** @param {string} origin @param {string} orderId @returns {Promise<Order>} */
function askOrder(origin, orderId) {
  return ask(origin, `/orders/${encodeURIComponent(orderId)}`);
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
