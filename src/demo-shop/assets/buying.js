/* global window, setTimeout, HTMLElement, HTMLButtonElement */

import { find } from './product-control.js';

/** After this long without leaving the page, the payment page is not coming and the button works again. */
const LEAVING_MS = 15_000;

/**
 * Makes one request of two clicks: the way to the payment page takes a while, and people press again.
 * @param {HTMLFormElement} form
 */
export function sendOnce(form) {
  const send = find(form, 'button[type="submit"]', HTMLButtonElement);
  const words = send.textContent;
  const wait = (/** @type {boolean} */ isLeaving) => {
    send.setAttribute('aria-disabled', String(isLeaving));
    send.textContent = isLeaving ? 'Opening the payment page…' : words;
  };
  form.addEventListener('submit', (event) => {
    if (send.getAttribute('aria-disabled') === 'true') {
      event.preventDefault();
      return;
    }
    wait(true);
    setTimeout(wait, LEAVING_MS, false);
  });
  // Whoever comes back gets the page as it was left.
  window.addEventListener('pageshow', () => {
    wait(false);
  });
}

/**
 * Says that the basket is empty before the server has to.
 * @param {HTMLFormElement} form @param {() => boolean} isFilled
 */
export function refuseEmpty(form, isFilled) {
  // On the click and not on the submit: browsers complain about the e-mail field before they send anything.
  find(form, 'button[type="submit"]', HTMLButtonElement).addEventListener('click', (event) => {
    if (isFilled()) return;
    event.preventDefault();
    find(form, '[data-part="fault"]', HTMLElement).textContent =
      'Your basket is empty. Add something before you buy.';
  });
}
