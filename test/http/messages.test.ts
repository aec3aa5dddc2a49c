import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { eventually } from '../support/eventually.ts';
import { settle } from '../support/outside.ts';
import { startProcess } from '../support/process.ts';
import { startReceiver, type Received, type Receiver } from '../support/receiver.ts';
import { startShop, TEST_KEY, type Checkout, type Shop } from '../support/shop.ts';

const TOKEN = 'the_shop_of_no_real_money';
const ENDS = ['paid', 'review', 'failed', 'expired', 'cancelled', 'reopened', 'refunded', 'reversed'];

type Step = (checkout: Checkout) => Promise<unknown>;

let receiver: Receiver;
let events: Record<string, string>;
let shop: Shop;
/** The same shop on a database without earlier sales. It wants order.paid messages only. */
let restored: Shop;
beforeAll(async () => {
  receiver = await startReceiver();
  const env = { ...receiver.env, SHOP_API_TOKEN: TOKEN };
  events = { ...env, FULFILMENT_EVENTS: ['case.opened', ...ENDS.map((end) => `order.${end}`)].join() };
  [shop, restored] = await Promise.all([startShop({ env: events }), startShop({ env })]);
});
afterAll(async () => {
  await Promise.all([shop.stop(), restored.stop()]);
  await receiver.close();
});

const api = <Body>(path: string, json: unknown, of = shop) =>
  of.request<Body>('POST', path, { json, headers: { authorization: `Bearer ${TOKEN}` } });
const of = ({ orderId }: { orderId: string }) => receiver.messages.filter(({ data }) => data.orderId === orderId);
const leaves = ({ orderId }: Checkout, unsent: object[]) =>
  eventually(async () => {
    const rows = 'SELECT type, held_by FROM messages WHERE order_id = $1 AND sent_at IS NULL';
    expect(await shop.database.query(rows, [orderId])).toEqual(unsent);
  });
const received = (order: { orderId: string }, type: string) =>
  eventually(() => of(order).find((message) => message.type === type) ?? null);

