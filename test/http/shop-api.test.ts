import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { expectProblem, payInSilence, retryAfter, settle, statusOf } from '../support/outside.ts';
import { startShop, type Checkout, type Shop } from '../support/shop.ts';

const TOKEN = 'the_shop_of_no_real_money';

let shop: Shop;
beforeAll(async () => {
  shop = await startShop({ env: { SHOP_API_TOKEN: TOKEN } });
});
afterAll(async () => {
  await shop.stop();
});

type Page = { orders: Checkout[]; next: string | null };

const call = <Body>(method: string, path: string, json: unknown, headers: Record<string, string> = {}) =>
  shop.request<Body>(method, path, { json, headers: { authorization: `Bearer ${TOKEN}`, ...headers } });
const get = <Body = Page>(path: string, headers = {}) => call<Body>('GET', path, undefined, headers);
const post = <Body = Checkout>(path: string, json: unknown) => call<Body>('POST', path, json);
const line = { description: 'A drum', unitAmount: '100.00', quantity: 1 };
const basic = { email: 'ada@example.com', currency: 'NGN', lines: [line] };
const place = async (more = {}) => (await post('/orders', { ...basic, ...more })).body.orderId;
const buy = (json: unknown) => shop.request<Checkout>('POST', '/checkout', { json });
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
const times = <T>(count: number, act: () => Promise<T>) => Promise.all(Array.from({ length: count }, act));
async function paid(): Promise<string> {
  const { orderId, reference } = await shop.checkout();
  await settle(shop, reference);
  return orderId;
}

test('only the token opens the shop’s calls, and wrong tokens are limited', async () => {
  const [mine, theirs] = [{ 'x-forwarded-for': '203.0.113.1' }, { 'x-forwarded-for': '203.0.113.2' }];
  for (const authorization of ['', TOKEN, `Bearer ${TOKEN}x`, `Basic ${TOKEN}`])
    expectProblem(await get('/orders', { authorization, ...mine }), 401, 'unauthorized');
  expect((await get('/orders', mine)).status).toBe(200);
  const guess = () => get('/orders', { authorization: 'Bearer guess', ...theirs });
  for (let guesses = 0; guesses < 10; guesses += 1) expect((await guess()).status).toBe(401);
  expectProblem(await guess(), 429, 'too-many-requests');
  expect((await get('/orders')).status).toBe(200);
});

test('an order at the shop’s own prices is placed once per number, and a checkout pays it', async () => {
  const discount = { description: 'Discount', unitAmount: '-49.50', quantity: 1 };
  const gift = { description: 'Gift', unitAmount: '0.00', quantity: 1 };
  const lines = [{ ...line, quantity: 2 }, discount, gift];
  const own = { externalId: 'A-1', metadata: { cart: '7' }, payBy: inDays(1), lines, email: basic.email };
  const json = { ...basic, ...own, currency: 'ngn' };
  const first = await post('/orders', json);
  const { orderId } = first.body;
  const order = { orderId, status: 'pending', amount: '150.50', currency: 'NGN' };
  expect(first.status).toBe(201);
  const sums = { refunded: '0.00', held: '0.00', due: '150.50' };
  expect(first.body).toEqual({ ...own, ...order, paidAt: null, reference: null, ...sums });
  expect(await post('/orders', json)).toMatchObject({ status: 200, body: first.body });
  const other = await post('/orders', { ...json, lines: [line] });
  expect(expectProblem(other, 409, 'external-id-taken').orderId).toBe(orderId);
  expect(await buy({ orderId })).toMatchObject({ status: 201, body: order });
});

test('the same number ten times at the same moment makes one order', async () => {
  const answers = await times(10, () => post('/orders', { ...basic, externalId: 'A-2' }));
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array<number>(9).fill(200), 201]);
  expect(new Set(answers.map(({ body }) => body.orderId)).size).toBe(1);
});

