import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { z } from 'zod';
import { createApp } from '../../src/app.ts';
import { apiDocument } from '../../src/api-docs/document.ts';
import words from '../../src/api-docs/words.json' with { type: 'json' };
import { openProgram } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { MESSAGE_TYPES } from '../../src/platform/message-types.ts';
import { PROBLEMS } from '../../src/platform/problem.ts';
import { eventually } from '../support/eventually.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { startShop, TEST_KEY, type Checkout, type Reply, type RequestOptions, type Shop } from '../support/shop.ts';

type Json = Record<string, unknown>;
type Options = RequestOptions & { at?: Record<string, string>; query?: string; token?: string };
type Layer = { route?: { path: string; methods: Record<string, boolean> }; handle: { stack?: Layer[] } };

const TOKENS = { SHOP_API_TOKEN: 'the_shop_of_no_real_money', ADMIN_TOKEN: 'the_admin_of_no_real_money' };
/** Pages for people. The document does not describe them. */
const PAGE = /^\/$|^\/(admin|shop|docs|problems)\b|\/page$|\.(css|js|svg)$/;

const document = apiDocument('https://pay.shop.example');
const { paths, webhooks, components } = document;
const calls = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
);
const messages = Object.values(webhooks).map(({ post }) => post);
const operations = [...calls.map(({ operation }) => operation), ...messages];

let receiver: Receiver;
let shop: Shop;
beforeAll(async () => {
  receiver = await startReceiver();
  shop = await startShop({ env: { ...receiver.env, ...TOKENS, FULFILMENT_EVENTS: MESSAGE_TYPES.join() } });
});
afterAll(async () => {
  await shop.stop();
  await receiver.close();
});

/** A zod schema that accepts only the fields of the document. */
function closed(schema: unknown): z.ZodType {
  const close = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(close);
    if (typeof node !== 'object' || node === null) return node;
    const { $ref, ...own } = node as Json;
    if ($ref === '#/components/schemas/Problem') return { allOf: [close(components.schemas.Problem), own] };
    const open = Object.fromEntries(Object.entries(own).map(([name, value]) => [name, close(value)]));
    return 'properties' in open && !('additionalProperties' in open) ? { ...open, additionalProperties: false } : open;
  };
  return z.fromJSONSchema(close(schema) as Parameters<typeof z.fromJSONSchema>[0]);
}

/** Calls an operation with its own example, and checks the answer against the document. */
async function call<Body = Json>(id: string, options: Options = {}): Promise<Reply<Body>> {
  const found = calls.find(({ operation }) => operation.operationId === id);
  if (found === undefined) throw new Error(`there is no ${id}`);
  const { requestBody, security, responses } = found.operation;
  const [scheme] = Object.keys(security?.[0] ?? {}) as (keyof typeof TOKENS)[];
  const { at = {}, query = '', token = scheme && TOKENS[scheme], body: sent, ...more } = options;
  const path = found.path.replace(/\{(\w+)\}/g, (_, name: string) => at[name] ?? '') + query;
  const reply = await shop.request<Body>(found.method.toUpperCase(), path, {
    ...(sent === undefined ? { json: requestBody?.content['application/json'].example } : { body: sent }),
    ...more,
    headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...more.headers },
  });
  const { status, headers, body } = reply;
  const answer = responses[String(status)] ?? responses.default;
  const content = answer?.content?.[String(headers.get('content-type')).split(';')[0] ?? ''];
  expect({ id, status, isKnown: content !== undefined || status === 303 }).toMatchObject({ isKnown: true });
  if (content !== undefined) expect(closed(content.schema).safeParse(body)).toMatchObject({ success: true });
  return reply;
}

