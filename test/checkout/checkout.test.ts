import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import request from 'supertest';
import { aBasket, eventually, post, startProgram, type TestProgram } from '../support/program.ts';

let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram();
});
afterAll(() => shop.close());

const rows = (text: string, values: unknown[] = []): Promise<object[]> =>
  shop.program.database.query(text, values);

describe('a checkout', () => {
  test.each([
    [[{ sku: 'ankara-tote', quantity: 2 }], '17000.00', 'NGN'],
    [
      [
        { sku: 'bissap', quantity: 1 },
        { sku: 'djembe', quantity: 1 },
      ],
      '69500',
      'XOF',
    ],
    [[{ sku: 'bakhoor', quantity: 3 }], '14.250', 'KWD'],
  ])("of %j costs %s %s, by the server's prices", async (items, amount, currency) => {
    const answer = await shop.checkout({ email: 'ada@example.com', items });
    expect(answer).toMatchObject({ status: 'pending', amount, currency });
    expect(answer.orderId).toMatch(/^[A-Za-z0-9]{24}$/);
    expect(answer.reference).toMatch(/^[A-Za-z0-9]{24}$/);
    const asked = await fetch(`${shop.sandbox.url}/sandbox/transactions/${answer.reference}`);
    expect(await asked.json()).toMatchObject({
      asked: { amount, currency },
      redirectUrl: `${shop.origin}/checkout/return/${answer.reference}`,
    });
  });

  test('by a plain HTML form sends the browser to the hosted page', async () => {
    const answer = await request(shop.origin)
      .post('/checkout')
      .type('form')
      .send('email=ada%40example.com&sku=bissap&quantity=2&sku=djembe&quantity=0');
    expect(answer.status).toBe(303);
    expect(answer.headers.location).toContain(`${shop.sandbox.url}/checkout/`);
  });

  test('takes its return address from the configuration, whatever the request says about hosts', async () => {
    const answer = await request(shop.origin)
      .post('/checkout')
      .set('host', 'evil.example.com')
      .set('x-forwarded-host', 'evil.example.com')
      .send(aBasket);
    const asked = await fetch(
      `${shop.sandbox.url}/sandbox/transactions/${(answer.body as { reference: string }).reference}`,
    );
    expect(((await asked.json()) as { redirectUrl: string }).redirectUrl).not.toContain('evil');
  });
});

describe('bad input is refused with the path of each fault, and writes nothing', () => {
  test.each<[string, object, string]>([
    ['a price from the browser', { ...aBasket, amount: '1.00' }, 'amount'],
    [
      'a price in an item',
      { ...aBasket, items: [{ sku: 'bissap', quantity: 1, price: 1 }] },
      'items.0.price',
    ],
    ['no items', { ...aBasket, items: [] }, 'items'],
    ['a negative quantity', { ...aBasket, items: [{ sku: 'bissap', quantity: -1 }] }, 'items.0.quantity'],
    ['half a piece', { ...aBasket, items: [{ sku: 'bissap', quantity: 0.5 }] }, 'items.0.quantity'],
    ['a billion pieces', { ...aBasket, items: [{ sku: 'bissap', quantity: 1e9 }] }, 'items.0.quantity'],
    ['an unknown sku', { ...aBasket, items: [{ sku: 'moon', quantity: 1 }] }, 'items'],
    [
      'two currencies',
      {
        ...aBasket,
        items: [
          { sku: 'bissap', quantity: 1 },
          { sku: 'dallah', quantity: 1 },
        ],
      },
      'items',
    ],
    ['the wrong currency', { ...aBasket, currency: 'XOF' }, 'currency'],
    ['no e-mail', { items: aBasket.items }, 'email'],
    ['a header in the e-mail', { ...aBasket, email: 'a@b.co\r\nbcc: c@d.co' }, 'email'],
    ['an order that does not exist', { orderId: 'x'.repeat(24) }, 'orderId'],
    ['an order id that is none', { orderId: '../x' }, 'orderId'],
  ])('%s', async (_name, body, path) => {
    const [before] = await rows('SELECT count(*) FROM orders');
    const answer = await request(shop.origin).post('/checkout').send(body);
    expect(answer.status).toBe(422);
    expect(answer.type).toBe('application/problem+json');
    expect((answer.body as { errors: { path: string }[] }).errors.map((error) => error.path)).toContain(path);
    expect(await rows('SELECT count(*) FROM orders')).toEqual([before]);
  });

  test.each([
    ['text that is not JSON', 'application/json', '{"email":', 400],
    ['a kind of body that nobody reads', 'text/csv', 'a,b', 415],
    ['a body over 64 KiB', 'application/json', JSON.stringify({ email: 'x'.repeat(70_000) }), 413],
  ])('%s', async (_name, type, body, status) => {
    const answer = await request(shop.origin).post('/checkout').set('content-type', type).send(body);
    expect(answer.status).toBe(status);
    expect(answer.type).toBe('application/problem+json');
    expect(answer.text).not.toMatch(/at .*\.ts|node_modules|"stack"/);
  });
});

