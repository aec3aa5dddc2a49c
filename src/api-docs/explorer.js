// Starts Swagger UI on the page /docs/explorer.

/** @typedef {{ url: string, method: string, headers: Record<string, string> }} ExplorerRequest */

const place = document.getElementById('explorer');
const darkMode = matchMedia('(prefers-color-scheme: dark)');

/**
 * Attributes that screen readers and keyboards need and that Swagger UI lacks.
 * @type {[selector: string, attributes: Record<string, string>][]}
 */
const MISSING = [
  ['.information-container', { role: 'banner' }],
  ['.scheme-container', { role: 'region', 'aria-label': 'Authorization' }],
  ['.opblock-section-header > h4, .opblock-title, .modal-ux-header h3', { 'aria-level': '2' }],
  ['.modal-ux-content h4, .curl-command > h4', { 'aria-level': '3' }],
  ['.body-param__text', { 'aria-label': 'Request body' }],
  ['.parameters-col_description select', { 'aria-label': 'Value of the parameter' }],
  ['.responses-table', { role: 'table' }],
  ['.close-modal', { 'aria-label': 'Close' }],
  ['.modal-btn.authorize[type=submit]', { 'aria-label': 'Authorize' }],
  // The keyboard can scroll an element only if it can have the focus.
  ['pre.microlight', { tabindex: '0' }],
];

function addMissingAttributes() {
  for (const [selector, attributes] of MISSING)
    for (const element of place.querySelectorAll(selector))
      for (const [name, value] of Object.entries(attributes))
        if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

function applyColorScheme() {
  document.documentElement.classList.toggle('dark-mode', darkMode.matches);
}

/**
 * Gives each checkout a key of its own, as a storefront does. With a fixed example, everybody would
 * use the same key.
 * @param {ExplorerRequest} request
 */
function addIdempotencyKey(request) {
  const isCheckout = request.method === 'POST' && new URL(request.url, location.href).pathname === '/checkout';
  // crypto.randomUUID is missing on pages without TLS.
  if (isCheckout) request.headers['Idempotency-Key'] ||= crypto.getRandomValues(new Uint32Array(4)).join('-');
  return request;
}

function start() {
  applyColorScheme();
  darkMode.addEventListener('change', applyColorScheme);
  new MutationObserver(addMissingAttributes).observe(place, { childList: true, subtree: true });
  SwaggerUIBundle({
    domNode: place,
    url: '/openapi.json',
    // The only shared schema is that of errors, which each operation shows.
    defaultModelsExpandDepth: -1,
    // Otherwise Swagger UI sends the document's address to a public validator.
    validatorUrl: null,
    requestInterceptor: addIdempotencyKey,
  });
}

// The server accepts a checkout only from pages of its own origin. A visitor may have used another
// name of this machine.
if (location.origin === place.dataset.origin) start();
else location.replace(`${place.dataset.origin}/docs/explorer${location.hash}`);
