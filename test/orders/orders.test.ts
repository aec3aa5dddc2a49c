import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { onlyPayable, type Catalogue } from '../../src/orders/catalogue.ts';
import { recordRefund } from '../../src/orders/refunds.sql.ts';
import { newOrderId } from '../../src/platform/ids.ts';
import { eventually, startProgram, type TestProgram } from '../support/program.ts';

const TOKEN = 'shop-token-for-tests';
let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram({ env: { SHOP_API_TOKEN: TOKEN } });
});
afterAll(() => shop.close());

const order = {
  email: 'ada@example.com',
  currency: 'KWD',
  lines: [{ description: 'Saffron, 5 g', unitAmount: '7.250', quantity: 2 }],
};
const place = (body: object, token = TOKEN) =>
  request(shop.origin).post('/orders').set('authorization', `Bearer ${token}`).send(body);

test('the catalogue is public, with exact prices', async () => {
  const body: unknown = (await request(shop.origin).get('/products')).body;
  expect(body).toHaveLength(9);
  expect(body).toContainEqual(expect.objectContaining({ sku: 'date-box', price: '3.125', currency: 'KWD' }));
  expect(body).toContainEqual(expect.objectContaining({ sku: 'bissap', price: '4500', currency: 'XOF' }));
});

test('C6: a product priced in what is no money is not on sale, and breaks no page', async () => {
  const add = (sku: string, currency: string) =>
    shop.program.database.query(
      `INSERT INTO products (sku, name, description, image, unit_amount, currency)
       VALUES ($1, 'Bar', 'Of gold', '/x.svg', 100, $2)`,
      [sku, currency],
    );
  await add('gold-bar', 'XAU');
  await add('nothing', 'XXX');
  try {
    const list = await request(shop.origin).get('/products');
    expect([list.status, (list.body as unknown[]).length]).toEqual([200, 9]);
    expect((await request(shop.origin).get('/shop')).status).toBeLessThan(400);
    const answer = await request(shop.origin)
      .post('/checkout')
      .send({ email: 'ada@example.com', items: [{ sku: 'gold-bar', quantity: 1 }] });
    expect(answer.status).toBe(422);
  } finally {
    await shop.program.database.query(`DELETE FROM products WHERE sku IN ('gold-bar', 'nothing')`);
  }
});

test('C6: a catalogue of the shop’s own may write small letters, and sells nothing in what is no money', async () => {
  const sold = (currency: string) =>
    onlyPayable({
      products: () =>
        Promise.resolve([
          { sku: 'a', name: 'A', description: '', image: '', price: { amount: 1n, currency } },
        ]),
      price: () => Promise.resolve({ outcome: 'priced', currency, lines: [] }),
    });
  expect(await sold('ngn').products()).toMatchObject([{ price: { currency: 'NGN' } }]);
  expect(await sold('ngn').price([{ sku: 'a', quantity: 1 }])).toMatchObject({ currency: 'NGN' });
  expect(await sold('XXX').products()).toEqual([]);
  expect(await sold('XXX').price([{ sku: 'a', quantity: 1 }])).toEqual({
    outcome: 'unknown-sku',
    skus: ['a'],
  });
});

test('a catalogue that is written as a class reserves, too', async () => {
  class Shelf implements Catalogue {
    left = 1;
    products = () => Promise.resolve([]);
    price = () => Promise.resolve({ outcome: 'unknown-sku' as const, skus: [] });
    reserve() {
      this.left -= 1;
      return Promise.resolve({ outcome: 'reserved' as const });
    }
  }
  const shelf = new Shelf();
  await onlyPayable(shelf).reserve?.(shop.program.database, { orderId: newOrderId(), items: [], lines: [] });
  expect(shelf.left).toBe(0);
});

