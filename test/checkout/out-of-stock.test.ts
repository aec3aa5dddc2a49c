import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEFAULTS } from '../../src/extensions.ts';
import {
  priceFrom,
  type CreateCatalogue,
  type OutOfStock,
  type WantedItem,
} from '../../src/orders/catalogue.ts';
import { newId } from '../../src/platform/ids.ts';
import { post, startProgram, type TestProgram } from '../support/program.ts';

// A shop's catalogue may say that there is not enough left, and set things aside in the transaction that
// places the order.

const SKU = 'brass-lamp';
const VOUCHER = 'VOUCHER-ADA';
const TAX = 'TAX';
const reserved: WantedItem[] = [];
const outOfStock: OutOfStock = { outcome: 'out-of-stock', skus: [SKU] };

const lamps: CreateCatalogue = () => ({
  products: () => Promise.resolve([]),
  price: (items) =>
    Promise.resolve(
      items.some(({ quantity }) => quantity > 100)
        ? outOfStock
        : items.every(({ sku }) => sku === VOUCHER)
          ? priceFrom([], [])
          : {
              outcome: 'priced',
              currency: 'NGN',
              lines: items.map((item) =>
                item.sku === VOUCHER
                  ? { sku: null, description: 'Voucher', unitAmount: -125_000n, quantity: item.quantity }
                  : item.sku === TAX
                    ? { sku: null, description: 'VAT 7.5 %', unitAmount: 9_375n, quantity: 1 }
                    : { ...item, description: 'Brass lamp', unitAmount: 125_000n },
              ),
            },
    ),
  reserve: async (tx, { orderId, items }) => {
    reserved.splice(0, reserved.length, ...items);
    for (const { sku, quantity } of items.filter((item) => item.sku === SKU)) {
      // Written before it is known whether there is enough: what is not sold must not stay set aside.
      const [row] = await tx.query<{ left: number }>(
        'UPDATE stock SET on_hand = on_hand - $2, last_order = $3 WHERE sku = $1 RETURNING on_hand AS "left"',
        [sku, quantity, orderId],
      );
      if ((row?.left ?? -1) < 0) return outOfStock;
    }
    return { outcome: 'reserved' };
  },
});

let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram({ extensions: { ...DEFAULTS, catalogue: lamps } });
  await query(
    'CREATE TABLE stock (sku text PRIMARY KEY, on_hand int NOT NULL, last_order text REFERENCES orders)',
  );
});
afterAll(() => shop.close());
beforeEach(() => query('TRUNCATE stock'));

function query<Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> {
  return shop.program.database.query<Row>(text, values);
}

const stocked = (count: number): Promise<object[]> => query('INSERT INTO stock VALUES ($1, $2)', SKU, count);
const onHand = async (): Promise<number | undefined> =>
  (await query<{ n: number }>('SELECT on_hand AS n FROM stock'))[0]?.n;
const anEmail = (): string => `${newId().toLowerCase()}@example.com`;
const ordersOf = (email: string): Promise<object[]> => query('SELECT id FROM orders WHERE email = $1', email);

function buy(email: string, quantity = 1, headers: Record<string, string> = {}): Promise<Response> {
  return post(`${shop.origin}/checkout`, { email, items: [{ sku: SKU, quantity }] }, headers);
}

function postForm(email: string, accept: string): Promise<Response> {
  const body = new URLSearchParams({ email, sku: SKU, quantity: '1', intent: 'one-page' });
  return fetch(`${shop.origin}/checkout`, { method: 'POST', headers: { accept }, body, redirect: 'manual' });
}

test('of ten shoppers at once, as many get a checkout as there are things, and the others leave nothing behind', async () => {
  await stocked(3);
  const email = anEmail();
  const answers = await Promise.all(Array.from({ length: 10 }, () => buy(email)));
  expect(answers.map(({ status }) => status).sort()).toEqual([
    ...Array<number>(3).fill(201),
    ...Array<number>(7).fill(409),
  ]);
  const refused = answers.find(({ status }) => status === 409);
  expect(await refused?.json()).toEqual({
    type: '/problems/out-of-stock',
    title: 'There is not enough of it left',
    status: 409,
    instance: '/checkout',
    errors: [{ path: 'items', message: `not enough left: ${SKU}` }],
  });
  expect(await ordersOf(email)).toHaveLength(3);
  expect(await onHand()).toBe(0);
});

