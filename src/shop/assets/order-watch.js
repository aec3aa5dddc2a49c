/* global document, location, setTimeout, clearTimeout, performance, HTMLElement, HTMLFormElement */
// Watches an order that may still change, and loads the page again when it did. What the page says comes from the
// server alone.

import { openOrder, rememberOpenOrder, takeOutBought } from './browser-memory.js';
import { sendOnce } from './buying.js';
import { statusOfOrder } from './order-status.js';

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
function remember({ dataset: { order: id = '', status } }) {
  if (status === 'pending' || status === 'review') rememberOpenOrder(id);
  else if (openOrder() === id) rememberOpenOrder(null);
  if (status === 'paid') takeOutBought(id, boughtThings());
}

function boughtThings() {
  /** @type {Record<string, number>} */
  const bought = {};
  for (const line of document.querySelectorAll('[data-sku]')) {
    if (!(line instanceof HTMLElement)) continue;
    const { sku = '', quantity } = line.dataset;
    bought[sku] = (bought[sku] ?? 0) + Number(quantity);
  }
  return bought;
}

/** @param {string} orderId @param {string} shownStatus */
function watch(orderId, shownStatus) {
  const startedAt = performance.now();
  let pauseMs = FIRST_PAUSE_MS;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let isAsking = false;

  const plan = () => {
    clearTimeout(timer);
    if (performance.now() - startedAt > PATIENCE_MS) {
      say('This page has stopped checking. Load it again to see how the order stands.');
      return;
    }
    timer = setTimeout(() => void ask(), pauseMs);
    pauseMs = Math.min(pauseMs * PAUSE_GROWTH, LONGEST_PAUSE_MS);
  };
  const ask = async () => {
    if (isAsking) return;
    isAsking = true;
    const status = await statusOfOrder(orderId);
    isAsking = false;
    if (status === null || status === shownStatus) {
      plan();
      return;
    }
    say('Your order has changed. Showing how it stands now.');
    setTimeout(() => {
      location.reload();
    }, ANNOUNCEMENT_MS);
  };
  // Browsers slow the timers of hidden pages down: whoever comes back from the banking app sees the answer at once.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') void ask();
  });
  say('This page checks by itself.');
  plan();
}

/** @param {string} text */
function say(text) {
  const place = document.querySelector('[data-part="watch"]');
  if (place !== null) place.textContent = text;
}
