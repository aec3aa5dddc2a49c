// The browser's side of a checkout: load it from this server as a module, or copy it. It knows no secret and no price.

/**
 * @typedef {{ sku: string, quantity: number }} Item
 * @typedef {{ email: string, items: Item[], currency?: string, returnUrl?: string }} Basket
 * @typedef {{ orderId: string, status: string, amount: string, currency: string, paidAt: string | null }} Order
 * @typedef {{ what: number, origin: string, key: string, at: number, orderId?: string }} Intent
 */

const OWN = new URL(import.meta.url).origin;
const KEPT_AS = 'checkout-intent';
// Whoever wants the same things tomorrow wants them once more.
const [KEPT_MS, PATIENCE_MS, PAUSE_MS] = [86_400_000, 30_000, 2_000];
const FINAL = ['paid', 'cancelled', 'expired'];
// After these the same key would be refused for ever.
const OVER = ['already-paid', 'order-cancelled', 'order-expired', 'idempotency-key-reused'];

let onThisPage = 'null';

/**
 * Starts a checkout. A second click, a reload and another tab get the same order for the same basket, until it is paid,
 * cancelled or expired, or the basket changes. Without an answer it is sent again, for half a minute. Where no page saw
 * that the order was paid, the next click gets `already-paid` with its `orderId`, once; the one after it buys again.
 * @param {Basket | { orderId: string }} input a basket, or an order that is there already
 * @param {string} [origin] of the server, for a copy that comes from elsewhere
 * @returns {Promise<{ orderId: string, checkoutUrl: string }>} send the browser to its `checkoutUrl`
 * @throws an Error with `type`, the last part of the problem's (empty: no answer), `errors` and the kept `orderId`
 */
export async function startCheckout(input, origin = OWN) {
  // A digest is kept and no basket: it may name a person. At the server a key belongs to its e-mail address.
  const text = JSON.stringify([origin, { ...input, email: undefined }]);
  const what = [...text].reduce((digest, letter) => (Math.imul(digest, 31) + letter.codePointAt(0)) | 0, 0);
  const before = kept();
  // crypto.randomUUID is missing on pages without TLS, and in browsers before 2022.
  const key = crypto.getRandomValues(new Uint32Array(4)).join('-');
  const intent = before?.what === what ? before : { what, origin, key, at: Date.now() };
  // Before the request: a page that is loaded again meanwhile asks for the same order.
  kept(intent);
  const headers = { 'content-type': 'application/json', 'idempotency-key': intent.key };
  const init = { method: 'POST', headers, body: JSON.stringify(input) };
  const told = await ask(`${origin}/checkout`, init).catch((problem) => problem);
  // Another basket may have taken its place meanwhile.
  if (kept()?.key === intent.key)
    kept(OVER.includes(told.type) ? null : { ...intent, orderId: told.orderId ?? intent.orderId });
  if (told instanceof Error) throw told;
  return told;
}

/**
 * Calls back with the order now and at each change, until it is paid, cancelled or expired.
 * @param {string} orderId @param {(order: Order) => void} onChange @param {string} [origin] as above
 * @returns {() => void} ends it before
 */
export function watchOrder(orderId, onChange, origin = OWN) {
  let [stop, seen, pauseMs] = [() => {}, '', PAUSE_MS];
  const open = () => {
    const events = new EventSource(`${origin}/orders/${orderId}/events`);
    stop = () => events.close();
    events.addEventListener('order', ({ data }) => {
      pauseMs = PAUSE_MS;
      if (data === seen) return;
      seen = data;
      const order = JSON.parse(data);
      if (FINAL.includes(order.status)) {
        stop();
        if (kept()?.orderId === orderId) kept(null);
      }
      onChange(order);
    });
    events.onerror = () => {
      // A broken connection the browser opens again by itself, after a refusal it does not.
      if (events.readyState !== EventSource.CLOSED) return;
      const timer = setTimeout(open, (pauseMs = Math.min(pauseMs * 2, 60_000)));
      stop = () => clearTimeout(timer);
    };
  };
  open();
  return () => stop();
}

/** Sends it until it is answered. @param {string} url @param {RequestInit} init */
async function ask(url, init) {
  for (const until = performance.now() + PATIENCE_MS; ;) {
    const answer = await fetch(url, { ...init, signal: AbortSignal.timeout?.(PATIENCE_MS) }).catch(() => null);
    const body = await answer?.json().catch(() => null);
    if (answer?.ok && body) return body;
    // Half an answer, or a proxy's page, says nothing about the order.
    const isLost = !answer || (!body && (answer.ok || answer.status >= 500));
    const pauseMs = isLost ? PAUSE_MS : Number(answer.headers.get('retry-after')) * 1_000;
    if (!pauseMs || performance.now() + pauseMs > until) {
      const { type = '', title = 'The shop cannot be reached', detail = title, errors = [], orderId } = body ?? {};
      throw Object.assign(new Error(detail), { type: type.replace('/problems/', ''), errors, orderId });
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** @param {Intent | null} [next] null: forget it; left out: it stays @returns {Intent | null} */
function kept(next) {
  if (next !== undefined) onThisPage = JSON.stringify(next);
  try {
    if (next !== undefined) localStorage.setItem(KEPT_AS, onThisPage);
    onThisPage = localStorage.getItem(KEPT_AS) ?? onThisPage;
  } catch {
    // Storage is forbidden: it lives as long as the page.
  }
  const intent = JSON.parse(onThisPage);
  return intent?.at > Date.now() - KEPT_MS ? intent : null;
}
