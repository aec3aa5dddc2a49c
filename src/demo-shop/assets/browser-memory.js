/* global localStorage */
// What the browser remembers between pages: the baskets, and the order whose payment is still open. Nothing
// here is believed by the server, and no e-mail address is kept.

const BASKET = 'shop.basket';
const OPEN_ORDER = 'shop.open-order';
const BOUGHT = 'shop.bought';
/** Orders whose things were already taken out of the basket; older ones are not looked at again. */
const BOUGHT_KEPT = 20;
const ORDER_ID = /^[A-Za-z0-9]{24}$/;

/**
 * Where the browser forbids storage, things are remembered as long as the page lives.
 * @type {Map<string, string>}
 */
const onThisPage = new Map();

/** @typedef {Record<string, number>} Quantities by sku */

/** @returns {Quantities} */
export function readBasket() {
  const kept = read(BASKET);
  if (typeof kept !== 'object' || kept === null) return {};
  return Object.fromEntries(Object.entries(kept).filter(([, quantity]) => Number.isSafeInteger(quantity)));
}

/** @param {string} sku @param {number} quantity */
export function putInBasket(sku, quantity) {
  const others = Object.entries(readBasket()).filter(([other]) => other !== sku);
  write(BASKET, Object.fromEntries(quantity > 0 ? [...others, [sku, quantity]] : others));
}

/**
 * Takes what a bought order holds out of the basket, once per order.
 * @param {string} orderId
 * @param {Quantities} bought
 */
export function takeOutBought(orderId, bought) {
  const kept = read(BOUGHT);
  const seen = Array.isArray(kept) ? kept.map(String) : [];
  if (seen.includes(orderId)) return;
  write(BOUGHT, [...seen, orderId].slice(-BOUGHT_KEPT));
  const basket = readBasket();
  for (const [sku, quantity] of Object.entries(bought)) putInBasket(sku, (basket[sku] ?? 0) - quantity);
}

/** @returns {string | null} */
export function openOrder() {
  const id = read(OPEN_ORDER);
  return typeof id === 'string' && ORDER_ID.test(id) ? id : null;
}

/** @param {string | null} orderId */
export function rememberOpenOrder(orderId) {
  write(OPEN_ORDER, orderId);
}

/** @param {string} key @returns {unknown} */
function read(key) {
  try {
    return JSON.parse(onThisPage.get(key) ?? localStorage.getItem(key) ?? 'null');
  } catch {
    // Forbidden storage, or something that other hands have written into it: the page starts empty.
    return null;
  }
}

/** @param {string} key @param {unknown} value */
function write(key, value) {
  const text = JSON.stringify(value);
  try {
    localStorage.setItem(key, text);
  } catch {
    onThisPage.set(key, text);
  }
}
