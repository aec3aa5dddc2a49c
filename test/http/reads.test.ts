import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { comeBack, expectProblem, settle } from '../support/outside.ts';
import { startShop, type Shop } from '../support/shop.ts';

const STORE = 'https://shop.example';
const ADMIN_TOKEN = 'the_admin_of_no_real_money';
const VIEWER_TOKEN = 'a_viewer_of_no_real_money';

let shop: Shop;
let guarded: Shop;
beforeAll(async () => {
  [shop, guarded] = await Promise.all([
    startShop({ env: { STOREFRONT_ORIGINS: STORE }, worker: false }),
    startShop({ env: { ADMIN_TOKEN, OPERATORS: `Prometheus:viewer:${VIEWER_TOKEN}` }, worker: false, sandbox: false }),
  ]);
});
afterAll(async () => {
  await Promise.all([shop.stop(), guarded.stop()]);
});

const basket = { email: 'ada@example.com', items: [{ sku: 'djembe', quantity: 1 }] };

test('an order shows its state and no personal data', async () => {
  const { orderId, reference } = await shop.checkout({ items: [{ sku: 'ankara-tote', quantity: 2 }] });
  const lines = [{ description: 'Ankara tote bag', unitAmount: '8500.00', quantity: 2 }];
  const order = { orderId, status: 'pending', amount: '17000.00', currency: 'NGN', lines, reference };
  const { status, headers, body } = await shop.request('GET', `/orders/${orderId}`);
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
  expect(body).toEqual({ ...order, paidAt: null, refunded: '0.00', held: '0.00', due: '17000.00' });
  await settle(shop, reference);
  const paid = (await shop.request<{ paidAt: string }>('GET', `/orders/${orderId}`)).body;
  const sums = { refunded: '0.00', held: '0.00', due: '0.00' };
  expect(paid).toEqual({ ...order, status: 'paid', paidAt: new Date(paid.paidAt).toISOString(), ...sums });
});

test.each([
  ['unknown', `/orders/${'x'.repeat(24)}`],
  ['short', '/orders/x'],
  ['with a NUL', '/orders/%00'],
  ['with its stream', `/orders/${'x'.repeat(24)}/events`],
  ['an unknown path', '/.env'],
  ['the shop’s calls without their token', '/orders?status=paid'],
])('a missing resource (%s) is reported in the same words', async (_name, path) => {
  const { body } = await shop.request('GET', path);
  const instance = path.split('?')[0];
  expect(body).toEqual({
    type: '/problems/not-found',
    title: 'Nothing was found at this address',
    status: 404,
    instance,
  });
});

/** The orders that a stream sends, one after the other. */
async function* follow(orderId: string): AsyncGenerator<{ status: string }> {
  const { headers, body } = await fetch(`${shop.url}/orders/${orderId}/events`);
  expect(headers.get('content-type')).toMatch(/^text\/event-stream\b/);
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    const events = (text + decoder.decode(chunk, { stream: true })).split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) {
      const data = /^event: order\ndata: (.*)$/.exec(event)?.[1];
      if (data !== undefined) yield JSON.parse(data) as { status: string };
    }
  }
}

test('an event stream sends the order at once, and again when it is paid', async () => {
  const { orderId, reference } = await shop.checkout();
  const events = follow(orderId);
  const first = await events.next();
  expect(first.value).toEqual((await shop.request('GET', `/orders/${orderId}`)).body);
  await settle(shop, reference);
  expect((await events.next()).value).toEqual((await shop.request('GET', `/orders/${orderId}`)).body);
  await events.return(undefined);
});

test('a HEAD of a stream is answered and ends', async () => {
  const { orderId } = await shop.checkout();
  const head = { method: 'HEAD', signal: AbortSignal.timeout(5_000) };
  expect((await fetch(`${shop.url}/orders/${orderId}/events`, head)).status).toBe(200);
});

test('products are listed with their prices, without those that are not on sale', async () => {
  const product = `('old', 'Old', 1, 'NGN', false)`;
  await shop.database.query(`INSERT INTO products (sku, name, unit_amount, currency, active) VALUES ${product}`);
  const { body } = await shop.request<{ sku: string }[]>('GET', '/products');
  const tote = { sku: 'ankara-tote', name: 'Ankara tote bag', description: 'Cotton, lined, 40 by 35 cm', image: '' };
  expect(body[0]).toEqual({ ...tote, price: '8500.00', currency: 'NGN' });
  expect(body).toMatchObject([{}, { sku: 'djembe', price: '65000' }, { sku: 'brass-dallah', price: '18.500' }]);
});

