/* global fetch, location, AbortSignal */

const ANSWER_WITHIN_MS = 8_000;

/**
 * Where an order stands: its status, `'unknown'` when there is no such order, or null when nobody could be asked. Null
 * is no error to show: a shopper on a train needs none.
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
 * Whether this page, loaded again, would watch its order no more. False when nobody could be asked.
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