describe('paying an order that exists', () => {
  test('resumes the open checkout instead of starting a second one', async () => {
    const first = await shop.checkout();
    const again = await shop.checkout({ orderId: first.orderId });
    expect(again).toEqual(first);
  });

  test('starts a new payment after a failed one', async () => {
    const first = await shop.checkout();
    await shop.hand(`transactions/${first.reference}/fail`);
    await fetch(`${shop.origin}/checkout/return/${first.reference}`, { redirect: 'manual' });
    const order = await request(shop.origin).get(`/orders/${first.orderId}`);
    expect(order.body).toMatchObject({ status: 'failed' });
    const second = await shop.checkout({ orderId: first.orderId });
    expect(second.orderId).toBe(first.orderId);
    expect(second.reference).not.toBe(first.reference);
    expect((await request(shop.origin).get(`/orders/${first.orderId}`)).body).toMatchObject({
      status: 'pending',
    });
  });

  test('is refused once it is paid', async () => {
    const first = await shop.checkout();
    await shop.hand(`transactions/${first.reference}/pay`);
    await fetch(`${shop.origin}/checkout/return/${first.reference}`, { redirect: 'manual' });
    const answer = await post(`${shop.origin}/checkout`, { orderId: first.orderId });
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({ type: '/problems/already-paid' });
  });
});

describe('when the service does not open a checkout, the order is kept', () => {
  test('refused: 502, and the order can be tried again', async () => {
    await shop.hand('outage', { status: 422 });
    const refused = await post(`${shop.origin}/checkout`, aBasket);
    await shop.hand('outage', { status: null });
    expect(refused.status).toBe(502);
    const { orderId } = (await refused.json()) as { orderId: string };
    expect(await rows('SELECT status FROM payments WHERE order_id = $1', [orderId])).toEqual([
      { status: 'refused' },
    ]);
    expect(await shop.checkout({ orderId })).toMatchObject({ orderId });
  });

  test('a key that is refused turns readiness red until it is accepted again', async () => {
    await shop.hand('keys/refuse', { refuse: true });
    expect((await post(`${shop.origin}/checkout`, aBasket)).status).toBe(502);
    expect((await fetch(`${shop.origin}/readyz`)).status).toBe(503);
    await shop.hand('keys/refuse', { refuse: false });
    // Nobody buys anything meanwhile: readiness finds out by itself.
    await eventually(async () => (await fetch(`${shop.origin}/readyz`)).status === 200);
  });

  test('a 5xx may have been acted on: 503, and that reference is never sent again', async () => {
    await shop.hand('outage', { status: 503 });
    const answer = await post(`${shop.origin}/checkout`, aBasket);
    await shop.hand('outage', { status: null });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    const { orderId } = (await answer.json()) as { orderId: string };
    const [payment] = (await rows('SELECT reference, status FROM payments WHERE order_id = $1', [
      orderId,
    ])) as { reference: string; status: string }[];
    expect(payment?.status).toBe('ambiguous');
    const again = await shop.checkout({ orderId });
    expect(again.reference).not.toBe(payment?.reference);
  });

  test('a service that is not there was never asked: 503, and the same payment is sent later', async () => {
    // A port that was free a moment ago and has no listener any more.
    const probe = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => probe.once('listening', resolve));
    const { port } = probe.address() as AddressInfo;
    await new Promise((resolve) => probe.close(resolve));
    const lonely = await startProgram({ gatewayUrl: `http://127.0.0.1:${port}` });
    try {
      const answer = await post(`${lonely.origin}/checkout`, aBasket);
      expect(answer.status).toBe(503);
      const { orderId } = (await answer.json()) as { orderId: string };
      const payments = () =>
        lonely.program.database.query('SELECT reference, status FROM payments WHERE order_id = $1', [
          orderId,
        ]);
      const [before] = await payments();
      expect(before).toMatchObject({ status: 'created' });
      expect((await post(`${lonely.origin}/checkout`, { orderId })).status).toBe(503);
      expect(await payments()).toEqual([before]);
    } finally {
      await lonely.close();
    }
  });
});

test('the limit is per client address and, at a tenth, per e-mail', async () => {
  const limited = await startProgram({ env: { CHECKOUTS_PER_MINUTE: '20' } });
  try {
    const answers = [];
    for (let count = 0; count < 3; count += 1)
      answers.push((await post(`${limited.origin}/checkout`, aBasket)).status);
    expect(answers).toEqual([201, 201, 429]);
    const other = { ...aBasket, email: 'other@example.com' };
    expect((await post(`${limited.origin}/checkout`, other)).status).toBe(201);
  } finally {
    await limited.close();
  }
});

test('only the storefronts on the list may call from a browser', async () => {
  const listed = await startProgram({ env: { STOREFRONT_ORIGINS: 'https://shop.example.com' } });
  try {
    const ask = (origin: string) => request(listed.origin).options('/checkout').set('origin', origin);
    expect((await ask('https://shop.example.com')).headers['access-control-allow-origin']).toBe(
      'https://shop.example.com',
    );
    expect((await ask('https://evil.example.com')).headers['access-control-allow-origin']).toBeUndefined();
  } finally {
    await listed.close();
  }
});
