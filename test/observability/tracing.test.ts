import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { subscribe } from 'node:diagnostics_channel';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startCollector, type Collector } from '../support/collector.ts';
import { keepLines } from '../support/lines.ts';
import type { CollectedSpan } from '../support/otlp.ts';
import { aBasket, eventually, post, startProgram, type CheckoutAnswer } from '../support/program.ts';

// One purchase with everything switched on, and afterwards a look at what the collector was told.
const CALLER = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };
const FOREIGN = 'f'.repeat(32);
const [KEY, EMAIL, ADDRESS] = ['sk_test_c4n4ry', 'c4n4ry@example.com', 'c4n4ry-in-an-address'];

let collector: Collector;
let order: CheckoutAnswer;
/** Header lines of each call to the service. */
const asked: string[] = [];
const received: IncomingHttpHeaders[] = [];
const { logger } = keepLines();

const one = (name: string, about: Record<string, unknown> = {}): CollectedSpan => {
  const found = collector
    .named(name)
    .filter((span) => Object.entries(about).every(([key, value]) => span.attributes[key] === value));
  const [first, ...more] = found;
  if (first === undefined || more.length > 0) throw new Error(`${found.length} spans are called "${name}"`);
  return first;
};
const childrenOf = ({ traceId, spanId }: CollectedSpan): CollectedSpan[] =>
  collector.spans.filter((span) => span.traceId === traceId && span.parentId === spanId);

beforeAll(async () => {
  collector = await startCollector();
  // The exporter reads these itself, from the environment of the process.
  process.env.OTEL_EXPORTER_OTLP_HEADERS = 'x-collector-token=t0ken';
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url;
  process.env.OTEL_SERVICE_NAME = 'the-shop';
  process.env.OTEL_RESOURCE_ATTRIBUTES = 'deployment.environment.name=staging';
  const receiver = await listening();
  const shop = await startProgram({
    slowTime: true,
    logger,
    areWebhooksUnsigned: true,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '50',
      GATEWAY_SECRET_KEY: KEY,
      CHECKOUTS_PER_MINUTE: '1000',
      FULFILMENT_URL: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
      FULFILMENT_SECRET: `whsec_${Buffer.from('c4n4ry is kept in thirty-two bytes').toString('base64')}`,
    },
  });
  const { program, origin } = shop;
  const { service } = shop.traffic();
  subscribe('undici:client:sendHeaders', (message) => {
    const { request, headers } = message as {
      request: { origin: string | URL; path: string };
      headers: string;
    };
    const isCall = new URL(request.origin).origin === service && request.path.startsWith('/v1/');
    if (isCall) asked.push(headers);
  });
  const traceparent = `00-${CALLER.traceId}-${CALLER.spanId}-01`;
  order = await shop.checkout({ ...aBasket, email: EMAIL }, { traceparent });
  await program.duePayments.runOnce();
  await shop.hand(`transactions/${order.reference}/pay`, { notify: false });
  await post(
    `${origin}/webhooks/payments`,
    { data: { reference: order.reference, email: EMAIL } },
    { traceparent: `00-${FOREIGN}-${CALLER.spanId}-01` },
  );
  await eventually(async () => (await program.duePayments.runOnce()) > 0);
  await program.dueReleases.runOnce();
  const ask = (path: string) => fetch(`${origin}${path}`, { redirect: 'manual' });
  await ask(`/checkout/return/${order.reference}?email=${EMAIL}`);
  await ask(`/shop/orders/${order.orderId}`);
  await ask(`/shop/orders/${'x'.repeat(24)}`);
  await ask(`/nowhere/${ADDRESS}?q=${ADDRESS}`);
  await ask('/healthz');
  await ask('/readyz');
  await program.reconcile({ dryRun: false });
  await shop.close();
  receiver.close();
});
afterAll(() => collector.close());

