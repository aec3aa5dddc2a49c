/* global document */

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