/** @throws unless Standard Webhooks accepts the signature */
function expectSigned({ body, headers }: Received): void {
  new Webhook(receiver.env.FULFILMENT_SECRET).verify(body, headers as Record<string, string>);
  expect(headers['user-agent']).toMatch(/^payment-integrator\//);
}

const tell =
  (act: string, more = {}): Step =>
  ({ reference }) =>
    shop.sandboxPost(`/transactions/${reference}/${act}`, more);
const partly = tell('pay', { amount: 8_000 });
const cancel: Step = ({ orderId }) => api(`/orders/${orderId}/cancel`, { reason: 'sold out' });
const refund: Step = ({ orderId }) => api(`/orders/${orderId}/refunds`, { amount: '500', reason: 'torn' });
const expire: Step = ({ orderId }) => shop.database.query('UPDATE orders SET pay_by = now() WHERE id = $1', [orderId]);
const paid: Step = async (checkout) => {
  await tell('pay')(checkout);
  await received(checkout, 'order.paid');
};
const reopen: Step = async ({ orderId }) => {
  const service = { GATEWAY_URL: String(shop.sandbox?.url), GATEWAY_SECRET_KEY: TEST_KEY };
  const env = { ...service, ...events, DATABASE_URL: shop.database.url };
  const words = ['orders', 'reopen', orderId, '--by', 'Ada', '--note', 'sold after all'];
  expect(await startProcess('src/cli.ts', env, words).end()).toBe(0);
};

const paidAt: unknown = expect.stringMatching(/^\d{4}-.*Z$/);
const id: unknown = expect.stringMatching(/^\d+$/);
const partOfIt = { id, class: 'underpaid', held: '8000.00', missing: '0.00', currency: 'NGN' };
const allOfIt = { id, class: 'reversed', held: '0.00', missing: '8500.00', currency: 'NGN' };
const torn = { id, amount: '500.00', externalId: null, elsewhere: false, reason: 'torn' };
test.each<[string, Step[], object]>([
  ['order.paid', [paid], { paidAt }],
  ['order.review', [partly], { due: '0.00' }],
  ['order.failed', [tell('fail')], { due: '8500.00' }],
  ['order.expired', [expire], { due: '0.00' }],
  ['order.cancelled', [cancel], { reference: null, reason: 'sold out', due: '0.00' }],
  ['order.reopened', [cancel, reopen], { reference: null, reason: 'sold after all', due: '8500.00' }],
  ['order.refunded', [paid, refund], { paidAt, refund: torn }],
  ['order.reversed', [paid, tell('reverse')], { paidAt, case: allOfIt }],
  ['case.opened', [partly], { case: partOfIt, due: '0.00' }],
])('%s is sent once, signed, with the order', async (type, steps, more) => {
  const checkout = await shop.checkout();
  const { orderId, reference, amount, currency } = checkout;
  for (const step of steps) await step(checkout);
  const message = await received(checkout, type);
  expectSigned(message);
  const lines = [{ sku: 'ankara-tote', description: 'Ankara tote bag', unitAmount: '8500.00', quantity: 1 }];
  const order = { orderId, externalId: null, reference, amount, currency, mode: 'test', paidAt: null, lines };
  const data = { ...order, metadata: {}, ...more };
  expect(JSON.parse(message.body)).toEqual({ type, timestamp: paidAt, data });
  await leaves(checkout, []);
  expect(of(checkout).filter((one) => one.type === type)).toEqual([message]);
});

test('a message that is not accepted is sent again with the same id and the same bytes', async () => {
  const checkout = await shop.checkout();
  const answers = [500, null, 302, 204];
  receiver.answer(({ data }) => (data.orderId === checkout.orderId ? (answers.shift() as number | null) : 204));
  await tell('pay')(checkout);
  // Ends each pause.
  const hurry = 'UPDATE messages SET next_try_at = now() WHERE order_id = $1 AND next_try_at IS NOT NULL';
  await eventually(async () => {
    await shop.database.query(hurry, [checkout.orderId]);
    return answers.length === 0;
  });
  const attempts = of(checkout);
  expect(attempts).toHaveLength(4);
  for (const attempt of attempts) expectSigned(attempt);
  expect(new Set(attempts.map((attempt) => `${attempt.id} ${attempt.body}`)).size).toBe(1);
});

test('the messages of an order arrive in the order of events, and none waits for a held message', async () => {
  const [checkout, other] = [await shop.checkout(), await shop.checkout()];
  receiver.answer(({ type, data }) => (data.orderId === checkout.orderId && type === 'order.paid' ? 500 : 204));
  const told = () => [...new Set(of(checkout).map(({ type }) => type))];
  await paid(checkout);
  await refund(checkout);
  // The message of a later order has been sent, so the refund's message would have been, too.
  await paid(other);
  expect(told()).toEqual(['order.paid']);
  await tell('reverse')(checkout);
  await received(checkout, 'order.reversed');
  expect(told()).toEqual(['order.paid', 'order.refunded', 'case.opened', 'order.reversed']);
  await leaves(checkout, [{ type: 'order.paid', held_by: 'missing money' }]);
});

test('an order with the same number that is placed again after a restore has the same message id', async () => {
  const shipped = async (from: Shop, externalId: string) => {
    const lines = [{ description: 'A drum', unitAmount: '1', quantity: 1 }];
    const json = { email: 'ada@example.com', currency: 'NGN', lines, externalId, metadata: { from: from.url } };
    const { orderId } = (await api<Checkout>('/orders', json, from)).body;
    const { reference } = (await from.request<Checkout>('POST', '/checkout', { json: { orderId } })).body;
    await settle(from, reference);
    const { id, data } = await received({ orderId }, 'order.paid');
    expect(data).toMatchObject({ externalId, metadata: { from: from.url } });
    return id;
  };
  const number = await shipped(shop, 'A-7');
  expect(await shipped(restored, 'A-7')).toBe(number);
  expect(await shipped(restored, 'A-8')).not.toBe(number);
});

test('an event that FULFILMENT_EVENTS does not name is not sent', async () => {
  const checkout = await restored.checkout();
  await api(`/orders/${checkout.orderId}/cancel`, { reason: 'sold out' }, restored);
  const written = 'SELECT type FROM messages WHERE order_id = $1';
  expect(await restored.database.query(written, [checkout.orderId])).toEqual([]);
});

test('every call to the service has our User-Agent', async () => {
  const calls = await shop.sandboxGet<{ endpoint: string; userAgent: string | null }[]>('/calls');
  expect(new Set(calls.map(({ endpoint }) => endpoint))).toEqual(new Set(['initialize', 'verify']));
  for (const { userAgent } of calls) expect(userAgent).toMatch(/^payment-integrator\//);
});
