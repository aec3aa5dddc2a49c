/* global document, location, window, URLSearchParams */
// A storefront in sixty lines, with nothing but the client. The order that the shopper comes back to is named
// in the address (set STOREFRONT_RETURN_URL to this page); what is shown of it comes from the server.

import { CheckoutProblem, createCheckoutClient } from './checkout-client.js';

const shop = createCheckoutClient();
const form = document.querySelector('form');
const list = document.querySelector('select');
const email = document.querySelector('input');
const button = document.querySelector('button');
const said = document.querySelector('[data-part="said"]');

/** @param {string} text */
function say(text) {
  if (said !== null) said.textContent = text;
}

if (form && list && email && button) {
  // The browser may show this page again as it was when the shopper left it for the payment.
  window.addEventListener('pageshow', () => {
    button.disabled = false;
  });
  for (const { sku, name, price, currency } of await shop.products()) {
    const option = document.createElement('option');
    option.value = sku;
    option.textContent = `${name}, ${currency} ${price}`;
    list.append(option);
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const items = [{ sku: list.value, quantity: 1 }];
    button.disabled = true;
    say('Opening the payment page…');
    shop.startCheckout({ email: email.value, items }).then(
      ({ checkoutUrl }) => {
        location.assign(checkoutUrl);
      },
      (/** @type {unknown} */ problem) => {
        button.disabled = false;
        say(problem instanceof CheckoutProblem ? problem.message : 'Something went wrong');
      },
    );
  });
}

const orderId = new URLSearchParams(location.search).get('order');
if (orderId !== null) {
  const words = {
    pending: 'is being confirmed. Do not pay again.',
    paid: 'is paid. Thank you.',
    failed: 'was not paid. You can try again.',
    expired: 'was not paid in time. You can try again.',
    review: 'is being looked at. Do not pay again; write to us.',
    cancelled: 'was cancelled. Nothing more is to be paid.',
  };
  shop.watchOrder(orderId, ({ status }) => {
    say(`Your order ${words[status]}`);
  });
}
