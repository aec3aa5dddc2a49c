import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import { comeBack, expectProblem, payInSilence, retryAfter, settle, statusOf, timesAsked } from '../support/outside.ts';
import { startShop, type Checkout, type Reply, type Shop } from '../support/shop.ts';

// Only requests cause work in this file. Hosted pages end after 15 minutes, payments after 30 days.

let shop: Shop;
beforeAll(async () => {
  const GATEWAY_ADAPTER = fileURLToPath(new URL('../support/adapters/late.ts', import.meta.url));
  shop = await startShop({ env: { GATEWAY_ADAPTER }, worker: false });
});
afterAll(async () => {
  await shop.stop();
});

let last = 0;
/** An order, and the two ways to click again. */
async function place() {
  const json = { email: `shopper${(last += 1)}@example.com`, items: [{ sku: 'ankara-tote', quantity: 1 }] };
  const headers = { 'idempotency-key': 'the-first-click' };
  const byKey = () => shop.request<Checkout>('POST', '/checkout', { json, headers });
  const { body: first } = await byKey();
  const byId = () => shop.request<Checkout>('POST', '/checkout', { json: { orderId: first.orderId } });
  return { ...first, first, byKey, byId };
}
/** Moves the creation, opening and last answer of a payment into the past. */
const age = (reference: string, by: string) =>
  shop.database.query(
    `UPDATE payments SET opened_at = opened_at - $2::interval, created_at = created_at - $2::interval,
       answered_at = answered_at - $2::interval WHERE reference = $1`,
    [reference, by],
  );
const casesOf = (orderId: string) =>
  shop.database.query('SELECT reference, class, held FROM cases WHERE order_id = $1', [orderId]);

function expectAnother({ status, body }: Reply<Checkout>, first: Checkout): void {
  expect([status, body.orderId]).toEqual([201, first.orderId]);
  expect([body.reference, body.checkoutUrl]).not.toEqual([first.reference, first.checkoutUrl]);
}

test('a second click gets the same page, and only after verify was asked', async () => {
  const { byId, byKey, first } = await place();
  expect(await timesAsked(shop, 'verify', first.reference)).toBe(0);
  expect(await byId()).toMatchObject({ status: 201, body: first });
  expect(await timesAsked(shop, 'verify', first.reference)).toBe(1);
  expect(await byKey()).toMatchObject({ status: 201, body: first });
});

test('if verify fails, the page is not handed out, and a 503 says when to click again', async () => {
  const { byKey, reference, orderId } = await place();
  await shop.sandboxPost('/faults', { endpoint: 'verify', reference, kind: 'status' });
  const answer = await byKey();
  expect(expectProblem(answer, 503, 'payment-service-unavailable').orderId).toBe(orderId);
  expect(retryAfter(answer)).toBeGreaterThanOrEqual(5);
  expect((await byKey()).body.reference).toBe(reference);
});

test('a paid page is not handed out', async () => {
  const { byId, reference } = await place();
  await payInSilence(shop, reference);
  expectProblem(await byId(), 409, 'already-paid');
});

test('a younger page that verify reports as expired is not offered again', async () => {
  const { byKey, first } = await place();
  await age(first.reference, '10 minutes');
  expect((await byKey()).body.reference).toBe(first.reference);
  await age(first.reference, '1 minute');
  await shop.sandboxPost(`/transactions/${first.reference}/expire`, { webhook: 'lost' });
  expectAnother(await byKey(), first);
});

test.each(['byId', 'byKey'] as const)(
  'an expired hosted page is not offered again (%s), and its money still counts',
  async (way) => {
    const { first, [way]: click } = await place();
    await age(first.reference, '20 minutes');
    expectAnother(await click(), first);
    await settle(shop, first.reference);
    const order = await shop.request('GET', `/orders/${first.orderId}`);
    expect(order.body).toMatchObject({ status: 'paid', reference: first.reference });
    expectProblem(await click(), 409, 'already-paid');
  },
);

test('an order waits as long as its payment can be paid: late money pays it, and a second payment is held', async () => {
  const { byId, first } = await place();
  await age(first.reference, '29 days');
  await comeBack(shop, first.reference);
  expect(await statusOf(shop, first.orderId)).toBe('pending');
  const { reference } = (await byId()).body;
  for (const paid of [first.reference, reference]) {
    await settle(shop, paid);
    expect(await statusOf(shop, first.orderId)).toBe('paid');
  }
  expect(await casesOf(first.orderId)).toEqual([{ reference, class: 'duplicate_payment', held: '850000' }]);
});

test('after that time, the last answer ends the order, and later money is held', async () => {
  const { reference, orderId, byKey } = await place();
  await age(reference, '31 days');
  await comeBack(shop, reference);
  expectProblem(await byKey(), 409, 'order-expired');
  await settle(shop, reference);
  expect(await statusOf(shop, orderId)).toBe('expired');
  expect(await casesOf(orderId)).toEqual([{ reference, class: 'paid_after_end', held: '850000' }]);
});

test('an order can have at most five open payments', async () => {
  const { byId, first } = await place();
  const references = [first.reference];
  while (references.length < 5) {
    await age(references.at(-1) ?? '', '20 minutes');
    references.push((await byId()).body.reference);
  }
  expect(new Set(references).size).toBe(5);
  await age(references.at(-1) ?? '', '20 minutes');
  expectProblem(await byId(), 429, 'too-many-open-payments');
  await shop.sandboxPost(`/transactions/${first.reference}/fail`, { webhook: 'lost' });
  await comeBack(shop, first.reference);
  expectAnother(await byId(), first);
});
