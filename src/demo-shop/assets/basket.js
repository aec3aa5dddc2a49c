/* global document, window, HTMLButtonElement, HTMLElement, HTMLFormElement, HTMLInputElement */
// Turns the plain form of the shop page into a basket. The form stays what is sent; this script sets its quantities
// and adds up, in whole minor units, what the server will price again for itself.

import { showBasket } from './basket-view.js';
import { openOrder, putInBasket, readBasket, rememberOpenOrder, takeOutBought } from './browser-memory.js';
import { sendOnce } from './buying.js';
import { statusOfOrder } from './order-status.js';
import { controlOf, find, quantitiesIn } from './product-control.js';
import { word } from './words.js';

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

/** Whoever left an order with its payment open is led back to it, before the same things are paid twice. */
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
