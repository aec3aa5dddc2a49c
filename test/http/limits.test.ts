import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectProblem, retryAfter } from '../support/outside.ts';
import { startShop, type Checkout, type Shop } from '../support/shop.ts';

// The limit is 20: a client address may make 20 checkouts a minute and 100 reads, and an e-mail
// address may open 2 checkouts.

let shop: Shop;
let unproxied: Shop;
beforeAll(async () => {
  const env = { CHECKOUTS_PER_MINUTE: '20' };
  [shop, unproxied] = await Promise.all([
    startShop({ env, worker: false }),
    startShop({ env: { ...env, TRUSTED_PROXIES: '10.0.0.0/8' }, worker: false, sandbox: false }),
  ]);
});
afterAll(async () => {
  await Promise.all([shop.stop(), unproxied.stop()]);
});

let last = 0;
/** The header by which a trusted proxy names a new client. */
const stranger = () => ({ 'x-forwarded-for': `203.0.113.${(last += 1)}` });
const basketOf = (email: string, sku = 'djembe') => ({ email, items: [{ sku, quantity: 1 }] });
const buy = (json: unknown, headers: Record<string, string> = stranger(), of = shop) =>
  of.request<Checkout>('POST', '/checkout', { json, headers });
const times = <T>(count: number, act: () => Promise<T>) => Promise.all(Array.from({ length: count }, act));
const isOpened = { status: 201 };

function expectLimited(reply: Awaited<ReturnType<typeof shop.request>>): void {
  expectProblem(reply, 429, 'too-many-requests');
  expect(retryAfter(reply)).toBeGreaterThan(0);
}

test('a client address that used up its checkouts waits, and no other address does', async () => {
  const headers = stranger();
  const answers = await times(20, () => buy(basketOf('one@example.com', 'nothing'), headers));
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(422));
  expectLimited(await buy(basketOf('one@example.com'), headers));
  expect(await buy(basketOf('one@example.com'))).toMatchObject(isOpened);
});

test('invalid and refused checkouts do not use up the limit of an e-mail address, and opened checkouts do', async () => {
  const email = 'victim@example.com';
  await times(5, () => buy(basketOf(email, 'nothing')));
  await shop.sandboxPost('/faults', { endpoint: 'initialize', kind: 'status', status: 400, times: 3 });
  for (let refused = 0; refused < 3; refused += 1) expect(await buy(basketOf(email))).toMatchObject({ status: 502 });
  for (let opened = 0; opened < 2; opened += 1) expect(await buy(basketOf(email))).toMatchObject(isOpened);
  expectLimited(await buy(basketOf(email.toUpperCase())));
});

test('a page that is handed out again does not count as a new checkout', async () => {
  const basket = basketOf('patient@example.com');
  const again = () => buy(basket, { ...stranger(), 'idempotency-key': 'again' });
  const { orderId } = (await again()).body;
  for (let click = 0; click < 3; click += 1) expect(await again()).toMatchObject({ ...isOpened, body: { orderId } });
  expect(await buy(basket)).toMatchObject(isOpened);
  expectLimited(await buy(basket));
  expect(await again()).toMatchObject({ ...isOpened, body: { orderId } });
});

test('reads of one client address are limited, and those of another are not', async () => {
  const [headers, path] = [stranger(), `/orders/${'x'.repeat(24)}`];
  const answers = await times(100, () => shop.request('GET', path, { headers }));
  expect(answers.map(({ status }) => status)).toEqual(Array(100).fill(404));
  expectLimited(await shop.request('GET', path, { headers }));
  expectProblem(await shop.request('GET', path, { headers: stranger() }), 404, 'not-found');
});

test('a client address has at most twenty event streams', async () => {
  const { orderId } = (await buy(basketOf('streams@example.com'))).body;
  const over = new AbortController();
  const open = (headers: Record<string, string>) =>
    fetch(`${shop.url}/orders/${orderId}/events`, { headers, signal: over.signal });
  const mine = stranger();
  try {
    const streams = await times(21, () => open(mine));
    expect(streams.map(({ status }) => status).sort()).toEqual([...Array<number>(20).fill(200), 429]);
    expect((await open(stranger())).status).toBe(200);
  } finally {
    over.abort();
  }
});

test('only TRUSTED_PROXIES may name the client', async () => {
  const ask = () => buy(basketOf('one@example.com', 'nothing'), stranger(), unproxied);
  await times(20, ask);
  expectLimited(await ask());
});
