import { ALWAYS, BODY_PROBLEMS, JSON_BODY, orderId, type Operation, type Parameter } from './operation.ts';

const optional = (name: string, description: string): Parameter => ({
  name,
  in: 'query',
  required: false,
  description,
});

/** The routes of the shop's own system. */
export const SHOP_OPERATIONS: readonly Operation[] = [
  {
    id: 'placeOrder',
    method: 'post',
    path: '/orders',
    tag: 'Shop backend',
    summary: 'Place an order that you priced yourself',
    description:
      'For your backend alone. Pay it by POST /checkout with its orderId. With an `externalId` it may be ' +
      'sent again: the same content is answered by the order as it stands now (200), another content by ' +
      '409, which names the order. Personal data that was erased since counts as the same. A line may ' +
      'cost nothing, or be negative (a discount); the total is above zero. `payBy`: the order expires ' +
      'for good then, after the service was asked a last time, and later money is raised. `returnUrl`, ' +
      'one of the addresses in STOREFRONT_RETURN_URL, says where the shopper returns to.',
    body: { schema: 'OrderInput', contentTypes: JSON_BODY },
    success: { status: 201, orStatus: 200, schema: 'ShopOrder' },
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
    id: 'listOrders',
    method: 'get',
    path: '/orders',
    tag: 'Shop backend',
    summary: 'Find your orders',
    description:
      'The order of one of your numbers, or all orders page by page, newest first. Orders that come ' +
      'meanwhile move none from its page.',
    parameters: [
      optional('externalId', 'Your own number: gives one order, or none.'),
      optional('status', 'Orders with this status alone.'),
      optional('since', 'Orders that were placed then or later, as 2026-11-20T09:00:00Z.'),
      optional('after', 'The `next` of the page before.'),
      optional('limit', 'Orders on a page: 1 to 200, 50 if left out.'),
    ],
    success: { status: 200, schema: 'ShopOrders' },
    problems: ['unauthorized', 'invalid-input', 'too-many-requests', ...ALWAYS],
    token: 'shopApiToken',
  },
  {
    id: 'cancelOrder',
    method: 'post',
    path: '/orders/{orderId}/cancel',
    tag: 'Shop backend',
    summary: 'Cancel an order that is not paid',
    description:
      'The service is asked once more about each payment that may have paid. If one has paid, the order is paid ' +
      'and not cancelled (409). If the service cannot be asked, nothing changes (503): try again. 409 ' +
      'under-review: the service has just said something that a person should read; sent again, it is ' +
      'cancelled. Money that comes later goes into suspense and is raised. Cancelling it again changes ' +
      'nothing.',
    parameters: [orderId],
    body: { schema: 'CancelInput', contentTypes: JSON_BODY },
    success: { status: 200, schema: 'ShopOrder' },
    problems: [
      ...BODY_PROBLEMS,
      'unauthorized',
      'not-found',
      'already-paid',
      'under-review',
      'invalid-input',
      'too-many-requests',
      'payment-service-unavailable',
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
      'Bookkeeping: it moves no money, you give it back at the service. The sum is never above what was ' +
      'paid. Send an externalId: the same one with the same amount again is answered 200 and changes ' +
      'nothing, with another amount 409; without one a request that is sent again after a lost answer is ' +
      'a second refund. Reconciliation expects the reversal that a refund explains, and takings are less ' +
      'by it.',
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
];

/** How the shop's own system stops new checkouts. */
export const STOP_OPERATIONS: readonly Operation[] = [
  {
    id: 'stopCheckouts',
    method: 'post',
    path: '/checkouts/stop',
    tag: 'Shop backend',
    summary: 'Stop new checkouts',
    description:
      'Of one currency, or all of them. Open payments go on, and what is paid there is confirmed. Answers ' +
      'what is stopped now; a stop that holds already stays as it is.',
    body: { schema: 'CheckoutStop', contentTypes: JSON_BODY },
    success: { status: 200, schema: 'Stopped', isList: true },
    problems: [...BODY_PROBLEMS, 'unauthorized', 'invalid-input', 'too-many-requests', ...ALWAYS],
    token: 'shopApiToken',
  },
  {
    id: 'resumeCheckouts',
    method: 'post',
    path: '/checkouts/resume',
    tag: 'Shop backend',
    summary: 'Let new checkouts begin again',
    description:
      'Ends a stop by hand. One that the program made because payments came in another unit is ended by a ' +
      'person. Answers what is stopped still.',
    body: { schema: 'CheckoutResume', contentTypes: JSON_BODY },
    success: { status: 200, schema: 'Stopped', isList: true },
    problems: [...BODY_PROBLEMS, 'unauthorized', 'invalid-input', 'too-many-requests', ...ALWAYS],
    token: 'shopApiToken',
  },
];
