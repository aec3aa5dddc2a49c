import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectProblem, payInSilence, retryAfter, timesAsked } from '../support/outside.ts';
import { startShop, type Checkout, type Shop } from '../support/shop.ts';

// Two servers on one database. Both know each key.

let shop: Shop;
beforeAll(async () => {
  shop = await startShop({ processes: 2, worker: false });
});
afterAll(async () => {
  await shop.stop();
});

let last = 0;
/** An address without orders. */
const somebody = () => `shopper${(last += 1)}@example.com`;
const basketOf = (email: string, quantity = 1) => ({ email, items: [{ sku: 'djembe', quantity }] });
function buy(key: string | null, json: unknown, server = 0) {
  const headers: Record<string, string> = key === null ? {} : { 'idempotency-key': key };
  return shop.request<Checkout>('POST', `${String(shop.urls[server])}/checkout`, { json, headers });
}
const ordersOf = (email: string) => shop.database.query('SELECT id FROM orders WHERE email = $1', [email]);

test('the same key and basket give the same order and page at both servers', async () => {
  const basket = basketOf(somebody());
  const [first, second] = [await buy('once', basket), await buy('once', basket, 1)];
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.body).toEqual(first.body);
});

test('ten equal requests at the same moment make one order, one payment and one call', async () => {
  const [email, before] = [somebody(), await timesAsked(shop, 'initialize')];
  const answers = await Promise.all(Array.from({ length: 10 }, (_, at) => buy('crowd', basketOf(email), at % 2)));
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201));
  expect(new Set(answers.map(({ body }) => body.reference)).size).toBe(1);
  expect(await ordersOf(email)).toEqual([{ id: answers[0]?.body.orderId }]);
  expect((await timesAsked(shop, 'initialize')) - before).toBe(1);
});

test('the same key with another basket gives 422 and no second order', async () => {
  const email = somebody();
  await buy('mine', basketOf(email));
  expectProblem(await buy('mine', basketOf(email, 2)), 422, 'idempotency-key-reused');
  expect(await ordersOf(email)).toHaveLength(1);
});

test('the same key of another address is another key', async () => {
  const [mine, theirs] = [await buy('1', basketOf(somebody())), await buy('1', basketOf(somebody()))];
  expect([mine.status, theirs.status]).toEqual([201, 201]);
  expect(theirs.body.orderId).not.toBe(mine.body.orderId);
});

test('without a key, two clicks make two orders', async () => {
  const email = somebody();
  for (const server of [0, 1]) expect((await buy(null, basketOf(email), server)).status).toBe(201);
  expect(await ordersOf(email)).toHaveLength(2);
});

test('a repeated key returns the current state of the order', async () => {
  const basket = basketOf(somebody());
  const { orderId, reference } = (await buy('later', basket)).body;
  await payInSilence(shop, reference);
  expect(expectProblem(await buy('later', basket), 409, 'already-paid').orderId).toBe(orderId);
});

test.each([
  ['a space', 'a key'],
  ['256 characters', 'k'.repeat(256)],
  ['letters beyond ASCII', 'clé'],
])('a key with %s is invalid: 400', async (_name, key) => {
  const email = somebody();
  expectProblem(await buy(key, basketOf(email)), 400, 'malformed-request');
  expect(await ordersOf(email)).toEqual([]);
});

test('while another process verifies the payment, the same key waits, and is then reported as in flight', async () => {
  const basket = basketOf(somebody());
  const { reference } = (await buy('busy', basket)).body;
  const lease = `UPDATE payments SET leased_until = now() + interval '25 seconds' WHERE reference = $1`;
  await shop.database.query(lease, [reference]);
  const answer = await buy('busy', basket);
  expectProblem(answer, 409, 'request-in-flight');
  expect(retryAfter(answer)).toBeGreaterThan(0);
});
