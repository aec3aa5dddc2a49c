import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { MESSAGE_TYPES } from '../platform/message-types.ts';
import * as input from '../orders/input.ts';
import type { shopViewOf, viewOf } from '../orders/view.ts';
import { PROBLEMS, type ProblemType } from '../platform/problem.ts';
import words from './words.json' with { type: 'json' };

/** The compiler rejects a schema that has more or fewer fields than the answer. */
function exactly<View>() {
  return <S extends z.ZodType<View>>(schema: S & ([View] extends [z.output<S>] ? unknown : never)): S => schema;
}

const text = z.string();
const maybe = text.nullable();
const priced = { amount: text, currency: text };
const line = { description: text, unitAmount: text, quantity: z.int() };
const paid = { orderId: text, ...priced, paidAt: maybe, reference: maybe };
const status = input.listInput.shape.status.unwrap();
const viewed = { ...paid, status, lines: z.array(z.object(line)), refunded: text, held: text, due: text };
const order = exactly<ReturnType<typeof viewOf>>()(z.object(viewed));
const own = { externalId: maybe, metadata: z.record(text, text) };
// In Prisma's types, metadata is any JSON.
type ShopView = Omit<ReturnType<typeof shopViewOf>, 'metadata'> & { metadata: Record<string, string> };
const shopOrder = exactly<ShopView>()(z.object({ ...viewed, ...own, email: text, payBy: maybe }));
const orders = z.object({ orders: z.array(shopOrder), next: maybe });
const product = z.object({ sku: text, name: text, description: text, image: text, price: text, currency: text });
const checkout = z.object({ orderId: text, reference: text, status: text, ...priced, checkoutUrl: text });
const written = z.object({ refundId: text, ...priced, order: shopOrder });
const resumed = z.object({ resumed: text, wasStopped: z.boolean() });
const health = z.object({ status: text, database: text.optional(), gateway: text.optional() });
const errors = z.array(z.object({ path: text, message: text })).optional();
const refused = { type: text, title: text, status: z.int(), instance: text, errors };
const problem = z.object({ ...refused, detail: text.optional(), orderId: text.optional() });
const sold = { lines: z.array(z.object({ sku: maybe, ...line })), mode: z.enum(['test', 'live']) };
const refund = z.object({ id: text, amount: text, externalId: maybe, elsewhere: z.boolean(), reason: text }).optional();
const found = z.object({ id: text, class: text, held: text, missing: text, currency: text }).optional();
const data = z.object({ ...paid, due: text.optional(), ...own, ...sold, reason: text.optional(), refund, case: found });

type CallId = keyof typeof words.calls;
/** The content of words.json per call. If it names an unknown error, making the document throws. */
type Said = { says: string; errors: ProblemType[]; example?: object; answer?: object };
const fields: Record<string, string | undefined> = words.fields;

/**
 * The method and path; a schema, a content type or null per status; the input (in the query for a
 * `get`); and the token.
 */
type Gives = Record<number, z.ZodType | string | null>;
type Call = readonly [string, Gives, z.ZodType?, (keyof typeof words.tokens)?];

const CALLS: Record<CallId, Call> = {
  listProducts: ['get /products', { 200: z.array(product) }],
  createCheckout: ['post /checkout', { 201: checkout, 303: null }, z.union([input.basketInput, input.againInput])],
  retrieveOrder: ['get /orders/{orderId}', { 200: order }],
  streamOrder: ['get /orders/{orderId}/events', { 200: 'text/event-stream' }],
  returnFromCheckout: ['get /checkout/return/{reference}', { 303: null }],
  postReturnFromCheckout: ['post /checkout/return/{reference}', { 303: null }],
  createOrder: ['post /orders', { 201: shopOrder, 200: shopOrder }, input.orderInput, 'SHOP_API_TOKEN'],
  listOrders: ['get /orders', { 200: orders }, input.listInput, 'SHOP_API_TOKEN'],
  cancelOrder: ['post /orders/{orderId}/cancel', { 200: shopOrder }, input.cancelInput, 'SHOP_API_TOKEN'],
  createRefund: ['post /orders/{orderId}/refunds', { 201: written }, input.refundInput, 'SHOP_API_TOKEN'],
  stopCheckouts: ['post /checkouts/stop', { 200: z.object({ stopped: text }) }, input.stopInput, 'SHOP_API_TOKEN'],
  resumeCheckouts: ['post /checkouts/resume', { 200: resumed }, input.resumeInput, 'SHOP_API_TOKEN'],
  receiveWebhook: ['post /webhooks/payments', { 202: health }, z.looseObject({})],
  checkWebhookUrl: ['get /webhooks/payments', { 200: health }],
  getLiveness: ['get /healthz', { 200: health }],
  getReadiness: ['get /readyz', { 200: health, 503: health }],
  getMetrics: ['get /metrics', { 200: 'text/plain' }, undefined, 'ADMIN_TOKEN'],
  getOpenApiDocument: ['get /openapi.json', { 200: 'application/json' }],
};