const priced = (...unitAmounts: unknown[]) => ({ lines: unitAmounts.map((unitAmount) => ({ ...line, unitAmount })) });
test.each([
  ['no lines', priced(), 'lines'],
  ['a total of zero', priced('100.00', '-100.00'), 'lines'],
  ['a price finer than its currency', priced('1.00', '1.005'), 'lines.1.unitAmount'],
  ['a price as a number', priced(100), 'lines.0.unitAmount'],
  ['a price with an exponent', priced('1e3'), 'lines.0.unitAmount'],
  ['an unknown currency', { currency: 'XTS' }, 'currency'],
  ['a deadline in the past', { payBy: inDays(-1) }, 'payBy'],
  ['a deadline beyond the latest one', { payBy: inDays(9) }, 'payBy'],
  ['a deadline without a zone', { payBy: '2030-01-01T00:00:00' }, 'payBy'],
  ['a NUL in its data', { metadata: { a: '\u0000' } }, 'metadata.a'],
  ['an unknown field', { total: '1' }, 'total'],
  ['a return page that is not configured', { returnUrl: 'https://evil.example/' }, 'returnUrl'],
])('an order with %s is refused with the path of the field', async (_name, more, path) => {
  const { errors } = expectProblem(await post('/orders', { ...basic, ...more }), 422, 'invalid-input');
  expect(errors?.map((error) => error.path)).toEqual([path]);
});

test('an order that is not paid by its deadline expires', async () => {
  const orderId = await place({ payBy: inDays(1) });
  await shop.database.query('UPDATE orders SET pay_by = now() WHERE id = $1', [orderId]);
  await eventually(async () => (await statusOf(shop, orderId)) === 'expired');
});

test('at its deadline an order is verified first, so that a payment without a webhook still counts', async () => {
  const orderId = await place({ payBy: inDays(1) });
  const { reference } = (await buy({ orderId })).body;
  // No other verification is due.
  const later = "UPDATE payments SET next_check_at = now() + interval '1 day' WHERE reference = $1";
  await shop.database.query(later, [reference]);
  await payInSilence(shop, reference);
  await shop.database.query('UPDATE orders SET pay_by = now() WHERE id = $1', [orderId]);
  await eventually(async () => (await statusOf(shop, orderId)) !== 'pending');
  expect(await statusOf(shop, orderId)).toBe('paid');
});

test('orders are listed by number, status and time, newest first and page by page', async () => {
  const orderId = await place({ externalId: 'A-3' });
  await shop.database.query(
    `INSERT INTO orders (id, mode, email, amount, currency, created_at) SELECT 'page' || lpad(n::text, 20, '0'),
       'test', 'a@example.com', 1, 'NGN', now() + interval '1 day' FROM generate_series(1, 120) n`,
  );
  const list = async (query: string) => {
    const { orders, next } = (await get(`/orders?${query}`)).body;
    return { ids: orders.map((order) => order.orderId), next };
  };
  expect(await list('externalId=A-3')).toEqual({ ids: [orderId], next: null });
  const [seen, since]: [string[], string] = [[], inDays(0.5)];
  for (let after: string | null = ''; after !== null;) {
    const page = await list(`since=${since}&status=pending${after && `&after=${after}`}`);
    seen.push(...page.ids);
    after = page.next;
  }
  expect(seen).toEqual(Array.from({ length: 120 }, (_, at) => `page${String(120 - at).padStart(20, '0')}`));
  expect((await list(`since=${since}&status=paid`)).ids).toEqual([]);
  const odd = ['status=new', 'since=today', 'since=0000-01-01T00:00:00Z', `after=${'x'.repeat(24)}`, 'page=2'];
  for (const query of odd) expectProblem(await get(`/orders?${query}`), 422, 'invalid-input');
});

const cancel = (orderId: string) => post(`/orders/${orderId}/cancel`, { reason: 'sold out' });

test('an order is cancelled after verify was asked, and later money is held', async () => {
  const { orderId, reference } = await shop.checkout();
  const cancelled = { status: 200, body: { orderId, status: 'cancelled' } };
  for (let time = 0; time < 2; time += 1) expect(await cancel(orderId)).toMatchObject(cancelled);
  const answers = await shop.database.query('SELECT cause FROM verifications WHERE reference = $1', [reference]);
  expect(answers).toEqual([{ cause: 'cancel' }]);
  await settle(shop, reference);
  const cases = await shop.database.query('SELECT class FROM cases WHERE order_id = $1', [orderId]);
  expect(cases).toEqual([{ class: 'paid_after_end' }]);
  expect(await statusOf(shop, orderId)).toBe('cancelled');
});

test.each([
  ['paid, as verify shows', {}, 'already-paid', 'paid'],
  ['paid in part', { amount: 1 }, 'under-review', 'review'],
])('an order that was %s cannot be cancelled: 409', async (_name, how, type, status) => {
  const { orderId, reference } = await shop.checkout();
  await payInSilence(shop, reference, how);
  expectProblem(await cancel(orderId), 409, type);
  expect(await statusOf(shop, orderId)).toBe(status);
});

