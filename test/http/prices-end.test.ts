import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { paymentsOf } from '../support/failures.ts';
import { comeBack, expectProblem, statusOf, timesAsked } from '../support/outside.ts';
import { startShop, type Checkout, type Shop } from '../support/shop.ts';

// The price of a basket is the catalogue's price on the day of the order. It is not valid for
// years.

const TOKEN = 'the_shop_of_no_real_money';
const PRICE = 150_000;

let shop: Shop;
beforeAll(async () => {
  shop = await startShop({ env: { SHOP_API_TOKEN: TOKEN } });
});
afterAll(() => shop.stop());

let last = 0;
/** A product that no other test changes. */
async function product(): Promise<string> {
  const sku = `kora-${(last += 1)}`;
  const sql = `INSERT INTO products (sku, name, unit_amount, currency, active) VALUES ($1, 'A kora', $2, 'NGN', true)`;
  await shop.database.query(sql, [sku, PRICE]);
  return sku;
}
const basketOf = (sku: string) => ({ email: 'ada@example.com', items: [{ sku, quantity: 1 }] });
const buy = (json: unknown, key?: string) =>
  shop.request<Checkout>('POST', '/checkout', { json, headers: key === undefined ? {} : { 'idempotency-key': key } });
async function open(json: unknown, key?: string): Promise<Checkout> {
  const { status, body } = await buy(json, key);
  expect(status).toBe(201);
  return body;
}
async function place(more: object): Promise<string> {
  const json = {
    email: 'ada@example.com',
    currency: 'NGN',
    lines: [{ description: 'A kora', unitAmount: '1500.00', quantity: 1 }],
  };
  const headers = { authorization: `Bearer ${TOKEN}` };
  const { status, body } = await shop.request<Checkout>('POST', '/orders', { json: { ...json, ...more }, headers });
  expect(status).toBe(201);
  return body.orderId;
}
/** The payment fails at the service, and we verify it. */
async function fail({ orderId, reference }: Checkout): Promise<void> {
  await shop.sandboxPost(`/transactions/${reference}/fail`, { webhook: 'lost' });
  await comeBack(shop, reference);
  expect(await statusOf(shop, orderId)).toBe('failed');
}
/**
 * Moves an order and its payments this many days into the past.
 * @param orders more columns of the order to move
 */
async function grow(orderId: string, days: number, ...orders: string[]): Promise<void> {
  const back = (names: string[]) => names.map((name) => `${name} = ${name} - interval '${days} days'`).join();
  await shop.database.query(
    `UPDATE payments SET ${back(['created_at', 'opened_at', 'answered_at'])} WHERE order_id = $1`,
    [orderId],
  );
  await shop.database.query(`UPDATE orders SET ${back(['created_at', ...orders])} WHERE id = $1`, [orderId]);
}
/** A year later the product costs twice as much and is no longer sold. */
const withdraw = (sku: string) =>
  shop.database.query('UPDATE products SET unit_amount = 2 * unit_amount, active = false WHERE sku = $1', [sku]);
const becomesExpired = (orderId: string) => eventually(async () => (await statusOf(shop, orderId)) === 'expired');

/** A basket whose payment failed more than a year ago. */
async function oldBasket(): Promise<{ sku: string; orderId: string; references: string[] }> {
  const sku = await product();
  const first = await open(basketOf(sku), `basket-of-${sku}`);
  await fail(first);
  const second = await open({ orderId: first.orderId }, `again-${sku}`);
  expect(second.reference).not.toBe(first.reference);
  await fail(second);
  await grow(first.orderId, 400, 'pay_by');
  await withdraw(sku);
  return { sku, orderId: first.orderId, references: [first.reference, second.reference] };
}

test('a year-old basket takes no next payment, with any key, and expires', async () => {
  const { sku, orderId, references } = await oldBasket();
  const [opened, asked] = [await timesAsked(shop, 'initialize'), await timesAsked(shop, 'verify', references[1])];
  for (const answer of [
    await buy({ orderId }),
    await buy({ orderId }, `again-${sku}`),
    await buy(basketOf(sku), `basket-of-${sku}`),
  ])
    expect(expectProblem(answer, 409, 'order-expired').orderId).toBe(orderId);
  await becomesExpired(orderId);
  expect(expectProblem(await buy({ orderId }), 409, 'order-expired').orderId).toBe(orderId);
  expect(await timesAsked(shop, 'initialize')).toBe(opened);
  expect((await paymentsOf(shop, 'order_id', orderId)).map(({ reference }) => reference)).toEqual(references);
  // Somebody may have paid meanwhile, so no order ends before verify was asked.
  expect(await timesAsked(shop, 'verify', references[1])).toBeGreaterThan(asked);
});

/** A basket whose page was not used for more than a year. */
async function leftOpen(): Promise<{ orderId: string }> {
  const { orderId } = await open(basketOf(await product()));
  await grow(orderId, 400, 'pay_by');
  return { orderId };
}

test('a year-old basket whose page is still open takes no next payment either, and expires', async () => {
  const { orderId } = await leftOpen();
  const opened = await timesAsked(shop, 'initialize');
  expectProblem(await buy({ orderId }), 409, 'order-expired');
  await becomesExpired(orderId);
  expect(await timesAsked(shop, 'initialize')).toBe(opened);
});

test('money that came for a year-old basket pays it at its own price before it expires', async () => {
  const sku = await product();
  const { orderId, reference } = await open(basketOf(sku));
  await shop.sandboxPost(`/transactions/${reference}/pay`, { webhook: 'lost' });
  await grow(orderId, 400, 'pay_by');
  await eventually(async () => (await statusOf(shop, orderId)) === 'paid');
  expectProblem(await buy({ orderId }), 409, 'already-paid');
});

test('a basket of last week takes a next payment at its own price', async () => {
  const sku = await product();
  const first = await open(basketOf(sku));
  await fail(first);
  await grow(first.orderId, 7, 'pay_by');
  await withdraw(sku);
  const next = await open({ orderId: first.orderId });
  expect(next).toMatchObject({ orderId: first.orderId, amount: '1500.00' });
  expect(next.reference).not.toBe(first.reference);
});

test.each([
  ['that can be paid until next week', () => ({ payBy: new Date(Date.now() + 5 * 86_400_000).toISOString() })],
  ['without a deadline', () => ({})],
])('an order of the shop’s own system %s takes a next payment at any age', async (_name, more) => {
  const orderId = await place(more());
  await fail(await open({ orderId }));
  await grow(orderId, 400);
  expect(await open({ orderId })).toMatchObject({ orderId, amount: '1500.00' });
  // The deadlines have been checked meanwhile, because a basket of the same age has expired.
  await becomesExpired((await oldBasket()).orderId);
  expect(await statusOf(shop, orderId)).toBe('pending');
});

test.each([
  ['failed', oldBasket],
  ['was left open', leftOpen],
])('a year-old basket whose payment %s takes a payment again after a person reopened it', async (_how, make) => {
  const { orderId } = await make();
  await becomesExpired(orderId);
  const reopened = await shop.command(['orders', 'reopen', orderId, '--note', 'she called', '--by', 'Ada']);
  expect(reopened).toMatchObject({ exit: 0 });
  expect(await open({ orderId })).toMatchObject({ orderId, amount: '1500.00' });
  await becomesExpired((await oldBasket()).orderId);
  expect(await statusOf(shop, orderId)).toBe('pending');
});
