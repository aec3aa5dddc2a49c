/* global document, location, setTimeout, performance, EventSource, HTMLElement, HTMLFormElement */
// Watches an order that may still change, and loads the page again when it did. What the page says comes from
// the server alone. The server tells by itself; where a proxy swallows that, the page asks now and again.

import { openOrder, rememberOpenOrder, takeOutBought } from './browser-memory.js';
import { isPageFinal, sendOnce, statusOfOrder, word } from './page.js';
import { quantitiesIn } from './product-control.js';

const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 10_000;
const PAUSE_GROWTH = 1.3;
const PATIENCE_MS = 15 * 60_000;
/** Time for a screen reader to say what changed before the page goes. */
const ANNOUNCEMENT_MS = 1_500;

for (const form of document.querySelectorAll('form.pay')) if (form instanceof HTMLFormElement) sendOnce(form);
const order = document.querySelector('[data-order]');
if (order instanceof HTMLElement) {
  remember(order);
  const { order: id = '', status = '', isWatched } = order.dataset;
  if (isWatched !== undefined) watch(id, status);
}

/** @param {HTMLElement} page */
function remember(page) {
  const { order: id = '', status, isWatched } = page.dataset;
  if (isWatched !== undefined) rememberOpenOrder(id);
  else if (openOrder() === id) rememberOpenOrder(null);
  // What a person looks at is paid in some way: bought again, it would be paid twice.
  if (status === 'paid' || status === 'review') takeOutBought(id, quantitiesIn(page));
}

/** @param {string} orderId @param {string} shownStatus */
function watch(orderId, shownStatus) {
  let isOver = false;
  /** @param {string | null} status */
  const see = (status) => {
    if (isOver || status === null || status === shownStatus) return;
    isOver = true;
    say(word('changed'));
    setTimeout(() => {
      location.reload();
    }, ANNOUNCEMENT_MS);
  };
  const ask = async () => {
    see(await statusOfOrder(orderId));
  };
  // Browsers slow the timers of hidden pages down: who is back from the banking app sees the answer at once.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') void ask();
  });
  say(word('watching'));
  const hears = listen(orderId, see);
  const lookAgain = async () => {
    if (!hears()) await ask();
    // A person's decision about an order under review leaves its status as it is: only the page tells of it.
    if (shownStatus === 'review' && (await isPageFinal())) see('decided');
  };
  askNowAndAgain(lookAgain, () => isOver);
}

/**
 * @param {string} orderId @param {(status: string) => void} see
 * @returns {() => boolean} whether the server's words arrive: an open connection alone says nothing, proxies
 * hold them back
 */
function listen(orderId, see) {
  let hears = false;
  const events = new EventSource(`/orders/${orderId}/events`);
  events.addEventListener('error', () => {
    hears = false;
  });
  events.addEventListener('order', (event) => {
    hears = true;
    /** @type {unknown} */
    const order = JSON.parse(String(event.data));
    if (typeof order === 'object' && order !== null && 'status' in order) see(String(order.status));
  });
  setTimeout(() => {
    events.close();
  }, PATIENCE_MS);
  return () => hears;
}

/** @param {() => Promise<void>} ask @param {() => boolean} isOver */
function askNowAndAgain(ask, isOver) {
  const startedAt = performance.now();
  let pauseMs = FIRST_PAUSE_MS;
  const plan = () => {
    if (isOver()) return;
    if (performance.now() - startedAt > PATIENCE_MS) {
      say(word('stopped'));
      return;
    }
    setTimeout(() => void ask().then(plan), pauseMs);
    pauseMs = Math.min(pauseMs * PAUSE_GROWTH, LONGEST_PAUSE_MS);
  };
  plan();
}

/** @param {string} text */
function say(text) {
  const place = document.querySelector('[data-part="watch"]');
  if (place !== null) place.textContent = text;
}
