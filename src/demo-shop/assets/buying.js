/* global window, setTimeout, HTMLButtonElement */

import { word } from './words.js';

/** After this long without leaving the page, the payment page is not coming and the button works again. */
const LEAVING_MS = 15_000;

/**
 * Makes one request of two clicks: the way to the payment page takes a while, and people press again.
 * @param {HTMLFormElement} form
 */
export function sendOnce(form) {
  /** The button that was pressed, and its text. @type {[HTMLButtonElement, string | null] | null} */
  let pressed = null;
  const release = () => {
    if (pressed === null) return;
    const [button, text] = pressed;
    button.textContent = text;
    button.removeAttribute('aria-disabled');
    pressed = null;
  };
  form.addEventListener('submit', (event) => {
    if (pressed !== null) {
      event.preventDefault();
      return;
    }
    const { submitter } = event;
    if (!(submitter instanceof HTMLButtonElement)) return;
    pressed = [submitter, submitter.textContent];
    submitter.textContent = word('opening');
    submitter.setAttribute('aria-disabled', 'true');
    setTimeout(release, LEAVING_MS);
  });
  // Whoever comes back gets the page as it was left.
  window.addEventListener('pageshow', release);
}
