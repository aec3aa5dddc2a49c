/* global document, fetch, location, window, setTimeout, AbortSignal, HTMLButtonElement */
// What every page with a script has: its texts, forms that are sent once, and the status of an order.

/** @type {unknown} */
const given = JSON.parse(document.querySelector('[data-words]')?.getAttribute('data-words') ?? '{}');
/** The texts of this page's language. @type {Map<string, unknown>} */
const words = new Map(Object.entries(given ?? {}));

/**
 * A text of the page's language (`script` in src/demo-shop/words).
 * @param {string} name @param {Record<string, string | number>} [values] for what stands in braces
 */
export function word(name, values = {}) {
  const text = words.get(name);
  if (typeof text !== 'string') throw new Error(`the page has no text "${name}"`);
  return text.replace(/\{(\w+)\}/g, (_braces, /** @type {string} */ value) => String(values[value]));
}

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
  // A shopper who comes back gets the page as it was left.
  window.addEventListener('pageshow', release);
}

const ANSWER_WITHIN_MS = 8_000;

/**
 * Where an order stands: its status, `'unknown'` when there is no such order, or null when the server did not
 * answer. Null is no error to show: a shopper on a train needs none.
 * @param {string} orderId
 * @returns {Promise<string | null>}
 */
export async function statusOfOrder(orderId) {
  try {
    const response = await fetch(`/orders/${orderId}`, {
      cache: 'no-store',
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    if (response.status === 404) return 'unknown';
    if (!response.ok) return null;
    /** @type {unknown} */
    const answer = await response.json();
    const isOrder = typeof answer === 'object' && answer !== null && 'status' in answer;
    return isOrder ? String(answer.status) : null;
  } catch {
    return null;
  }
}

/**
 * Whether this page, loaded again, would watch its order no more. False when the server did not answer.
 * @returns {Promise<boolean>}
 */
export async function isPageFinal() {
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const response = await fetch(location.pathname, { cache: 'no-store', signal });
    return response.ok && !(await response.text()).includes('data-is-watched');
  } catch {
    return false;
  }
}
