import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { expectProblem, statusOf, timesAsked } from '../support/outside.ts';
import { startShop, type Checkout, type Shop } from '../support/shop.ts';

const TOKEN = 'the_shop_of_no_real_money';
const email = 'ada@example.com';
const items = [{ sku: 'ankara-tote', quantity: 1 }];

let shop: Shop;
beforeAll(async () => {
  shop = await startShop({ env: { SHOP_API_TOKEN: TOKEN } });
});
afterAll(async () => {
  await shop.stop();
});

const buy = (json: unknown) => shop.request<Checkout>('POST', '/checkout', { json });
const submit = (form: Record<string, string>) => shop.request('POST', '/checkout', { form });
const api = <Body>(path: string, json: unknown) =>
  shop.request<Body>('POST', path, { json, headers: { authorization: `Bearer ${TOKEN}` } });
const ordersOf = (whose: string) =>
  shop.database.query<{ id: string; amount: string }>('SELECT id, amount FROM orders WHERE email = $1', [whose]);
const paymentsOf = (orderId: string) =>
  shop.database.query<{ reference: string }>('SELECT reference FROM payments WHERE order_id = $1', [orderId]);

test.each([
  ['ankara-tote', 2, '17000.00', 'NGN', 17_000],
  ['djembe', 1, '65000', 'XOF', 65_000],
  ['brass-dallah', 3, '55.500', 'KWD', 55.5],
])('a basket of %s becomes an order at the server’s price', async (sku, quantity, amount, currency, sent) => {
  const json = { email, currency: currency.toLowerCase(), items: [{ sku, quantity }] };
  const headers = { 'x-forwarded-host': 'evil.example' };
  const { status, body } = await shop.request<Checkout>('POST', '/checkout', { json, headers });
  const { orderId, reference } = body;
  expect([orderId, reference]).toEqual([expect.stringMatching(/^\w{24}$/), expect.stringMatching(/^[a-z0-9]{26}$/)]);
  const checkoutUrl = `${String(shop.sandbox?.url)}/pay/${reference}`;
  expect([status, body]).toEqual([201, { orderId, reference, status: 'pending', amount, currency, checkoutUrl }]);
  const calls = await shop.sandboxGet<{ body: unknown }[]>(`/calls?endpoint=initialize&reference=${reference}`);
  const money = { amount: sent, localCurrency: currency, amountCurrency: 'local' };
  const redirectUrl = `${shop.url}/checkout/return/${reference}`;
  expect(calls.map((call) => call.body)).toEqual([{ email, ...money, reference, redirectUrl }]);
});

test('a plain HTML form is redirected to the payment page, and a double click to the same page', async () => {
  const form = { email: 'form@example.com', sku: 'djembe', quantity: '2', intent: 'shown-once' };
  const answers = await Promise.all([submit(form), submit(form), submit(form)]);
  expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
  const pages = new Set(answers.map(({ headers }) => headers.get('location')));
  expect([...pages]).toEqual([expect.stringContaining('/pay/')]);
  expect(await ordersOf(form.email)).toMatchObject([{ amount: '130000' }]);
});

test('a form may name several items, or an existing order', async () => {
  const [one, none, two] = [1, 0, 2].map((quantity) => `sku=ankara-tote&quantity=${quantity}`);
  const body = `email=forms@example.com&${[one, none, two].join('&')}`;
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const first = await shop.request('POST', '/checkout', { body, headers });
  const orders = await ordersOf('forms@example.com');
  expect(orders).toMatchObject([{ amount: '2550000' }]);
  const again = await submit({ orderId: orders[0]?.id ?? '' });
  expect([again.status, again.headers.get('location')]).toEqual([303, first.headers.get('location')]);
});