test('the document is OpenAPI 3.1, declares each path parameter, and names no operation twice', async () => {
  expect(await new Validator().validate({ ...document })).toEqual({ valid: true });
  expect(document).toMatchObject({ openapi: '3.1.0', servers: [{ url: 'https://pay.shop.example' }] });
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  for (const { path, operation } of calls) {
    const inPath = operation.parameters.filter((one) => one.in === 'path').map(({ name }) => `{${name}}`);
    expect(path.match(/\{\w+\}/g) ?? []).toEqual(inPath);
  }
  for (const [, schema] of JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g))
    expect(schema).toBe('#/components/schemas/Problem');
  expect(Object.keys(webhooks)).toEqual(MESSAGE_TYPES);
  expect(document['x-problems']).toEqual(PROBLEMS);
});

test('an unknown error name in words.json makes apiDocument throw', () => {
  const named: string[] = words.calls.retrieveOrder.errors;
  named.push('no-such-error');
  expect(() => apiDocument('')).toThrow();
  named.pop();
  expect(apiDocument('https://pay.shop.example')).toEqual(document);
});

test('each field has its own explanation, and every explanation belongs to a field', () => {
  const meanings: Record<string, string | undefined> = words.fields;
  const used = new Set<string>();
  JSON.stringify([paths, webhooks, components], (key, value: Record<string, { description?: string }>) => {
    for (const [name, field] of key === 'properties' ? Object.entries(value) : []) {
      expect([name, field.description]).toEqual([name, meanings[name]]);
      used.add(name);
    }
    return value;
  });
  for (const { name } of operations.flatMap(({ parameters }) => parameters)) used.add(name);
  expect(Object.keys(meanings).filter((name) => !used.has(name))).toEqual([]);
});

test('each operation has a summary, and each example of an answer fits its schema', () => {
  for (const { summary } of operations) expect(summary).toMatch(/^[A-Z][^.]{5,120}$/);
  const examples = calls.flatMap(({ operation: { operationId, responses } }) =>
    Object.entries(responses).flatMap(([status, { content }]) => {
      const json = content?.['application/json'];
      return json?.example === undefined ? [] : [{ operationId, status, ...json }];
    }),
  );
  expect(new Set(examples.map(({ operationId }) => operationId)).size).toBe(9);
  for (const { operationId, schema, example } of examples) {
    const parsed = closed(schema).safeParse(example);
    expect([operationId, parsed.error?.issues ?? []]).toEqual([operationId, []]);
  }
});

test('every route of the program is in the document, and every call of the document is a route', async () => {
  const service = { GATEWAY_URL: 'http://127.0.0.1:9', GATEWAY_SECRET_KEY: TEST_KEY };
  const config = loadConfig({ ...service, DATABASE_URL: shop.database.url, LOG_LEVEL: 'silent', DEMO_SHOP: 'on' });
  const program = await openProgram(config);
  const routesOf = (layers: Layer[]): string[] =>
    layers.flatMap(({ route, handle: { stack = [] } }) =>
      route === undefined
        ? routesOf(stack)
        : Object.keys(route.methods)
            .flatMap((method) => (method === '_all' ? ['get', 'post'] : [method]))
            .map((method) => `${method} ${route.path.replace(/:(\w+)/g, '{$1}')}`),
    );
  const { router } = createApp(program, () => '');
  const routes = routesOf((router as unknown as { stack: Layer[] }).stack);
  await program.close();
  // A browser's preflight request.
  const told = routes.filter((route) => !PAGE.test(route.split(' ')[1] ?? '') && !route.startsWith('options '));
  expect(new Set(told)).toEqual(new Set(calls.map(({ method, path }) => `${method} ${path}`)));
});

