/* global document, HTMLElement */

import { putInBasket } from './browser-memory.js';
import { displayMinor } from './money.js';
import { button, find, unseen } from './product-control.js';
import { word } from './words.js';

/** @typedef {import('./product-control.js').ProductControl} ProductControl */

/** Writes what is in the basket, by currency, onto its part of the page, and shows the buttons that pay it.
 * The sum is of the goods: the server may add a tax or take off a discount, so no button names it.
 * @param {HTMLFormElement} form @param {ProductControl[]} controls */
export function showBasket(form, controls) {
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
  // In place of the button there is a sentence where nobody can pay now.
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
