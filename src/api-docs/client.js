// The browser part of a checkout. Load it from this server as a module, or copy it. It contains no
// secrets and no prices.

/**
 * @typedef {{ sku: string, quantity: number }} Item
 * @typedef {{ email: string, items: Item[], currency?: string, returnUrl?: string }} Basket
 * @typedef {{ orderId: string, status: string, amount: string, currency: string, paidAt: string | null }} Order
 * @typedef {{ what: number, origin: string, key: string, at: number, orderId?: string }} Intent
 */

const OWN = new URL(import.meta.url).origin;
const KEPT_AS = 'checkout-intent';
// After a day, the same basket is a new purchase.
const [KEPT_MS, PATIENCE_MS, PAUSE_MS] = [86_400_000, 30_000, 2_000];
const FINAL = ['paid', 'cancelled', 'expired'];
// After these problems, the same key would be refused forever.
const OVER = ['already-paid', 'order-cancelled', 'order-expired', 'idempotency-key-reused'];

let onThisPage = 'null';

/**
 * Starts a checkout. A second click, a reload or another tab gets the same order for the same
 * basket, until the order is paid, cancelled or expired, or the basket changes. Without an answer,
 * the request is repeated for half a minute. If no page saw that the order was paid, the next click
 * gets `already-paid` with its `orderId`, once. The click after that buys again.
 * @param {Basket | { orderId: string }} input a basket, or an existing order
 * @param {string} [origin] the server's origin, for a copy that is loaded from another site
 * @returns {Promise<{ orderId: string, checkoutUrl: string }>} redirect the browser to its
 * `checkoutUrl`
 * @throws {Error} with `type`, the last part of the problem's type (empty if there was no answer),
 * `errors` and the `orderId` that was kept
 */
export async function startCheckout(input, origin = OWN) {
  // The digest is stored instead of the basket, which may contain personal data. The e-mail address
  // is left out, because the server ties the key to it.
  const text = JSON.stringify([origin, { ...input, email: undefined }]);
  const what = [...text].reduce((digest, letter) => (Math.imul(digest, 31) + letter.codePointAt(0)) | 0, 0);
  const before = kept();
  // crypto.randomUUID is missing on pages without TLS, and in browsers before 2022.
  const key = crypto.getRandomValues(new Uint32Array(4)).join('-');
  const intent = before?.what === what ? before : { what, origin, key, at: Date.now() };
  // Stored before the request, so that a reload meanwhile uses the same order.
  kept(intent);
  const headers = { 'content-type': 'application/json', 'idempotency-key': intent.key };
  const init = { method: 'POST', headers, body: JSON.stringify(input) };
  const told = await ask(`${origin}/checkout`, init).catch((problem) => problem);
  // Another basket may have replaced it meanwhile.
  if (kept()?.key === intent.key)
    kept(OVER.includes(told.type) ? null : { ...intent, orderId: told.orderId ?? intent.orderId });
  if (told instanceof Error) throw told;
  return told;
}

/**
 * Calls back with the order immediately and after each change, until it is paid, cancelled or
 * expired.
 * @param {string} orderId
 * @param {(order: Order) => void} onChange
 * @param {string} [origin] as above
 * @returns {() => void} stops watching
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
      // The browser reopens a broken connection by itself, but not after a refusal.
      if (events.readyState !== EventSource.CLOSED) return;
      const timer = setTimeout(open, (pauseMs = Math.min(pauseMs * 2, 60_000)));
      stop = () => clearTimeout(timer);
    };
  };
  open();
  return () => stop();
}

/**
 * Sends a request until it is answered.
 * @param {string} url
 * @param {RequestInit} init
 */
async function ask(url, init) {
  for (const until = performance.now() + PATIENCE_MS; ;) {
    const answer = await fetch(url, { ...init, signal: AbortSignal.timeout?.(PATIENCE_MS) }).catch(() => null);
    const body = await answer?.json().catch(() => null);
    if (answer?.ok && body) return body;
    // A partial answer, or a page of a proxy, says nothing about the order.
    const isLost = !answer || (!body && (answer.ok || answer.status >= 500));
    const pauseMs = isLost ? PAUSE_MS : Number(answer.headers.get('retry-after')) * 1_000;
    if (!pauseMs || performance.now() + pauseMs > until) {
      const { type = '', title = 'The shop cannot be reached', detail = title, errors = [], orderId } = body ?? {};
      throw Object.assign(new Error(detail), { type: type.replace('/problems/', ''), errors, orderId });
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/**
 * @param {Intent | null} [next] null removes the stored value; omitted keeps it
 * @returns {Intent | null}
 */
function kept(next) {
  if (next !== undefined) onThisPage = JSON.stringify(next);
  try {
    if (next !== undefined) localStorage.setItem(KEPT_AS, onThisPage);
    onThisPage = localStorage.getItem(KEPT_AS) ?? onThisPage;
  } catch {
    // If storage is forbidden, the value lives as long as the page.
  }
  const intent = JSON.parse(onThisPage);
  return intent?.at > Date.now() - KEPT_MS ? intent : null;
}