const drums = (...quantities: unknown[]) => quantities.map((quantity) => ({ sku: 'djembe', quantity }));
const priced = [{ ...items[0], unitAmount: 1 }];
test.each([
  ['an invalid e-mail address', { email: 'ada' }, ['email']],
  ['a NUL in the e-mail address', { email: 'a\u0000da@example.com' }, ['email']],
  ['no items', { items: [] }, ['items']],
  ['fifty-one lines', { items: drums(...Array<number>(51).fill(1)) }, ['items']],
  ['odd quantities', { items: drums(0, -1, 1.5, '2', 1_001) }, [0, 1, 2, 3, 4].map((at) => `items.${at}.quantity`)],
  ['a price of its own', { amount: '1.00', items: priced }, ['items.0.unitAmount', 'amount']],
  ['an invalid sku', { items: [{ sku: `'; --`, quantity: 1 }] }, ['items.0.sku']],
  ['a product that is not on sale', { items: [{ sku: 'nothing', quantity: 1 }] }, ['items']],
  ['two currencies', { items: [...items, ...drums(1)] }, ['items']],
  ['another currency', { currency: 'XOF' }, ['currency']],
  ['an unknown currency', { currency: 'XXX' }, ['currency']],
  ['a return page that is not configured', { returnUrl: 'https://evil.example/' }, ['returnUrl']],
  ['an order id beside a basket', { orderId: 'x'.repeat(24) }, ['email', 'items']],
])('%s: 422 with the paths of the fields, and nothing is stored', async (_name, more, paths) => {
  const count = 'SELECT count(*) FROM orders';
  const before = await shop.database.query(count);
  const problem = expectProblem(await buy({ email, items, ...more }), 422, 'invalid-input');
  expect(problem.errors?.map(({ path }) => path)).toEqual(paths);
  expect(await shop.database.query(count)).toEqual(before);
});

test.each([
  ['an unknown order', 'application/json', `{"orderId":"${'x'.repeat(24)}"}`, 404, 'not-found'],
  ['an invalid id', 'application/json', '{"orderId":"../orders"}', 422, 'invalid-input'],
  ['XML', 'text/xml', '<email/>', 415, 'unsupported-media-type'],
  ['a body without a type', '', '{}', 415, 'unsupported-media-type'],
  ['half of JSON', 'application/json', '{"email": "ada@', 400, 'malformed-request'],
  ['too much JSON', 'application/json', JSON.stringify('x'.repeat(70_000)), 413, 'too-large'],
  ['a list', 'application/json', '[]', 422, 'invalid-input'],
])('%s is refused in words that do not repeat it', async (_name, type, text, status, problem) => {
  const headers: Record<string, string> = type === '' ? {} : { 'content-type': type };
  const body = new TextEncoder().encode(text);
  expectProblem(await shop.request('POST', '/checkout', { body, headers }), status, problem);
});

/** Steps that give an order each status. */
const WAYS: Record<string, (checkout: Checkout) => Promise<unknown>> = {
  paid: ({ reference }) => shop.sandboxPost(`/transactions/${reference}/pay`),
  review: ({ reference }) => shop.sandboxPost(`/transactions/${reference}/pay`, { amount: 8_000 }),
  failed: ({ reference }) => shop.sandboxPost(`/transactions/${reference}/fail`),
  cancelled: ({ orderId }) => api(`/orders/${orderId}/cancel`, { reason: 'the shopper called' }),
  expired: ({ orderId }) => shop.database.query('UPDATE orders SET pay_by = now() WHERE id = $1', [orderId]),
};
async function orderThatIs(status: string): Promise<Checkout> {
  const checkout = await shop.checkout();
  await WAYS[status]?.(checkout);
  await eventually(async () => (await statusOf(shop, checkout.orderId)) === status);
  return checkout;
}

test.each([
  ['paid', 'already-paid'],
  ['review', 'under-review'],
  ['cancelled', 'order-cancelled'],
  ['expired', 'order-expired'],
])('an order that is %s gets no payment page: 409 that names it', async (status, type) => {
  const { orderId, reference } = await orderThatIs(status);
  expect(expectProblem(await buy({ orderId }), 409, type).orderId).toBe(orderId);
  expect(await paymentsOf(orderId)).toEqual([{ reference }]);
});

test('an order whose payment failed can be tried again with another payment', async () => {
  const { orderId, reference } = await orderThatIs('failed');
  const { status, body } = await buy({ orderId });
  expect([status, body.orderId, body.status]).toEqual([201, orderId, 'pending']);
  expect(body.reference).not.toBe(reference);
});

test('the page of an order that ended during initialize is not handed out', async () => {
  const lines = [{ description: 'A drum', unitAmount: '1', quantity: 1 }];
  const { orderId } = (await api<Checkout>('/orders', { email, currency: 'NGN', lines })).body;
  await shop.sandboxPost('/faults', { endpoint: 'initialize', kind: 'delay', delayMs: 5_000 });
  const answer = buy({ orderId });
  await eventually(async () => {
    const [payment] = await paymentsOf(orderId);
    return payment !== undefined && (await timesAsked(shop, 'initialize', payment.reference)) === 1;
  });
  const cancelled = await api(`/orders/${orderId}/cancel`, { reason: 'changed my mind' });
  expect(cancelled).toMatchObject({ status: 200, body: { status: 'cancelled' } });
  expectProblem(await answer, 409, 'order-cancelled');
});
