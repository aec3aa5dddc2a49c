import { z } from 'zod';
import {
  checkoutInput,
  checkoutResume,
  checkoutStop,
  openedCheckout,
  stoppedView,
} from '../checkout/checkout-bodies.ts';
import { orderInput, cancelInput } from '../orders/order-input.ts';
import { orderView, productView, shopOrdersView, shopOrderView } from '../orders/order-view.ts';
import { refundInput, refundView } from '../orders/refunds.ts';
import { problemDocument } from '../platform/problem.ts';
import { EVENT_TYPES } from '../fulfilment/event.ts';
import { MESSAGES } from '../fulfilment/message.ts';

/** The schemas by their names in the description. The routes validate with the same ones. */
export const SCHEMAS = {
  CheckoutInput: checkoutInput,
  OpenedCheckout: openedCheckout,
  CheckoutStop: checkoutStop,
  CheckoutResume: checkoutResume,
  Stopped: stoppedView,
  OrderInput: orderInput,
  Order: orderView,
  ShopOrder: shopOrderView,
  ShopOrders: shopOrdersView,
  CancelInput: cancelInput,
  RefundInput: refundInput,
  Refund: refundView,
  Product: productView,
  Problem: problemDocument,
};
export type SchemaName = keyof typeof SCHEMAS;

/**
 * One row of a schema's table. `path` is written as in the `errors` of a refusal, with `[]` for
 * each entry of a list.
 */
type Field = { path: string; type: string; meaning: string };

/** What the pages read of a JSON schema. */
type SchemaNode = {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: SchemaNode[];
  properties?: Record<string, SchemaNode>;
  required?: string[];
  items?: SchemaNode;
  format?: string;
  description?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
};

/** The fields of a schema for people. The alternatives of a union follow each other, each headed by "or". */
export function fieldsOf(schema: z.ZodType): Field[] {
  const root = z.toJSONSchema(schema, { io: 'input' }) as SchemaNode;
  const alternatives = root.anyOf ?? [root];
  return alternatives.flatMap((node, at) => [
    ...(at === 0 ? [] : [{ path: 'or', type: '', meaning: '' }]),
    ...propertiesOf(node, ''),
  ]);
}

function propertiesOf(node: SchemaNode, prefix: string): Field[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, property]) => {
    const path = prefix + name;
    const isRequired = node.required?.includes(name) ?? false;
    const nested = property.items
      ? propertiesOf(property.items, `${path}[].`)
      : propertiesOf(property, `${path}.`);
    return [
      {
        path,
        type: typeOf(property) + (isRequired ? '' : ', optional'),
        meaning: property.description ?? '',
      },
      ...nested,
    ];
  });
}

function typeOf(node: SchemaNode): string {
  if (node.const !== undefined) return JSON.stringify(node.const);
  if (node.enum) return node.enum.map((word) => JSON.stringify(word)).join(' | ');
  if (node.anyOf) return node.anyOf.map(typeOf).join(' | ');
  const bounds = [
    // The schema of an unbounded whole number has the bounds of what JSON numbers hold exactly.
    node.maximum !== undefined &&
      node.maximum < Number.MAX_SAFE_INTEGER &&
      `${node.minimum ?? 0} to ${node.maximum}`,
    node.maxLength !== undefined && `at most ${node.maxLength} characters`,
    node.maxItems !== undefined && `at most ${node.maxItems} entries`,
  ].filter((bound) => bound !== false);
  return [[node.type ?? 'anything'].flat().join(' | '), ...bounds].join(', ');
}

/**
 * A value for each field that is a text, by its name: examples of bodies are made of the schemas and of
 * these.
 */
export const VALUES: Readonly<Record<string, string>> = {
  amount: '8500.00',
  class: 'underpaid',
  currency: 'NGN',
  description: 'Ankara tote bag',
  email: 'ada@example.com',
  externalId: 'SO-1001',
  findingId: '12',
  orderId: 'AcCJrdmdAcCJrdmdAcCJrdmd',
  reason: 'Scratched',
  reference: 't27pAbCdt27pAbCdt27pAbCd',
  refundId: 't27pAbCdt27pAbCdt27pAbCd',
  refundAmount: '500.00',
  refundExternalId: 'RF-1001',
  refunded: '500.00',
  sku: 'ankara-tote',
  suspenseId: '9',
  unexplained: '500.00',
  unitAmount: '8500.00',
};
const TIME = '2026-01-31T08:00:00.000Z';

/**
 * What a client may send, or is sent: the required fields of the schema.
 * @param words which to take where there are several
 */
export function exampleOf(schema: z.ZodType, words: readonly string[] = []): unknown {
  return valueOf(z.toJSONSchema(schema, { io: 'input' }) as SchemaNode, '', words);
}

function valueOf(node: SchemaNode, name: string, wanted: readonly string[]): unknown {
  if (node.const !== undefined) return node.const;
  const { enum: words, anyOf, items, properties = {}, required = [] } = node;
  if (words) return wanted.find((word) => words.includes(word)) ?? words[0];
  if (anyOf) return valueOf(anyOf[0] ?? {}, name, wanted);
  if (items) return [valueOf(items, name, wanted)];
  const [type] = [node.type].flat();
  if (type === 'object')
    return Object.fromEntries(required.map((each) => [each, valueOf(properties[each] ?? {}, each, wanted)]));
  if (type === 'integer') return 1;
  if (type === 'boolean') return true;
  if (type !== 'string') return null;
  return node.format === 'date-time' ? TIME : (VALUES[name] ?? '…');
}

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
      'At least once, with the same webhook-id and the same bytes. Messages of one order come one after ' +
      'the other.',
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