test.each([
  ['fails', { kind: 'status' }],
  ['returns an unreadable answer', { kind: 'body', body: '<h1>Welcome</h1>' }],
])('while verify %s, no order is cancelled: 503', async (_name, fault) => {
  const { orderId, reference } = await shop.checkout();
  await shop.sandboxPost('/faults', { endpoint: 'verify', reference, times: 0, ...fault });
  const answer = await cancel(orderId);
  expectProblem(answer, 503, 'payment-service-unavailable');
  expect(retryAfter(answer)).toBeGreaterThan(0);
  expect(await statusOf(shop, orderId)).toBe('pending');
});

const refund = (orderId: string, amount: string, more = {}) =>
  post<{ refundId: string }>(`/orders/${orderId}/refunds`, { amount, reason: 'torn', ...more });

test('refunds are recorded once per number, up to the captured amount', async () => {
  const orderId = await paid();
  const first = await refund(orderId, '500', { externalId: 'R-1' });
  const { refundId } = first.body;
  const body = { refundId, amount: '500.00', currency: 'NGN', order: { orderId, refunded: '500.00' } };
  expect(first).toMatchObject({ status: 201, body });
  expect(await refund(orderId, '500.00', { externalId: 'R-1' })).toMatchObject({ status: 201, body });
  expectProblem(await refund(orderId, '400.00', { externalId: 'R-1' }), 409, 'refund-differs');
  expect((await refund(orderId, '1000', { elsewhere: true })).body).toMatchObject({ order: { refunded: '1500.00' } });
  expect(expectProblem(await refund(orderId, '7000.01'), 409, 'refund-too-large').detail).toContain('7000.00');
  const crowd = await times(5, () => refund(orderId, '2000'));
  expect(crowd.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409]);
  const sums = 'SELECT sum(amount), sum(amount) FILTER (WHERE elsewhere) AS elsewhere FROM refunds WHERE order_id = $1';
  expect(await shop.database.query(sums, [orderId])).toEqual([{ sum: '750000', elsewhere: '100000' }]);
  const order = await shop.request('GET', `/orders/${orderId}`);
  expect(order.body).toMatchObject({ status: 'paid', refunded: '7500.00' });
});

test('an invalid refund amount gives 422, and a refund of an unpaid order 409', async () => {
  const orderId = await place();
  for (const amount of ['0', '-1', '1.005', '1e2', ''])
    expectProblem(await refund(orderId, amount), 422, 'invalid-input');
  expectProblem(await refund(orderId, '1'), 409, 'not-paid');
});

test.each(['cancel', 'refunds'])('%s of an unknown order gives 404, and without a reason 422', async (act) => {
  const json = { reason: 'none', ...(act === 'refunds' && { amount: '1' }) };
  expectProblem(await post(`/orders/${'x'.repeat(24)}/${act}`, json), 404, 'not-found');
  const answer = await post(`/orders/${await place()}/${act}`, { ...json, reason: '' });
  expect(expectProblem(answer, 422, 'invalid-input').errors).toMatchObject([{ path: 'reason' }]);
});

test('a stop of one currency, or of all, prevents new payments until it is resumed', async () => {
  const [tote, drum] = ['ankara-tote', 'djembe'].map((sku) => ({ email: basic.email, items: [{ sku, quantity: 1 }] }));
  const stop = await post('/checkouts/stop', { currency: 'ngn', reason: 'a unit is wrong' });
  expect(stop).toMatchObject({ status: 200, body: { stopped: 'NGN' } });
  for (const json of [tote, { orderId: await place() }]) expectProblem(await buy(json), 409, 'currency-stopped');
  expect((await buy(drum)).status).toBe(201);
  await post('/checkouts/stop', { reason: 'an incident' });
  const stopped = await buy(drum);
  expectProblem(stopped, 503, 'checkouts-stopped');
  expect(retryAfter(stopped)).toBeGreaterThan(0);
  for (const wasStopped of [true, false])
    expect(await post('/checkouts/resume', {})).toMatchObject({ status: 200, body: { wasStopped } });
  expect((await buy(drum)).status).toBe(201);
  expectProblem(await buy(tote), 409, 'currency-stopped');
  await post('/checkouts/resume', { currency: 'NGN' });
  expect((await buy(tote)).status).toBe(201);
});
