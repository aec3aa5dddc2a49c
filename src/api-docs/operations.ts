import { ALWAYS, BODY_PROBLEMS, JSON_BODY, orderId, type Operation } from './operation.ts';
import { SHOP_OPERATIONS, STOP_OPERATIONS } from './shop-operations.ts';

/** Every route for programs, in the order in which an integration needs them. */
export const OPERATIONS: readonly Operation[] = [
  {
    id: 'listProducts',
    method: 'get',
    path: '/products',
    tag: 'Storefront',
    summary: 'The catalogue',
    description: 'What can be bought, with exact prices. Prices come from the server alone.',
    success: { status: 200, schema: 'Product', isList: true },
    problems: ['too-many-requests', ...ALWAYS],
  },
  {
    id: 'startCheckout',
    method: 'post',
    path: '/checkout',
    tag: 'Storefront',
    summary: 'Start a hosted checkout',
    description:
      'Prices the basket, writes the order, asks the service for a checkout address and gives it. Send the ' +
      'browser there. An order that exists already is paid by its orderId. `returnUrl`, one of the ' +
      'addresses in STOREFRONT_RETURN_URL, says where the shopper returns to; the first checkout of an ' +
      'order decides. A repeated Idempotency-Key is answered as its order stands then: the same page ' +
      'while it is open, a further payment of the same order once the card was declined, 409 when the ' +
      'order is paid or under review. A plain HTML form may post here as well; it is answered by a ' +
      'redirect to the checkout. A form that is posted twice at once makes one order, and the same ' +
      'browser that posts the same basket again within fifteen minutes, unpaid, is led to the same one.',
    parameters: [
      {
        name: 'Idempotency-Key',
        in: 'header',
        required: false,
        description:
          'A name of your own for this request, kept for 72 hours: however often it is sent, there is one ' +
          'order.',
      },
    ],
    body: { schema: 'CheckoutInput', contentTypes: [...JSON_BODY, 'application/x-www-form-urlencoded'] },
    success: { status: 201, schema: 'OpenedCheckout' },
    problems: [
      ...BODY_PROBLEMS,
      'foreign-origin',
      'already-paid',
      'under-review',
      'order-cancelled',
      'order-expired',
      'out-of-stock',
      'request-in-flight',
      'invalid-input',
      'idempotency-key-reused',
      'too-many-requests',
      'too-many-open-payments',
      'payment-refused',
      'payment-service-unavailable',
      'currency-stopped',
      'checkouts-stopped',
      ...ALWAYS,
    ],
  },
  {
    id: 'readOrder',
    method: 'get',
    path: '/orders/{orderId}',
    tag: 'Storefront',
    summary: 'How an order stands',
    description:
      'pending: not paid yet, or being confirmed. paid: proven by the service. failed: may be tried again. ' +
      'expired: not paid in time; with a deadline (`payBy`) it can no longer be paid. review: a person ' +
      'looks at it, the shopper must not pay again. cancelled: the shop has ended it.',
    parameters: [orderId],
    success: { status: 200, schema: 'Order' },
    problems: ['not-found', 'too-many-requests', ...ALWAYS],
  },
  {
    id: 'watchOrder',
    method: 'get',
    path: '/orders/{orderId}/events',
    tag: 'Storefront',
    summary: 'The same, as it changes',
    description:
      'Server-sent events: an `order` event now and at each change of status, its data the JSON of an ' +
      'order. Ends after ten minutes; an EventSource connects again by itself.',
    parameters: [orderId],
    success: { status: 200, contentType: 'text/event-stream' },
    problems: ['not-found', 'too-many-requests', ...ALWAYS],
  },
  {
    id: 'returnFromCheckout',
    method: 'get',
    path: '/checkout/return/{reference}',
    tag: 'Shopper',
    summary: 'Where the service sends the shopper back to',
    description:
      'Asks the service how the payment stands, then redirects to the STOREFRONT_RETURN_URL that the order ' +
      'chose, else the first, with `order` and `status`, or to the order page. Nothing in the query is ' +
      'read.',
    parameters: [{ name: 'reference', in: 'path', required: true, description: 'Of the payment.' }],
    success: { status: 303 },
    problems: ['not-found', ...ALWAYS],
  },
  {
    id: 'receiveWebhook',
    method: 'post',
    path: '/webhooks/payments',
    tag: 'Payment service',
    summary: 'Where the service calls',
    description:
      'Keeps the bytes and answers; nothing in them is believed. A reference of ours makes us ask the ' +
      'service about it. Unknown references are taken as well, and cost no call. A service that insists ' +
      'on another status than 202 gets it by the dialect (webhook.acknowledgement).',
    body: { schema: null, contentTypes: [...JSON_BODY, 'application/x-www-form-urlencoded'] },
    success: { status: 202 },
    problems: [...BODY_PROBLEMS, 'bad-signature', 'method-not-allowed', 'too-many-requests', ...ALWAYS],
  },
  ...SHOP_OPERATIONS,
  ...STOP_OPERATIONS,
  {
    id: 'isAlive',
    method: 'get',
    path: '/healthz',
    tag: 'Operations',
    summary: 'Is the process alive?',
    description: 'Does not call the database or the service.',
    success: { status: 200, contentType: 'application/json' },
    problems: [],
  },
  {
    id: 'isReady',
    method: 'get',
    path: '/readyz',
    tag: 'Operations',
    summary: 'Can it serve?',
    description:
      'The database answers, and the service does not refuse the key. With WORKER=off the body says ' +
      'whether a worker is `running` or `missing`, and when the last was seen.',
    success: { status: 200, contentType: 'application/json' },
    problems: ['payment-service-unavailable', ...ALWAYS],
  },
  {
    id: 'readMetrics',
    method: 'get',
    path: '/metrics',
    tag: 'Operations',
    summary: 'For Prometheus',
    description:
      'Opened by ADMIN_TOKEN, or by the token of any operator. Without either: from this machine only, and ' +
      'never in production.',
    success: { status: 200, contentType: 'text/plain' },
    problems: ['unauthorized', 'not-found', 'too-many-requests', ...ALWAYS],
    token: 'adminToken',
  },
];