describe('an order says what everybody may know, and no more', () => {
  test('no e-mail, no address of a checkout', async () => {
    const { orderId, reference } = await shop.checkout();
    const answer = await request(shop.origin).get(`/orders/${orderId}`);
    expect(answer.body).toEqual({
      orderId,
      status: 'pending',
      amount: '8500.00',
      currency: 'NGN',
      paidAt: null,
      refunded: '0.00',
      reference,
      lines: [{ description: 'Ankara tote bag', unitAmount: '8500.00', quantity: 1 }],
      metadata: {},
      payBy: null,
    });
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  test('unknown and malformed ids get the very same answer', async () => {
    const bodies = await Promise.all(
      ['x'.repeat(24), 'short', 'a.b', '%2e%2e'].map(
        async (id) => (await request(shop.origin).get(`/orders/${id}`)).body as { instance?: string },
      ),
    );
    for (const body of bodies) delete body.instance;
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
  });

  test('as it changes, to whoever listens, also when money goes back', async () => {
    const { orderId, reference } = await shop.checkout();
    const leave = new AbortController();
    const stream = await fetch(`${shop.origin}/orders/${orderId}/events`, {
      headers: { accept: 'text/event-stream' },
      signal: leave.signal,
    });
    expect(stream.headers.get('content-type')).toContain('text/event-stream');
    let text = '';
    for await (const chunk of stream.body as unknown as AsyncIterable<Uint8Array>) {
      const before = text;
      text += Buffer.from(chunk).toString();
      if (before === '') {
        await shop.hand(`transactions/${reference}/pay`, { notify: false });
        await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
      }
      if (!before.includes('"status":"paid"') && text.includes('"status":"paid"'))
        await recordRefund(shop.program.database, 'test', {
          ...{ orderId, amount: 250n, reason: 'one was torn', externalId: 'R-1', by: 'Ngozi' },
        });
      if (text.includes('"refunded":"2.50"')) break;
    }
    leave.abort();
    expect(text).toMatch(/event: order\ndata: .*"status":"pending"/);
    expect(text).toMatch(/event: order\ndata: .*"status":"paid".*"refunded":"0.00"/);
    expect(text).toMatch(/event: order\ndata: .*"status":"paid".*"refunded":"2.50"/);
  });
});

test('too many readers of one order are refused, and each that leaves makes room', async () => {
  const { orderId } = await shop.checkout();
  const leave = new AbortController();
  const read = (signal: AbortSignal): Promise<Response> =>
    fetch(`${shop.origin}/orders/${orderId}/events`, { signal });
  const answers = await Promise.all(Array.from({ length: 20 }, () => read(leave.signal)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const refused = await read(AbortSignal.timeout(100_000));
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '30']);
  leave.abort();
  await eventually(async () => {
    const later = new AbortController();
    const { status } = await read(later.signal);
    later.abort();
    return status === 200;
  });
});

describe('a shop that prices elsewhere', () => {
  test('places an order and has it paid', async () => {
    const placed = await place({ ...order, externalId: 'A-1' });
    expect(placed.status).toBe(201);
    expect(placed.body).toMatchObject({
      status: 'pending',
      amount: '14.500',
      currency: 'KWD',
      reference: null,
    });
    const { orderId } = placed.body as { orderId: string };
    const checkout = await shop.checkout({ orderId });
    expect(checkout).toMatchObject({ orderId, amount: '14.500', currency: 'KWD' });
  });

  test('C6: writes the currency in small letters, and is answered in capitals', async () => {
    const placed = await place({ ...order, currency: 'kwd' });
    expect([placed.status, placed.body]).toMatchObject([201, { amount: '14.500', currency: 'KWD' }]);
    const { orderId } = placed.body as { orderId: string };
    expect(await shop.checkout({ orderId })).toMatchObject({ amount: '14.500', currency: 'KWD' });
  });

  test('C6: sells for Caribbean guilders, a currency of 2025', async () => {
    const lines = [{ description: 'Keshi yena', unitAmount: '37.50', quantity: 1 }];
    const placed = await place({ ...order, currency: 'XCG', lines });
    expect([placed.status, placed.body]).toMatchObject([201, { amount: '37.50', currency: 'XCG' }]);
    const { orderId } = placed.body as { orderId: string };
    expect(await shop.checkout({ orderId })).toMatchObject({ amount: '37.50', currency: 'XCG' });
  });

  test.each(
    (
      'XXX XTS XAU XAG XPT XPD XDR XSU XUA XBA XBB XBC XBD xau CLF CHE USN MXV BGN ANG ' +
      'BTC ABC NG NGNN 566 ngñ'
    ).split(' '),
  )('C6: nobody can pay in %s', async (currency) => {
    const placed = await place({ ...order, currency });
    expect(placed.status).toBe(422);
    expect(placed.body).toMatchObject({
      errors: [
        {
          path: 'currency',
          message: expect.stringMatching(/^must be the ISO 4217 code of a currency/) as unknown,
        },
      ],
    });
  });

  test.each(['', ' NGN', 'N\u0000N', 5, null, ['NGN']])('C6: %j is no currency either', async (currency) => {
    expect((await place({ ...order, currency })).status).toBe(422);
  });

  test('must show its token', async () => {
    expect((await place(order, 'wrong')).status).toBe(401);
    expect((await request(shop.origin).post('/orders').send(order)).status).toBe(401);
  });

  test.each([
    ['lines.0.unitAmount', { lines: [{ description: 'x', unitAmount: '7.2501', quantity: 1 }] }],
    ['lines', { lines: [{ description: 'x', unitAmount: '0', quantity: 1 }] }],
    ['lines', { lines: [{ description: 'x', unitAmount: '-7.250', quantity: 1 }] }],
    ['lines.0', { lines: [{ description: 'x', unitAmount: '-999999999999', quantity: 2 }] }],
    ['lines.0.unitAmount', { lines: [{ description: 'x', unitAmount: 7.25, quantity: 1 }] }],
    ['lines.0.quantity', { lines: [{ description: 'x', unitAmount: '7', quantity: 0 }] }],
    ['currency', { currency: 'ABC' }],
    ['discount', { discount: '1.00' }],
  ])('is told what is wrong: %s', async (path, change) => {
    const answer = await place({ ...order, ...change });
    expect(answer.status).toBe(422);
    expect((answer.body as { errors: { path: string }[] }).errors.map((error) => error.path)).toContain(path);
  });
});