export type Schema = z.core.JSONSchema.BaseSchema;
type Content = Partial<Record<string, { schema: Schema; example?: object }>>;
type Responses = Record<string, { description: string; content?: Content }>;
export type Operation = ReturnType<typeof operationOf>;

/**
 * The OpenAPI 3.1 document of all calls and messages. It is made from the schemas that validate.
 * @param origin the origin under which clients reach the server
 */
export function apiDocument(origin: string) {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const [id, call] of Object.entries(CALLS)) {
    const [method = '', path = ''] = call[0].split(' ');
    paths[path] = { ...paths[path], [method]: operationOf(id, words.calls[id as CallId] as Said, call) };
  }
  const signed = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const responses = { '2XX': { description: words.taken } };
  const webhooks = MESSAGE_TYPES.map((type) => {
    const call: Call = ['post /', {}, z.object({ type: z.literal(type), timestamp: text, data })];
    const post = operationOf(type, { says: words.messages[type], errors: [] }, call, signed);
    return [type, { post: { ...post, responses } }] as const;
  });
  const components = { schemas: { Problem: schemaOf(problem) }, securitySchemes: words.tokens };
  // The name of a problem is the last part of its `type`.
  const more = { webhooks: Object.fromEntries(webhooks), components, 'x-problems': PROBLEMS };
  return { openapi: '3.1.0', info: words.info, servers: [{ url: origin }], paths, ...more };
}

/**
 * Adds the description of each field. The JSON Schema dialect is named once for the whole document.
 */
function schemaOf(zod: z.ZodType): Schema {
  const text = JSON.stringify(z.toJSONSchema(zod, { io: 'input' }));
  return JSON.parse(text, (key, value: Record<string, Schema>) => {
    if (key === 'properties') for (const [name, field] of Object.entries(value)) field.description ??= fields[name];
    return key === '$schema' ? undefined : value;
  }) as Schema;
}

function operationOf(id: string, said: Said, [at, gives, takes, token]: Call, sent: string[] = []) {
  const schema = takes && schemaOf(takes);
  const isPost = at.startsWith('post');
  const inHeader = id === 'createCheckout' ? ['Idempotency-Key'] : sent;
  const inQuery = isPost ? [] : Object.entries(schema?.properties ?? {});
  const parameters = [
    ...[...at.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => parameterOf(name, 'path')),
    ...inHeader.map((name) => parameterOf(name, 'header')),
    ...inQuery.map(([name, one]) => parameterOf(name, 'query', one as Schema)),
  ];
  const content = schema && { 'application/json': { schema, example: said.example } };
  return {
    operationId: id,
    summary: said.says.replace(/\.( .*)?$/s, ''),
    description: said.says,
    parameters,
    ...(token && { security: [{ [token]: [] }] }),
    ...(isPost && content && { requestBody: { required: true, content } }),
    responses: responsesOf(gives, said),
  };
}

const parameterOf = (name: string, place: string, schema: Schema = { type: 'string' }) => {
  return { name, in: place, required: place === 'path', schema, description: fields[name] };
};

/** One response per status. Several problems may share a status. */
function responsesOf(gives: Gives, { errors: types, answer }: Said): Responses {
  const refusal = (description: string, properties = {}) => {
    const schema = { $ref: '#/components/schemas/Problem', properties };
    return { description, content: { 'application/problem+json': { schema } } };
  };
  const responses: Responses = { default: refusal(words.refused) };
  for (const { status } of types.map((type) => PROBLEMS[type])) {
    const some = types.filter((type) => PROBLEMS[type].status === status);
    const type = { enum: some.map((one) => `/problems/${one}`) };
    responses[status] = refusal(some.map((one) => PROBLEMS[one].title).join('. '), { type });
  }
  for (const [status, what] of Object.entries(gives)) {
    const [type, schema] = typeof what === 'string' ? [what, {}] : ['application/json', what && schemaOf(what)];
    const content = schema && { [type]: answer === undefined ? { schema } : { schema, example: answer } };
    responses[status] = { description: STATUS_CODES[status] ?? '', ...(content && { content }) };
  }
  return responses;
}