test('a key whose request was short is free: the same request gets its order once there is enough', async () => {
  await stocked(0);
  const [email, key] = [anEmail(), { 'idempotency-key': newId() }];
  expect((await buy(email, 1, key)).status).toBe(409);
  await query('UPDATE stock SET on_hand = 1');
  const first = (await (await buy(email, 1, key)).json()) as { orderId: string };
  // There is none left now; this is the answer to the request that got the last one.
  expect(await (await buy(email, 1, key)).json()).toMatchObject({ orderId: first.orderId });
  expect(await onHand()).toBe(0);
});

test('a double click on the last one is one order, and both answers lead to its page', async () => {
  await stocked(1);
  const email = anEmail();
  const answers = await Promise.all([postForm(email, 'text/html'), postForm(email, 'text/html')]);
  expect(answers.map(({ status }) => status)).toEqual([303, 303]);
  expect(answers[0].headers.get('location')).toBe(answers[1].headers.get('location'));
  expect(await ordersOf(email)).toHaveLength(1);
});

test('a catalogue may say so when it prices, and a shopper with a plain form reads which things', async () => {
  await stocked(1_000);
  expect((await buy(anEmail(), 101)).status).toBe(409);
  expect(await onHand()).toBe(1_000);
  await query('UPDATE stock SET on_hand = 0');
  const answer = await postForm(anEmail(), 'text/html');
  expect(answer.status).toBe(409);
  const page = await answer.text();
  expect(page).toContain('There is not enough of it left');
  expect(page).toContain(SKU);
});

test('a hook that fails takes the order with it', async () => {
  const email = anEmail();
  await query('ALTER TABLE stock RENAME TO elsewhere');
  expect((await buy(email)).status).toBe(500);
  await query('ALTER TABLE elsewhere RENAME TO stock');
  expect(await ordersOf(email)).toEqual([]);
});

describe('a voucher is an item that becomes a line without a sku, below zero', () => {
  const withVoucher = (lamps: number, vouchers = 1) => ({
    email: 'ada@example.com',
    items: [
      { sku: SKU, quantity: lamps },
      { sku: VOUCHER, quantity: vouchers },
    ],
  });

  test('it lowers the total, and what is reserved is what was asked for', async () => {
    await stocked(2);
    const answer = await post(`${shop.origin}/checkout`, withVoucher(2));
    const order = (await answer.json()) as { orderId: string };
    expect(order).toMatchObject({ amount: '1250.00' });
    expect(reserved).toEqual(withVoucher(2).items);
    const page = await (await fetch(`${shop.origin}/admin/orders/${order.orderId}`)).text();
    for (const line of ['2 × Brass lamp, NGN 2,500.00', '1 × Voucher, -NGN 1,250.00'])
      expect(page).toContain(line);
  });

  test('a tax is such a line, above zero', async () => {
    await stocked(1);
    const answer = await post(`${shop.origin}/checkout`, {
      email: 'ada@example.com',
      items: [
        { sku: SKU, quantity: 1 },
        { sku: TAX, quantity: 1 },
      ],
    });
    expect(await answer.json()).toMatchObject({ amount: '1343.75' });
  });

  test('a shopper who comes back to the same basket gets the open checkout', async () => {
    await stocked(4);
    const form = (intent: string): string =>
      `email=ada@example.com&sku=${SKU}&quantity=2&sku=${VOUCHER}&quantity=1&intent=${intent}`;
    const send = (body: string, cookie = ''): Promise<Response> =>
      fetch(`${shop.origin}/checkout`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', cookie },
        body,
        redirect: 'manual',
      });
    const first = await send(form('one-page'));
    const cookie = first.headers.getSetCookie().join().split(';')[0];
    const again = await send(form('another-page'), cookie);
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
  });

  test.each([1, 2])('a total of nothing, or less, is refused: %i', async (vouchers) => {
    await stocked(1);
    const answer = await post(`${shop.origin}/checkout`, withVoucher(1, vouchers));
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({
      errors: [{ path: 'items', message: 'the total must be above zero' }],
    });
    expect(await onHand()).toBe(1);
  });

  test('a voucher alone buys nothing', async () => {
    const answer = await post(`${shop.origin}/checkout`, {
      email: 'ada@example.com',
      items: [{ sku: VOUCHER, quantity: 1 }],
    });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({
      errors: [{ path: 'items', message: 'the total must be above zero' }],
    });
  });
});
