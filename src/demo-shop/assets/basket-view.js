/* global document, HTMLElement */

import { putInBasket } from './browser-memory.js';
import { displayMinor } from './money.js';
import { button, find, unseen } from './product-control.js';

/** @typedef {import('./product-control.js').ProductControl} ProductControl */

/** Writes what is in the basket, and its total, next to the form's button.
 * @param {HTMLFormElement} form @param {ProductControl[]} controls */
export function showBasket(form, controls) {
  const { currency = '', digits = '0', locale = 'en' } = form.dataset;
  const chosen = controls.filter((control) => control.quantity() > 0);
  const amountOf = (/** @type {ProductControl} */ { unitAmount, quantity }) =>
    unitAmount * BigInt(quantity());
  const display = (/** @type {bigint} */ amount) => displayMinor(amount, currency, Number(digits), locale);

  const lines = find(form, '[data-part="lines"]', HTMLElement);
  lines.hidden = chosen.length === 0;
  lines.replaceChildren(
    ...chosen.map((control) => lineOf(form, controls, control, display(amountOf(control)))),
  );
  const total = find(form, '[data-part="total"]', HTMLElement);
  total.hidden = false;
  total.textContent =
    chosen.length === 0
      ? 'Nothing in it yet.'
      : `Total ${display(chosen.reduce((sum, control) => sum + amountOf(control), 0n))}`;
  if (chosen.length > 0) find(form, '[data-part="fault"]', HTMLElement).textContent = '';

  const count = chosen.reduce((sum, { quantity }) => sum + quantity(), 0);
  const badge = document.querySelector(`[data-count="${currency}"]`);
  badge?.replaceChildren(...(count === 0 ? [] : [String(count), unseen(' in the basket')]));
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
  const remove = button('Remove', ` ${control.name}`, 'quiet');
  remove.addEventListener('click', () => {
    control.show(0);
    putInBasket(control.sku, 0);
    showBasket(form, controls);
    find(form, '.basket h3', HTMLElement).focus();
  });
  line.append(what, price, remove);
  return line;
}
