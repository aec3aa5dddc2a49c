/* global document, window, HTMLElement, HTMLFormElement, HTMLInputElement */
// Turns the plain forms of the shop page into baskets. The forms stay what is sent; this script sets their quantities
// and adds up, in whole minor units, what the server will price again for itself.

import { showBasket } from './basket-view.js';
import { openOrder, putInBasket, readBasket, rememberOpenOrder } from './browser-memory.js';
import { refuseEmpty, sendOnce } from './buying.js';
import { statusOfOrder } from './order-status.js';
import { controlOf, find } from './product-control.js';

const forms = [...document.querySelectorAll('form[data-currency]')].filter(
  (form) => form instanceof HTMLFormElement,
);
const baskets = forms.map(basketOf);
const refill = () => {
  for (const basket of baskets) basket.fill(readBasket());
};
document.documentElement.classList.add('enhanced');
refill();
// Another tab changed the basket, or the browser brought this page back as it was before the payment.
window.addEventListener('storage', refill);
window.addEventListener('pageshow', (event) => {
  if (event.persisted) refill();
});
shareEmail();
void pointToOpenOrder();

/** @param {HTMLFormElement} form */
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
  refuseEmpty(form, () => controls.some((control) => control.quantity() > 0));
  return {
    /** @param {Record<string, number>} quantities */
    fill(quantities) {
      for (const control of controls) control.show(quantities[control.sku] ?? 0);
      showBasket(form, controls);
    },
  };
}

/** An address that was typed at one basket need not be typed at the next. It is not kept. */
function shareEmail() {
  const fields = [...document.querySelectorAll('input[name="email"]')].filter(
    (field) => field instanceof HTMLInputElement,
  );
  for (const typed of fields)
    typed.addEventListener('change', () => {
      for (const field of fields) if (field.value === '') field.value = typed.value;
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
  link.textContent = 'Look at that order';
  notice.append(
    'The payment of your last order is not confirmed yet. ',
    link,
    ' before you buy the same again.',
  );
  notice.hidden = false;
}