async function listening(): Promise<Server> {
  const server = createServer((req, res) => {
    received.push(req.headers);
    req.resume().on('end', () => res.writeHead(204).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

test('a checkout goes on with the trace of its caller, and holds its statements and its call', () => {
  const checkout = one('POST /checkout');
  expect(checkout).toMatchObject({ traceId: CALLER.traceId, parentId: CALLER.spanId, kind: 2 });
  expect(checkout.attributes).toEqual({
    'http.request.method': 'POST',
    'http.route': '/checkout',
    'http.response.status_code': 201,
    'integrator.outcome': 'opened',
    'integrator.order_id': order.orderId,
    'integrator.reference': order.reference,
  });
  const names = childrenOf(checkout).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['place-order', 'service initialize']));
  expect(one('service initialize').attributes).toEqual({
    'integrator.reference': order.reference,
    'integrator.outcome': 'opened',
  });
  expect(one('place-order').attributes).toEqual({
    'db.system.name': 'postgresql',
    'db.query.summary': 'place-order',
  });
});

test("the service's webhook begins a trace of its own, whatever it says of one", () => {
  const request = one('POST /webhooks/payments');
  expect(request.parentId).toBe('');
  expect(request.traceId).not.toBe(FOREIGN);
  const [taken] = childrenOf(request);
  expect(taken?.attributes).toEqual({
    'integrator.reference': order.reference,
    'integrator.outcome': 'stored',
  });
  expect(taken && childrenOf(taken).map(({ name }) => name)).toEqual(['store-webhook']);
});

test('what is confirmed because of it is a story of its own, linked to the webhook and to the pass of the clock', () => {
  const confirm = one('confirm', { 'integrator.cause': 'hint' });
  expect(confirm.attributes).toMatchObject({
    'integrator.reference': order.reference,
    'integrator.order_id': order.orderId,
    'integrator.outcome': 'paid',
    'integrator.payment': 'paid',
    'integrator.released': true,
    'integrator.attempt': 1,
  });
  const { traceId, spanId } = one('take webhook');
  expect(confirm.links).toEqual([{ traceId, spanId }]);
  const row = collector.spans.find((span) => span.spanId === confirm.parentId);
  expect(row).toMatchObject({ name: 'due hinted payments', parentId: '' });
  const passes = collector.named('lease hinted payments').map((pass) => pass.spanId);
  expect(passes).toContain(row?.links[0]?.spanId);
  const [verify] = childrenOf(confirm);
  expect(verify).toMatchObject({ name: 'service verify', kind: 3 });
  expect(verify?.attributes).toEqual({
    'integrator.reference': order.reference,
    'integrator.outcome': 'record',
    'http.response.status_code': 200,
  });
  expect(childrenOf(confirm).map(({ name }) => name)).toEqual(['service verify', 'record-confirmation']);
});

test("the shop's own receiver gets to know the trace, and the payment service does not", () => {
  const { traceId, spanId } = one('deliver release');
  expect(received.map(({ traceparent }) => traceparent)).toEqual([`00-${traceId}-${spanId}-01`]);
  expect(asked.length).toBeGreaterThan(2);
  for (const headers of asked) {
    expect(headers).toMatch(/x-api-key/i);
    expect(headers).not.toMatch(/traceparent|tracestate|baggage/i);
  }
});

test('a return holds what it asked, and a route is named as it is written, its mount included', () => {
  expect(one('GET /checkout/return/:reference').attributes).toMatchObject({
    'integrator.reference': order.reference,
    'http.response.status_code': 303,
  });
  const pages = collector.named('GET /shop/orders/:orderId');
  expect(pages.map(({ attributes }) => attributes['http.response.status_code'])).toEqual([200, 404]);
  // Nothing answers there, so there is no route to name it by.
  expect(one('GET').attributes).toEqual({ 'http.request.method': 'GET', 'http.response.status_code': 404 });
});

test('a reconciliation shows its steps, the statements of its own session included', () => {
  const run = one('reconcile');
  expect(run.attributes).toMatchObject({ 'integrator.outcome': 'agreed', 'integrator.records': 1 });
  const steps = childrenOf(run).filter(({ attributes }) => attributes['db.system.name'] === undefined);
  expect(steps.map(({ name }) => name)).toEqual([
    'read history',
    'listen to webhooks',
    'compare',
    'verify',
    'conclude',
  ]);
  const inside = (name: string) => childrenOf(one(name)).map((span) => span.name);
  expect(inside('read history')).toContain('service list');
  expect(inside('compare').length).toBeGreaterThan(1);
});

describe('what nobody may read there', () => {
  test('is nowhere in what was sent: no key, no secret, no e-mail address, no query, nothing of an address', () => {
    expect(collector.requests.length).toBeGreaterThan(0);
    for (const { body } of collector.requests) {
      expect(body.includes('c4n4ry')).toBe(false);
      expect(body.includes('x'.repeat(24))).toBe(false);
      expect(body.includes('SELECT ')).toBe(false);
    }
  });

  test('and ids are in attributes, never in names', () => {
    const names = collector.spans.map(({ name }) => name);
    expect(names.filter((name) => /[A-Za-z0-9]{24}/.test(name))).toEqual([]);
  });

  test('whoever asks every few seconds tells no story', () => {
    expect(collector.spans.filter(({ name }) => /healthz|readyz/.test(name))).toEqual([]);
    // The clock looked more often than it found something.
    for (const { attributes } of collector.named('lease hinted payments'))
      expect(attributes['integrator.rows']).toBe(1);
  });
});

test('the collector is asked as the standard variables say', () => {
  for (const { path, headers } of collector.requests) {
    expect(path).toBe('/v1/traces');
    expect(headers).toMatchObject({
      'x-collector-token': 't0ken',
      'content-type': 'application/x-protobuf',
    });
  }
  expect(collector.spans[0]?.resource).toEqual({
    'service.name': 'the-shop',
    'deployment.environment.name': 'staging',
  });
});
