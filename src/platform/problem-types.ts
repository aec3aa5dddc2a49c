import { SERVER_PROBLEMS, type ProblemKind } from './server-problems.ts';

/**
 * Every refusal of the API (RFC 9457). One table for the answer, for the page at `/problems/<type>` that
 * the answer's `type` links to, and for the description of the API.
 */
export const PROBLEMS = {
  'malformed-request': {
    status: 400,
    title: 'The request could not be read',
    cause:
      'The body is not the JSON that its content type promises, a header has a form it must not ' +
      'have, or the address cannot be decoded.',
    cure: 'Correct the request; the same one again gets the same answer.',
  },
  unauthorized: {
    status: 401,
    title: 'A valid credential is needed',
    cause: 'The Authorization header is missing, or its token is not the configured one.',
    cure:
      'Send `Authorization: Bearer` with SHOP_API_TOKEN for orders, with ADMIN_TOKEN or an ' +
      'operator’s token for metrics.',
  },
  'bad-signature': {
    status: 401,
    title: 'The signature does not match the body',
    cause:
      'The webhook was not signed with one of WEBHOOK_SECRETS, its bytes were changed on the ' +
      'way, or its time stamp is too old.',
    cure:
      'Compare the secret with the one at the service, and the scheme with the dialect. A proxy in ' +
      'between must not touch the body.',
  },
  'foreign-origin': {
    status: 403,
    title: 'Pages of that site may not do this',
    cause:
      'A page of another site sent the request, and its origin is neither PUBLIC_URL nor one of ' +
      'STOREFRONT_ORIGINS.',
    cure: 'Add the origin of your storefront to STOREFRONT_ORIGINS, exactly as browsers send it.',
  },
  'viewer-may-not-act': {
    status: 403,
    title: 'Your role is to look, not to act',
    cause: 'The token belongs to an operator whom OPERATORS calls a viewer.',
    cure: 'Ask an operator to do it, or have the role changed in OPERATORS.',
  },
  'role-may-not': {
    status: 403,
    title: 'Your role may not do this',
    cause:
      'The token belongs to a clerk of OPERATORS: a clerk assigns, notes, asks the service, delivers ' +
      'again, writes down refunds and cancels; what gives money up or stops sales is for an operator.',
    cure: 'Ask an operator to do it, or have the role changed in OPERATORS.',
  },
  'not-found': {
    status: 404,
    title: 'There is nothing here',
    cause: 'No such address or order. What exists and is not yours to see gets this answer, too.',
    cure: 'Check the id: it has 24 letters and digits.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'This address does not take that method',
    cause: 'The address exists for the methods in the Allow header only.',
    cure: 'Use one of them.',
  },
  'request-timeout': {
    status: 408,
    title: 'The request did not arrive in time',
    cause: 'Headers took longer than 10 seconds, or the whole request longer than 20.',
    cure: 'Send it again, on a better connection.',
  },
  'already-paid': {
    status: 409,
    title: 'The order is paid already',
    cause: 'A payment of this order was verified before this request, or by the last look that it caused.',
    cure: 'Show the order; do not charge again. To end it, refund the money.',
  },
  'under-review': {
    status: 409,
    title: 'A payment of this order is being looked at, do not pay again',
    cause:
      'The service said something about a payment of this order that does not match it: another ' +
      'amount, another currency, an unknown word.',
    cure: 'Tell the shopper whom to ask. The operator finds the payment in the suspense list.',
  },
  'order-cancelled': {
    status: 409,
    title: 'The order was cancelled',
    cause: 'A person or the shop has ended this order before it was paid.',
    cure: 'Place a new order.',
  },
  'order-expired': {
    status: 409,
    title: 'The time to pay the order is over',
    cause: 'The order had a deadline (`payBy`), and it has passed.',
    cure: 'Place a new order. Money that still comes for this one is kept apart and raised.',
  },
  'not-paid': {
    status: 409,
    title: 'The order is not paid, so nothing of it can go back',
    cause: 'A refund is of money that has paid an order. What came and did not pay one is in suspense.',
    cure: 'Read the order. Money in suspense is given back by a decision there (npm run suspense).',
  },
  'refund-differs': {
    status: 409,
    title: 'This number stands for another refund of the order',
    cause: 'A refund was written down under this externalId before, with another amount.',
    cure: 'Give each refund a number of its own, and repeat a call with the same amount only.',
  },
  'out-of-stock': {
    status: 409,
    title: 'There is not enough of it left',
    cause: 'The catalogue sells these things and has fewer of them than are wanted; `errors` names them.',
    cure: 'Order fewer, or leave them out. Nothing was ordered and nothing is charged.',
  },
  'request-in-flight': {
    status: 409,
    title: 'The same request is being worked on, try again in a moment',
    cause:
      'A request with this Idempotency-Key, or another checkout of this order, has not been answered yet.',
    cure: 'Wait for Retry-After and send the same request again.',
  },
  'external-id-taken': {
    status: 409,
    title: 'An order with this externalId exists already',
    cause:
      'Another order was placed under this externalId before: other lines, money, e-mail, metadata or times.',
    cure: 'Use the order that exists, its `orderId` is in this answer, or another externalId.',
  },
  'too-large': {
    status: 413,
    title: 'The body is too large',
    cause: 'The body is longer than this address takes.',
    cure: 'Send less. No honest basket or webhook comes near the limits.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'This kind of body is not understood here',
    cause:
      'The content type is another than JSON (or a form, where one is taken), or the body is compressed.',
    cure: 'Send `Content-Type: application/json`, uncompressed.',
  },
  'invalid-input': {
    status: 422,
    title: 'The input is not valid',
    cause: 'Fields are missing, unknown or wrong; `errors` names each with its path.',
    cure: 'Correct the named fields.',
  },
  'idempotency-key-reused': {
    status: 422,
    title: 'This Idempotency-Key was used for another request',
    cause: 'The key came before, with another body.',
    cure: 'Use a new key for each new request, and the same key only to repeat one.',
  },
  'too-many-requests': {
    status: 429,
    title: 'Too many requests, try again later',
    cause:
      'This address or e-mail has asked more often than CHECKOUTS_PER_MINUTE and its like allow, ' +
      'or the address has shown ten wrong tokens.',
    cure: 'Wait for Retry-After. Behind a reverse proxy, see that it passes the address of the client on.',
  },
  'too-many-open-payments': {
    status: 429,
    title: 'This order has too many open payments',
    cause: 'Five payments of the order are open and none has been paid, failed or expired.',
    cure: 'Pay one of them, or wait.',
  },
  'headers-too-large': {
    status: 431,
    title: 'The address or the headers are too long',
    cause: 'Together they are longer than 16 KiB.',
    cure: 'Send fewer cookies or a shorter address.',
  },
  ...SERVER_PROBLEMS,
} as const satisfies Record<string, ProblemKind>;

export type ProblemType = keyof typeof PROBLEMS;

export function isProblemType(text: string): text is ProblemType {
  return Object.hasOwn(PROBLEMS, text);
}
