/* global document, window, HTMLButtonElement, HTMLElement, HTMLFormElement, HTMLInputElement */
// Turns the plain form of the shop page into a basket. The form stays what is sent; this script sets its
// quantities and adds up, in whole minor units, what the server will price again for itself.

import { openOrder, putInBasket, readBasket, rememberOpenOrder, takeOutBought } from './browser-memory.js';
import { sendOnce, statusOfOrder, word } from './page.js';
import { button, controlOf, find, quantitiesIn, unseen } from './product-control.js';

const bought = document.querySelector('[data-bought]');
if (bought instanceof HTMLElement) takeOutBought(bought.dataset.bought ?? '', quantitiesIn(bought));
const form = document.querySelector('form.shop');
if (form instanceof HTMLFormElement) {
  document.documentElement.classList.add('enhanced');
  const refill = basketOf(form);
  refill();
  // Another tab changed the basket, or the browser brought this page back as it was before the payment.
  window.addEventListener('storage', refill);
  window.addEventListener('pageshow', (event) => {
    if (event.persisted) refill();
  });
}
void pointToOpenOrder();

/** @param {HTMLFormElement} form @returns {() => void} fills it with what the browser remembers */
function basketOf(form) {
  const controls = [...form.querySelectorAll('.product')]
    .filter((card) => card instanceof HTMLElement)
    .map((card) =>
      controlOf(card, (control) => {
        putInBasket(control.sku, control.quantity());
        showBasket(form, controls);
      }),
    );
  find(form, '[data-part="plain-help"]', HTMLElement).hidden = true;
  sendOnce(form);
  payByEnter(form);
  return () => {
    const quantities = readBasket();
    for (const control of controls) control.show(quantities[control.sku] ?? 0);
    showBasket(form, controls);
  };
}

/** Enter presses the first button of a form, and that may be of a currency of which nothing is chosen.
 * @param {HTMLFormElement} form */
function payByEnter(form) {
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.target instanceof HTMLInputElement)) return;
    event.preventDefault();
    const pay = form.querySelector('button[data-pay]:not([hidden])');
    if (event.target.type === 'email' && pay instanceof HTMLButtonElement) form.requestSubmit(pay);
  });
}

/** A shopper who left an order with its payment open is led back to it: else the same is paid twice. */
async function pointToOpenOrder() {
  const orderId = openOrder();
  const notice = document.querySelector('[data-part="open-order"]');
  // Without the place for it the server has said it already.
  if (orderId === null || !(notice instanceof HTMLElement)) return;
  const status = await statusOfOrder(orderId);
  if (status !== null && status !== 'pending' && status !== 'review') {
    rememberOpenOrder(null);
    return;
  }
  const link = document.createElement('a');
  link.href = `/shop/orders/${orderId}`;
  link.textContent = word('openLink');
  notice.append(`${word('openOrder')} `, link);
  notice.hidden = false;
}

/** @typedef {import('./product-control.js').ProductControl} ProductControl */

/** Writes what is in the basket, by currency, onto its part of the page, and shows the buttons that pay it.
 * The sum is of the goods: the server may add a tax or take off a discount, so no button names it.
 * @param {HTMLFormElement} form @param {ProductControl[]} controls */
function showBasket(form, controls) {
  const chosen = controls.filter((control) => control.quantity() > 0);
  const sums = [...form.querySelectorAll('[data-purse]')]
    .filter((purse) => purse instanceof HTMLElement)
    .map((purse) => showPurse(form, purse, controls))
    .filter((sum) => sum !== null);
  find(form, '[data-part="empty"]', HTMLElement).hidden = chosen.length > 0;
  find(form, '[data-part="checkout"]', HTMLElement).hidden = chosen.length === 0;
  const bar = find(form, '[data-part="bar"]', HTMLElement);
  bar.hidden = chosen.length === 0;
  const count = word('count', { count: countOf(chosen) });
  // Sums of several currencies have no room there.
  bar.textContent = [count, ...(sums.length === 1 ? sums : [])].join(' · ');
}

/**
 * @param {HTMLFormElement} form @param {HTMLElement} purse of one currency @param {ProductControl[]} controls
 * @returns {string | null} what its goods cost; null: nothing of its currency is chosen
 */
function showPurse(form, purse, controls) {
  const { purse: currency = '', digits = '0' } = purse.dataset;
  const { locale = 'en' } = form.dataset;
  const chosen = controls.filter((control) => control.currency === currency && control.quantity() > 0);
  const display = (/** @type {bigint} */ amount) => displayMinor(amount, currency, Number(digits), locale);
  const lines = chosen.map((control) => lineOf(form, controls, control, display(amountOf(control))));
  find(purse, '[data-part="lines"]', HTMLElement).replaceChildren(...lines);
  const sum = chosen.reduce((all, control) => all + amountOf(control), 0n);
  find(purse, '[data-part="total"]', HTMLElement).textContent = word('goods', { amount: display(sum) });
  const isEmpty = chosen.length === 0;
  purse.hidden = isEmpty;
  // While checkouts are stopped a sentence stands in place of the button.
  find(form, `[data-pay="${currency}"]`, HTMLElement).hidden = isEmpty;
  const badge = [String(countOf(chosen)), unseen(` ${word('count', { count: '' }).trim()}`)];
  document.querySelector(`[data-count="${currency}"]`)?.replaceChildren(...(isEmpty ? [] : badge));
  return isEmpty ? null : display(sum);
}

/** @param {ProductControl} control */
function amountOf({ unitAmount, quantity }) {
  return unitAmount * BigInt(quantity());
}

/** @param {ProductControl[]} chosen */
function countOf(chosen) {
  return chosen.reduce((sum, { quantity }) => sum + quantity(), 0);
}

/**
 * @param {HTMLFormElement} form @param {ProductControl[]} controls @param {ProductControl} control
 * @param {string} amount
 */
function lineOf(form, controls, control, amount) {
  const [line, what, price] = ['li', 'span', 'span'].map((tag) => document.createElement(tag));
  if (line === undefined || what === undefined || price === undefined) throw new Error('no line was made');
  what.textContent = `${control.quantity()} × ${control.name}`;
  price.textContent = amount;
  price.className = 'line-amount';
  const remove = button(word('remove'), ` ${control.name}`, 'quiet');
  remove.addEventListener('click', () => {
    control.show(0);
    putInBasket(control.sku, 0);
    showBasket(form, controls);
    find(form, '#basket-heading', HTMLElement).focus();
  });
  line.append(what, price, remove);
  return line;
}

/**
 * Minor units as text for people, by the same rules as the server's `displayMoney`: the decimal point is put
 * in as text, so no amount passes through a float on its way.
 * @param {bigint} amount @param {string} currency @param {number} digits decimals of the currency's minor
 * unit
 * @param {string} locale how the server wrote the prices on the page
 */
function displayMinor(amount, currency, digits, locale) {
  const text = amount.toString().padStart(digits + 1, '0');
  const major = digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    currencyDisplay: 'code',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  const written = format.format(/** @type {Intl.StringNumericLiteral} */ (major));
  return written.replace(/\u00a0/g, ' ').replace(/[\u200e\u200f\u061c]/g, '');
}
