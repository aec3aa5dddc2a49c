import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectProblem, retryAfter, statusOf, timesAsked } from '../support/outside.ts';
import { startShop, type Checkout, type Shop } from '../support/shop.ts';

// What the service does at initialize, and what the shopper sees.

let shop: Shop;
beforeAll(async () => {
  shop = await startShop({ env: { CHECKOUT_HOSTS: '127.0.0.1' }, worker: false });
});
afterAll(async () => {
  await shop.stop();
});

let last = 0;
/** A basket of a new shopper, to be sent by its key. */
function newClick() {
  const json = { email: `shopper${(last += 1)}@example.com`, items: [{ sku: 'djembe', quantity: 1 }] };
  return () => shop.request<Checkout>('POST', '/checkout', { json, headers: { 'idempotency-key': 'my-basket' } });
}

test.each([
  ['by HTTP', { kind: 'status', status: 422 }],
  ['inside HTTP 200', { kind: 'body', applied: false }],
])('a refusal %s gives 502 and keeps the order, and the next click makes another payment', async (_how, fault) => {
  const click = newClick();
  const body = { status: false, message: 'upstream words' };
  await shop.sandboxPost('/faults', { endpoint: 'initialize', ...fault, body });
  const problem = expectProblem(await click(), 502, 'payment-refused');
  expect(JSON.stringify(problem)).not.toContain('upstream');
  expect(await statusOf(shop, problem.orderId ?? '')).toBe('pending');
  expect(await click()).toMatchObject({ status: 201, body: { orderId: problem.orderId } });
});

test.each([
  ['breaks the connection before it acted', { kind: 'lost-before' }],
  ['breaks the connection after it acted', { kind: 'lost-after' }],
  ['fails', { kind: 'status', status: 500 }],
  ['fails after it acted', { kind: 'status', status: 503, applied: true }],
  ['answers with a page', { kind: 'body', body: '<h1>Welcome</h1>', contentType: 'text/html' }],
  ['returns no payment page', { kind: 'body', body: { status: true, data: {} } }],
  ['returns an invalid payment page', { kind: 'body', body: { status: true, data: 'javascript:alert(1)' } }],
  [
    'returns a payment page of another host',
    { kind: 'body', body: { status: true, data: 'https://evil.example/pay' } },
  ],
  ['refuses the key', { kind: 'status', status: 401 }],
  ['already knows the reference', { kind: 'status', status: 409 }],
])(
  'a service that %s: 503, the order is kept, and the same key continues with another payment',
  async (_how, fault) => {
    const click = newClick();
    await shop.sandboxPost('/faults', { endpoint: 'initialize', ...fault });
    const unavailable = await click();
    const { orderId } = expectProblem(unavailable, 503, 'payment-service-unavailable');
    expect(retryAfter(unavailable)).toBeGreaterThanOrEqual(5);
    expect(await click()).toMatchObject({ status: 201, body: { orderId } });
    const rows = 'SELECT reference FROM payments WHERE order_id = $1';
    const payments = await shop.database.query<{ reference: string }>(rows, [orderId]);
    expect(payments).toHaveLength(2);
    // Each reference is sent to initialize once.
    for (const { reference } of payments) expect(await timesAsked(shop, 'initialize', reference)).toBe(1);
  },
);

test('a Retry-After of an hour is limited to half a minute, and the shopper is told how long', async () => {
  const click = newClick();
  const fault = { kind: 'status', status: 429, headers: { 'retry-after': '3600' } };
  await shop.sandboxPost('/faults', { endpoint: 'initialize', ...fault });
  const told = await click();
  expectProblem(told, 503, 'payment-service-unavailable');
  expect(retryAfter(told)).toBe(30);
  const before = await timesAsked(shop, 'initialize');
  const again = await click();
  expectProblem(again, 503, 'payment-service-unavailable');
  expect(retryAfter(again)).toBeGreaterThan(0);
  expect(await timesAsked(shop, 'initialize')).toBe(before);
});