test('each call with its own example gets an answer that the document describes', async () => {
  const { reference, orderId } = (await call<Checkout>('createCheckout')).body;
  const at = { orderId, reference };
  await shop.sandboxPost(`/transactions/${reference}/pay`, { webhook: 'lost' });
  expect((await call('returnFromCheckout', { at })).status).toBe(303);
  expect((await call('postReturnFromCheckout', { at })).status).toBe(303);
  expect((await call('retrieveOrder', { at })).body).toMatchObject({ status: 'paid', refunded: '0.00' });
  expect((await call('createRefund', { at })).status).toBe(201);
  const placed = (await call<{ orderId: string }>('createOrder')).body;
  expect((await call('createOrder')).status).toBe(200);
  const listed = await call('listOrders', { query: '?externalId=1001' });
  expect(listed.body).toMatchObject({ orders: [placed], next: null });
  expect((await call('cancelOrder', { at: placed })).status).toBe(200);
  const others = ['listProducts', 'stopCheckouts', 'resumeCheckouts', 'checkWebhookUrl'];
  for (const id of [...others, 'getLiveness', 'getReadiness', 'getMetrics', 'getOpenApiDocument'])
    expect(await call(id)).toMatchObject({ status: 200 });
  const stream = await fetch(`${shop.url}/orders/${orderId}/events`, { method: 'HEAD' });
  expect(stream.headers.get('content-type')).toMatch(/^text\/event-stream/);
});

test.each<[number, string, string, Options]>([
  [400, 'malformed-request', 'createCheckout', { body: '{', headers: { 'content-type': 'application/json' } }],
  [401, 'unauthorized', 'listOrders', { token: 'guessed' }],
  [401, 'bad-signature', 'receiveWebhook', {}],
  [403, 'foreign-origin', 'createCheckout', { headers: { origin: 'https://elsewhere.example' } }],
  [404, 'not-found', 'retrieveOrder', { at: { orderId: 'x'.repeat(24) } }],
  [404, 'not-found', 'createRefund', { at: { orderId: 'x' } }],
  [415, 'unsupported-media-type', 'createCheckout', { body: '<a/>', headers: { 'content-type': 'text/xml' } }],
  [422, 'invalid-input', 'createCheckout', { json: { email: 'ada', items: [], price: 1 } }],
  [422, 'invalid-input', 'listOrders', { query: '?status=lost' }],
])('%d %s of %s is the problem that the document names', async (status, type, id, options) => {
  const reply = await call(id, options);
  expect(reply).toMatchObject({ status, body: { type: `/problems/${type}` } });
});

test('each message to FULFILMENT_URL matches the document', async () => {
  const checkout = async (act: string, more = {}) => {
    const opened = await shop.checkout();
    await shop.sandboxPost(`/transactions/${opened.reference}/${act}`, more);
    return opened.orderId;
  };
  await Promise.all([checkout('pay', { amount: 8_000 }), checkout('fail'), checkout('pay', { times: 2 })]);
  await eventually(async () => {
    const wanted = ['order.paid', 'order.review', 'order.failed', 'order.cancelled', 'order.refunded', 'case.opened'];
    expect(receiver.messages.map(({ type }) => type)).toEqual(expect.arrayContaining(wanted));
    await Promise.resolve();
  });
  for (const { type, body, headers } of receiver.messages) {
    const { requestBody, parameters } = webhooks[type]?.post ?? {};
    const schema = closed(requestBody?.content['application/json'].schema);
    expect(schema.safeParse(JSON.parse(body))).toMatchObject({ success: true });
    for (const { name } of parameters ?? []) expect(headers[name]).toBeDefined();
  }
});

test('the page needs no script, shows each call closed and each error once, and error URLs lead to it', async () => {
  const { body } = await shop.request<string>('GET', '/docs');
  expect(body).not.toMatch(/<script|<details[^>]* open/);
  for (const { operation } of calls) expect(body).toContain(`<details id="${operation.operationId}">`);
  for (const type of Object.keys(PROBLEMS)) {
    expect(body.split(` id="${type}"`)).toHaveLength(2);
    const { status, headers } = await shop.request('GET', `/problems/${type}`);
    expect([status, headers.get('location')]).toEqual([302, `/docs#${type}`]);
  }
});
