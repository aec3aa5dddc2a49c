import { EVENT_TYPES } from '../fulfilment/event.ts';
import { MESSAGES } from '../fulfilment/message.ts';

/** When each message is sent to FULFILMENT_URL. */
const SENT_WHEN: Record<keyof typeof MESSAGES, string> = {
  'order.paid': 'An order is paid: give its value, once for each webhook-id.',
  'order.review': 'A person has to look at the order. The shopper must not pay again.',
  'order.failed': 'The payment failed. A further one may still pay the order.',
  'order.expired': 'No payment came in time. Late money may still pay the order.',
  'order.cancelled': 'The order was ended by a person or by the shop, and is paid no more.',
  'order.reopened': 'A person took back that the order was cancelled: it may be paid again.',
  'order.refunded': 'The shop wrote down that money went back to the shopper.',
  'order.reversed': 'The service took money back, and no refund explains all of it.',
  'suspense.opened': 'Money came that the shop holds and has not earned.',
};

/** The messages that this program sends, in the order in which an order meets them. */
export const WEBHOOKS = EVENT_TYPES.map((type) => ({
  type,
  id: type.replace(/[._](\w)/g, (_all, letter: string) => letter.toUpperCase()),
  summary: SENT_WHEN[type],
  schema: MESSAGES[type],
}));

const header = (name: string, description: string): object => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
});

/** The messages as the webhooks of OpenAPI 3.1. @param jsonSchema of what goes over the wire */
export function openApiWebhooks(jsonSchema: (schema: (typeof MESSAGES)[keyof typeof MESSAGES]) => object) {
  return Object.fromEntries(
    WEBHOOKS.map(({ type, id, summary, schema }) => [
      type,
      { post: describe(id, summary, jsonSchema(schema)) },
    ]),
  );
}

function describe(id: string, summary: string, schema: object): object {
  return {
    operationId: id,
    tags: ['Sent to FULFILMENT_URL'],
    summary,
    description:
      'At least once, with the same webhook-id and the same bytes. Messages of one order come one after the other.',
    parameters: [
      header('webhook-id', 'The same at every delivery of this message, and of no other'),
      header('webhook-timestamp', 'When this delivery was sent, in seconds since 1970'),
      header('webhook-signature', 'Standard Webhooks, with FULFILMENT_SECRET'),
    ],
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: {
      '2XX': { description: 'Received: it is not sent again' },
      '410': { description: 'Not wanted: it is given up, and an alert is sent' },
      default: { description: 'Sent again after a pause, which Retry-After may prolong, for three days' },
    },
  };
}
