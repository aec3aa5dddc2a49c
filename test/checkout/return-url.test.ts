import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '../../src/platform/ids.ts';
import { aBasket, post, startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';

const [FIRST, SECOND] = ['https://a.example/thanks', 'https://b.example/danke?lang=de'];
const API_TOKEN = 'a-long-api-token';
let shop: TestProgram;
let single: TestProgram;
let bare: TestProgram;
beforeAll(async () => {
  const env = { SHOP_API_TOKEN: API_TOKEN };
  shop = await startProgram({ env: { ...env, STOREFRONT_RETURN_URL: `${FIRST}, ${SECOND}` } });
  single = await startProgram({ env: { ...env, STOREFRONT_RETURN_URL: FIRST } });
  bare = await startProgram({ env });
});
afterAll(() => Promise.all([shop, single, bare].map((one) => one.close())));

/** Where the return of a payment leads, without what is added about the order. */
async function landing({ reference, orderId }: CheckoutAnswer, at = shop): Promise<string> {
  const address = `${at.origin}/checkout/return/${reference}?returnUrl=https%3A%2F%2Fevil.example`;
  const answer = await fetch(address, { redirect: 'manual' });
  expect(answer.status).toBe(303);
  const target = new URL(answer.headers.get('location') ?? '', at.origin);
  if (at !== bare) expect(target.searchParams.get('order')).toBe(orderId);
  for (const added of ['order', 'status']) target.searchParams.delete(added);
  return target.href;
}
const place = async (body: object): Promise<Response> => {
  const order = {
    email: 'ada@example.com',
    currency: 'NGN',
    lines: [{ description: 'x', unitAmount: '5', quantity: 1 }],
  };
  return post(`${shop.origin}/orders`, { ...order, ...body }, { authorization: `Bearer ${API_TOKEN}` });
};
const orderOf = async (body: object): Promise<string> =>
  ((await (await place(body)).json()) as { orderId: string }).orderId;

test('F9: the shopper returns to the storefront that the checkout named, else to the first', async () => {
  expect(await landing(await shop.checkout())).toBe(FIRST);
  expect(await landing(await shop.checkout({ ...aBasket, returnUrl: FIRST }))).toBe(FIRST);
  expect(await landing(await shop.checkout({ ...aBasket, returnUrl: SECOND }))).toBe(SECOND);
  expect(await landing(await single.checkout({ ...aBasket, returnUrl: FIRST }), single)).toBe(FIRST);
  const form = new URLSearchParams({
    email: aBasket.email,
    sku: 'ankara-tote',
    quantity: '1',
    returnUrl: SECOND,
  });
  const sent = await fetch(`${shop.origin}/checkout`, { method: 'POST', body: form, redirect: 'manual' });
  expect(sent.status).toBe(303);
  const [payment] = await shop.program.database.query<CheckoutAnswer>(
    `SELECT reference, order_id AS "orderId" FROM payments ORDER BY created_at DESC LIMIT 1`,
  );
  expect(payment && (await landing(payment))).toBe(SECOND);
});

test.each([
  'https://evil.example/thanks',
  'https://a.example/thanks/',
  'https://a.example/thanks?x=1',
  'https://a.example/thanks#x',
  'http://a.example/thanks',
  'https://a.example:8443/thanks',
  'https://b.example@evil.example/thanks',
  'https://user@a.example/thanks',
  'https://a.example.evil.example/thanks',
  `${FIRST}, ${SECOND}`,
  '//a.example/thanks',
  '/thanks',
  'javascript:alert(1)',
  'a.example/thanks',
  '',
  17,
  [FIRST],
])('F9: an address that is not listed is refused: %j', async (returnUrl) => {
  const answers = [
    await post(`${shop.origin}/checkout`, { ...aBasket, returnUrl }),
    await place({ returnUrl }),
    await post(`${shop.origin}/checkout`, { orderId: await orderOf({}), returnUrl }),
  ];
  for (const answer of answers) {
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ errors: [{ path: 'returnUrl' }] });
  }
});

test('F9: where no address is set up, none can be named', async () => {
  expect((await post(`${bare.origin}/checkout`, { ...aBasket, returnUrl: FIRST })).status).toBe(422);
  const opened = await bare.checkout();
  expect(await landing(opened, bare)).toBe(`${bare.origin}/shop/orders/${opened.orderId}`);
});

test('F9: an address that is no longer listed, or never was, is not redirected to', async () => {
  const opened = await shop.checkout({ ...aBasket, returnUrl: SECOND });
  for (const address of [
    'https://evil.example/',
    'https://b.example/',
    '',
    '/',
    'javascript:alert(1)',
    FIRST,
  ]) {
    await shop.program.database.query('UPDATE orders SET return_url = $2 WHERE id = $1', [
      opened.orderId,
      address,
    ]);
    expect(await landing(opened)).toBe(FIRST);
  }
});

test('F9: an order keeps its first choice, however its checkout is repeated or resumed', async () => {
  const key = { 'idempotency-key': newId() };
  const first = await shop.checkout({ ...aBasket, returnUrl: SECOND }, key);
  expect(await shop.checkout({ ...aBasket, returnUrl: SECOND }, key)).toEqual(first);
  // Another storefront is another request.
  const other = await post(`${shop.origin}/checkout`, { ...aBasket, returnUrl: FIRST }, key);
  expect(await other.json()).toMatchObject({ type: '/problems/idempotency-key-reused' });
  const { orderId } = first;
  for (const more of [{}, { returnUrl: FIRST }]) {
    const resumed = await shop.checkout({ orderId, ...more });
    expect(resumed).toEqual(first);
    expect(await landing(resumed)).toBe(SECOND);
  }
  await shop.program.database.query(`UPDATE payments SET status = 'failed' WHERE order_id = $1`, [orderId]);
  const further = await shop.checkout({ orderId, returnUrl: FIRST });
  expect(further.reference).not.toBe(first.reference);
  expect(await landing(further)).toBe(SECOND);
});

test('F9: the default is a choice, too, once a checkout was begun', async () => {
  const opened = await shop.checkout();
  expect(await landing(await shop.checkout({ orderId: opened.orderId, returnUrl: SECOND }))).toBe(FIRST);
});

test('F9: an order of the shop names its storefront, or its first checkout does', async () => {
  const named = await orderOf({ returnUrl: SECOND });
  expect(await landing(await shop.checkout({ orderId: named, returnUrl: FIRST }))).toBe(SECOND);
  const open = await orderOf({});
  expect(await landing(await shop.checkout({ orderId: open, returnUrl: SECOND }))).toBe(SECOND);
  expect(await landing(await shop.checkout({ orderId: open, returnUrl: FIRST }))).toBe(SECOND);
});
