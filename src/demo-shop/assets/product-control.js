/* global document, HTMLElement, HTMLInputElement */

import { word } from './page.js';

/** @typedef {{ sku: string, name: string, currency: string, unitAmount: bigint, quantity: () => number, show: (quantity: number) => void }} ProductControl */

/**
 * Puts "Add", "−" and "+" around a product's number field. The field stays, and stays what the form sends.
 * @param {HTMLElement} card
 * @param {(control: ProductControl) => void} onChange
 * @returns {ProductControl}
 */
export function controlOf(card, onChange) {
  const { sku = '', name = '', currency = '', unitAmount = '0' } = card.dataset;
  const place = find(card, '.quantity', HTMLElement);
  const label = find(place, 'label', HTMLElement);
  const input = find(label, 'input', HTMLInputElement);
  const add = button(word('add'), `: ${name}`, 'button secondary');
  const less = button('−', ` ${word('less', { name })}`, 'step');
  const more = button('+', ` ${word('more', { name })}`, 'step');
  label.before(less);
  label.after(more, add);

  const quantity = () => clamp(input.valueAsNumber, Number(input.max));
  const show = (/** @type {number} */ wanted) => {
    const shown = clamp(wanted, Number(input.max));
    input.value = String(shown);
    for (const part of [less, label, more]) part.hidden = shown === 0;
    add.hidden = shown > 0;
  };
  const control = { sku, name, currency, unitAmount: BigInt(unitAmount), quantity, show };
  const step = (/** @type {number} */ by, /** @type {HTMLElement} */ next) => {
    show(quantity() + by);
    onChange(control);
    // The button that was pressed may be gone; the keyboard must not fall back to the top of the page.
    next.focus();
  };
  add.addEventListener('click', () => {
    step(1, more);
  });
  more.addEventListener('click', () => {
    step(1, more);
  });
  less.addEventListener('click', () => {
    step(-1, quantity() === 1 ? add : less);
  });
  // While a number is being typed the field may be empty for a moment; it only turns into "Add" when it is
  // left.
  input.addEventListener('input', () => {
    onChange(control);
  });
  input.addEventListener('change', () => {
    show(quantity());
  });
  return control;
}

/** @param {number} quantity @param {number} most */
function clamp(quantity, most) {
  return Number.isFinite(quantity) ? Math.min(Math.max(Math.trunc(quantity), 0), most) : 0;
}

/**
 * @param {string} text @param {string} heard what a screen reader hears after the text @param {string} look
 */
export function button(text, heard, look) {
  const made = document.createElement('button');
  made.type = 'button';
  made.className = look;
  made.append(text, unseen(heard));
  return made;
}

/** How many of which sku a list of things says. @param {ParentNode} within */
export function quantitiesIn(within) {
  /** @type {Record<string, number>} */
  const quantities = {};
  for (const line of within.querySelectorAll('[data-sku]')) {
    if (!(line instanceof HTMLElement)) continue;
    const { sku = '', quantity } = line.dataset;
    quantities[sku] = (quantities[sku] ?? 0) + Number(quantity);
  }
  return quantities;
}

/** @param {string} text for screen readers only */
export function unseen(text) {
  const made = document.createElement('span');
  made.className = 'unseen';
  made.textContent = text;
  return made;
}

/**
 * The part of the page that the server always writes.
 * @template {Element} T
 * @param {ParentNode} within @param {string} selector @param {{ new (): T }} kind
 * @returns {T}
 */
export function find(within, selector, kind) {
  const found = within.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(`the page has no ${selector}`);
  return found;
}
