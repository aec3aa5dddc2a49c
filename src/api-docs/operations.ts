import type { ProblemType } from '../platform/problem-types.ts';
import type { SchemaName } from './schemas.ts';

export type Parameter = { name: string; in: 'path' | 'header'; required: boolean; description: string };

/** One route: its input, its answer on success, and every refusal it can give. */
export type Operation = {
  id: string;
  method: 'get' | 'post';
  path: string;
  tag: 'Storefront' | 'Shop backend' | 'Payment service' | 'Shopper' | 'Operations';
  summary: string;
  description: string;
  parameters?: readonly Parameter[];
  body?: { schema: SchemaName | null; contentTypes: readonly string[] };
  success: { status: 200 | 201 | 202 | 303; schema?: SchemaName; isList?: true; contentType?: string };
  problems: readonly ProblemType[];
  /** Which token it requires. */
  token?: 'shopApiToken' | 'adminToken';
};

const orderId: Parameter = {
  name: 'orderId',
  in: 'path',
  required: true,
  description: 'The unguessable id of an order. It is the only key: a client that has it may see the order.',
};

const JSON_BODY = ['application/json'];
const BODY_PROBLEMS: readonly ProblemType[] = ['malformed-request', 'too-large', 'unsupported-media-type'];
/** The refusals of every route that uses the database. */
const ALWAYS: readonly ProblemType[] = ['internal-error', 'database-unavailable'];

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
      'Prices the basket, writes the order, asks the service for a checkout address and gives it. Send the browser there. An order that exists already is paid by its orderId. `returnUrl`, one of the addresses in STOREFRONT_RETURN_URL, says where the shopper returns to; the first checkout of an order decides. A repeated Idempotency-Key is answered as its order stands then: the same page while it is open, a further payment of the same order once the card was declined, 409 when the order is paid or under review. A plain HTML form may post here as well; it is answered by a redirect to the checkout. A form that is posted twice at once makes one order, and the same browser that posts the same basket again within fifteen minutes, unpaid, is led to the same one.',
    parameters: [
      {
        name: 'Idempotency-Key',
        in: 'header',
        required: false,
        description:
          'A name of your own for this request, kept for 72 hours: however often it is sent, there is one order.',
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
      'out-of-stock',
      'request-in-flight',
      'invalid-input',
      'idempotency-key-reused',
      'too-many-requests',
      'too-many-open-payments',
      'payment-refused',
      'payment-service-unavailable',
      'currency-stopped',
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
      'pending: not paid yet, or being confirmed. paid: proven by the service. failed: may be tried again. expired: not paid in time. review: a person looks at it, the shopper must not pay again.',
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
      'Server-sent events: an `order` event now and at each change of status, its data the JSON of an order. Ends after ten minutes; an EventSource connects again by itself.',
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
      'Asks the service how the payment stands, then redirects to the STOREFRONT_RETURN_URL that the order chose, else the first, with `order` and `status`, or to the order page. Nothing in the query is read.',
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
      'Keeps the bytes and answers; nothing in them is believed. A reference of ours makes us ask the service about it. Unknown references are taken as well, and cost no call. A service that insists on another status than 202 gets it by the dialect (webhook.acknowledgement).',
    body: { schema: null, contentTypes: [...JSON_BODY, 'application/x-www-form-urlencoded'] },
    success: { status: 202 },
    problems: [...BODY_PROBLEMS, 'bad-signature', 'method-not-allowed', 'too-many-requests', ...ALWAYS],
  },
  {
    id: 'placeOrder',
    method: 'post',
    path: '/orders',
    tag: 'Shop backend',
    summary: 'Place an order that you priced yourself',
    description:
      'For your backend alone. Pay it by POST /checkout with its orderId. `returnUrl`, one of the addresses in STOREFRONT_RETURN_URL, says where the shopper returns to.',
    body: { schema: 'OrderInput', contentTypes: JSON_BODY },
    success: { status: 201, schema: 'Order' },
    problems: [
      ...BODY_PROBLEMS,
      'unauthorized',
      'external-id-taken',
      'invalid-input',
      'too-many-requests',
      ...ALWAYS,
    ],
    token: 'shopApiToken',
  },
  {
    id: 'recordRefund',
    method: 'post',
    path: '/orders/{orderId}/refunds',
    tag: 'Shop backend',
    summary: 'Write down money that you have given back',
    description:
      'Bookkeeping: it moves no money, you give it back at the service. The sum is never above what was paid. The same externalId with the same content again is answered 200 and changes nothing. Reconciliation expects the reversal that a refund explains, and takings are less by it.',
    parameters: [orderId],
    body: { schema: 'RefundInput', contentTypes: JSON_BODY },
    success: { status: 201, schema: 'Refund' },
    problems: [
      ...BODY_PROBLEMS,
      'unauthorized',
      'not-found',
      'not-paid',
      'refund-differs',
      'invalid-input',
      'too-many-requests',
      ...ALWAYS,
    ],
    token: 'shopApiToken',
  },
  {
    id: 'isAlive',
    method: 'get',
    path: '/healthz',
    tag: 'Operations',
    summary: 'Is the process alive?',
    description: 'Makes no call.',
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
      'The database answers, and the service does not refuse the key. With WORKER=off the body says whether a worker is `running` or `missing`, and when the last was seen.',
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
      'Opened by ADMIN_TOKEN, or by the token of any operator. Without either: from this machine only, and never in production.',
    success: { status: 200, contentType: 'text/plain' },
    problems: ['unauthorized', 'not-found', 'too-many-requests', ...ALWAYS],
    token: 'adminToken',
  },
];