test.each([
  ['of STOREFRONT_ORIGINS may buy and read', STORE, true, STORE],
  ['of this server may buy', null, true, null],
  ['of other origins may not buy', 'https://evil.example', false, null],
  ['without an origin may not buy', 'null', false, null],
])('pages %s', async (_which, given, mayBuy, allowed) => {
  const headers = { origin: given ?? shop.url };
  const bought = await shop.request('POST', '/checkout', { json: basket, headers });
  const form = { email: basket.email, sku: 'djembe' };
  const submitted = await shop.request('POST', '/checkout', { form, headers });
  expect([bought.status, submitted.status]).toEqual(mayBuy ? [201, 303] : [403, 403]);
  if (!mayBuy) expectProblem(bought, 403, 'foreign-origin');
  const read = await shop.request('GET', '/products', { headers });
  const preflight = { ...headers, 'access-control-request-method': 'POST' };
  const asked = await shop.request('OPTIONS', '/checkout', { headers: preflight });
  for (const answer of [bought, read, asked]) expect(answer.headers.get('access-control-allow-origin')).toBe(allowed);
});

test.each([
  ['a broken %-escape', '/orders/%E0%A4%A', 400, 'malformed-request'],
  ['a broken %-escape of a reference', '/checkout/return/%', 400, 'malformed-request'],
  ['a huge URL', `/orders/${'x'.repeat(20_000)}`, 431, 'headers-too-large'],
])('%s is refused with a problem', async (_name, path, status, type) => {
  expectProblem(await shop.request('GET', path), status, type);
});

const keyAlerts = () => shop.logs().filter(({ alert }) => alert === 'key_refused').length;
const page = { body: '<h1>Forbidden</h1>', contentType: 'text/html' };
test.each([
  ['one payment is forbidden by a firewall page', { endpoint: 'verify', status: 403, ...page }, 200],
  ['one payment is forbidden', { endpoint: 'verify', status: 403 }, 200],
  ['one checkout is forbidden', { endpoint: 'initialize', status: 403 }, 200],
  ['everything is forbidden', { endpoint: '*', status: 403, times: 2 }, 503],
  ['the key is refused', { endpoint: 'verify', status: 401 }, 503],
])('%s: readiness reports it correctly and recovers by itself', async (_what, fault, ready) => {
  const { reference } = await shop.checkout();
  const alerts = keyAlerts();
  await shop.sandboxPost('/faults', { kind: 'status', ...fault });
  if (fault.endpoint === 'initialize') await shop.request('POST', '/checkout', { json: basket });
  else await comeBack(shop, reference);
  expect((await shop.request('GET', '/readyz')).status).toBe(ready);
  expect((await shop.request('GET', '/healthz')).status).toBe(200);
  await eventually(() => keyAlerts() - alerts === (ready === 503 ? 1 : 0));
  await shop.checkout();
  const { status, body } = await shop.request('GET', '/readyz');
  expect([status, body]).toEqual([200, { status: 'ready', database: 'ok', gateway: 'ok' }]);
});

test('without tokens, metrics are readable on this machine only, and not through a proxy', async () => {
  expect((await shop.request('GET', '/metrics')).body).toMatch(/^shop_open_cases 0$/m);
  const passedOn = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via', 'cf-connecting-ip'];
  const ask = (header: string) => shop.request('GET', '/METRICS', { headers: { [header]: '203.0.113.9' } });
  const answers = await Promise.all(passedOn.map(async (header) => [header, (await ask(header)).status]));
  expect(answers).toEqual(passedOn.map((header) => [header, 401]));
});

test.each([
  ['without a token', {}, 401],
  ['with a wrong token', { authorization: `Bearer ${ADMIN_TOKEN}x` }, 401],
  ['with the admin’s token', { authorization: `Bearer ${ADMIN_TOKEN}` }, 200],
  ['with a viewer’s token', { authorization: `bearer ${VIEWER_TOKEN}` }, 200],
])('metrics %s', async (_name, headers, status) => {
  expect((await guarded.request('GET', '/metrics', { headers })).status).toBe(status);
});
