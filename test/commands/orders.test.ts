import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { startShop, type Checkout, type Shop } from '../support/shop.ts';
import { act, buy, json, statusOf } from './support.ts';

const TOKEN = 'the_shop_of_no_real_money';
const OWN_NUMBER = 'A-2026/17';

let shop: Shop;
let paid: Checkout;
let waiting: Checkout;
beforeAll(async () => {
  shop = await startShop({ env: { SHOP_API_TOKEN: TOKEN } });
  const lines = [{ description: 'A bag', unitAmount: '8500.00', quantity: 1 }];
  const placed = await shop.request<{ orderId: string }>('POST', '/orders', {
    json: { externalId: OWN_NUMBER, email: 'Only_One@example.com', currency: 'NGN', lines },
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  paid = await buy(shop, { orderId: placed.body.orderId, email: undefined, items: undefined });
  waiting = await shop.checkout();
  // In LIKE, _ matches any letter. In an address it is a plain character.
  await shop.checkout({ email: 'only-one@example.com' });
});
afterAll(() => shop.stop());

test.each([
  ['its id', () => paid.orderId],
  ['8 letters of its id', () => paid.orderId.slice(0, 8)],
  ['a reference, in capitals', () => paid.reference.toUpperCase()],
  ['the shop’s own number', () => OWN_NUMBER],
  ['an e-mail address, in small letters', () => 'only_one@example.com'],
])('an order is found by %s', async (_, name) => {
  expect(await json(shop, 'explain', name())).toMatchObject({ orderId: paid.orderId });
});

test('an address with several orders, or with none, exits with 64 and says so', async () => {
  const second = await shop.checkout();
  const several = await act(shop, 'orders', 'cancel', 'ada@example.com', '--note', 'sold out');
  expect(several).toMatchObject({ exit: 64, out: '' });
  for (const { orderId } of [waiting, second]) expect(several.err).toContain(orderId);
  expect(several.err).not.toContain(paid.orderId);
  const none = await shop.command(['explain', 'nobody@example.com']);
  expect(none).toMatchObject({ exit: 64, err: expect.stringMatching(/no order nobody@example.com. Name an order by/) });
});

test('orders list takes a word or a date, shows major units, and masks addresses', async () => {
  const { orderId } = await shop.checkout({ email: 'eve@example.com' });
  const row = { id: orderId, amount: 'NGN 8,500.00', status: 'pending', customer: 'e***@example.com' };
  // Repeated, because a day may end meanwhile.
  await eventually(async () => {
    const noon = `UPDATE orders SET created_at = date_trunc('day', now()) - interval '12 hours' WHERE id = $1
      RETURNING to_char(created_at, 'YYYY-MM-DD') AS day`;
    const [moved] = await shop.database.query(noon, [orderId]);
    expect(await json(shop, 'orders', 'list', 'yesterday')).toContainEqual(expect.objectContaining(row));
    const { out } = await shop.command(['orders', 'list', String(moved?.day)]);
    expect(out).toContain(`12:00:00  ${orderId}  NGN 8,500.00`);
    expect(await json(shop, 'orders')).not.toContainEqual(expect.objectContaining({ id: orderId }));
  });
  expect(await shop.command(['orders', 'list', '2026-02-30'])).toMatchObject({ exit: 64 });
});

test('a refund is recorded once per number, up to the amount paid', async () => {
  const refund = (amount: string, number: string) =>
    act(shop, 'orders', 'refund', paid.orderId, amount, '--number', number);
  expect(await refund('10.00', 'RF-1')).toMatchObject({
    exit: 0,
    out: 'NGN 10.00 is recorded as refunded, number RF-1.',
  });
  expect(await refund('10', 'RF-1')).toMatchObject({ exit: 0 });
  expect(await refund('11', 'RF-1')).toMatchObject({ exit: 1, err: expect.stringMatching(/Another refund/) });
  expect(await refund('8490.01', 'RF-2')).toMatchObject({
    exit: 1,
    err: expect.stringMatching(/Only NGN 8,490.00 can/),
  });
  expect(await refund('0.001', 'RF-2')).toMatchObject({ exit: 64, err: expect.stringMatching(/^AMOUNT must be/) });
  const rows = await shop.database.query('SELECT amount, "by" FROM refunds WHERE order_id = $1', [paid.orderId]);
  expect(rows).toEqual([{ amount: '1000', by: 'Ada' }]);
});

test('a person can cancel and reopen an order, unless it is paid', async () => {
  const change = (verb: string, orderId: string) => act(shop, 'orders', verb, orderId, '--note', 'sold out');
  expect(await change('cancel', waiting.orderId)).toMatchObject({ exit: 0 });
  expect(await statusOf(shop, waiting.orderId)).toBe('cancelled');
  expect(await change('reopen', waiting.orderId)).toMatchObject({ exit: 0 });
  expect(await statusOf(shop, waiting.orderId)).toBe('pending');
  expect(await change('reopen', waiting.orderId)).toMatchObject({
    exit: 1,
    err: expect.stringMatching(/has not ended/),
  });
  expect(await change('cancel', paid.orderId)).toMatchObject({ exit: 1, err: expect.stringMatching(/order is paid/) });
});

test('a stop for some hours ends automatically, and a longer stop stays in force', async () => {
  const checkout = () =>
    shop.request('POST', '/checkout', { json: { email: 'eve@example.com', items: [{ sku: 'djembe', quantity: 1 }] } });
  const stop = (hours: string) => act(shop, 'checkouts', 'stop', 'XOF', '--hours', hours, '--note', 'a pause');
  const pause = await stop('0.001');
  expect(pause).toMatchObject({
    exit: 0,
    out: expect.stringMatching(/^New payments in XOF are stopped until .*\d\d:\d\d\./),
  });
  await eventually(async () => (await checkout()).status === 201);
  await Promise.all([stop('0.001'), stop('1')]);
  const lasting = async () => shop.database.query('SELECT FROM stops WHERE ended_at > now()');
  await eventually(async () => (await lasting()).length === 1);
  expect((await checkout()).status).toBe(409);
  expect(await act(shop, 'checkouts', 'resume', 'XOF')).toMatchObject({ exit: 0 });
  expect((await checkout()).status).toBe(201);
  expect(await stop('0')).toMatchObject({ exit: 64, err: expect.stringMatching(/--hours HOURS is not valid/) });
});

test('a currency is stopped and allowed again, and the list shows who did it', async () => {
  const checkout = async () =>
    (
      await shop.request('POST', '/checkout', {
        json: { email: 'eve@example.com', items: [{ sku: 'djembe', quantity: 1 }] },
      })
    ).status;
  expect(await act(shop, 'checkouts', 'stop', 'xof', '--note', 'prices are wrong')).toMatchObject({ exit: 0 });
  const shorter = await act(shop, 'checkouts', 'stop', 'xof', '--hours', '1', '--note', 'a pause');
  expect(shorter).toMatchObject({ exit: 0, out: expect.stringMatching(/^New payments in XOF are stopped\./) });
  expect(await checkout()).toBe(409);
  expect(await act(shop, 'checkouts', 'resume', 'XOF')).toMatchObject({ exit: 0 });
  expect(await checkout()).toBe(201);
  const { out } = await shop.command(['activity', 'this-week']);
  expect(out).toMatch(/Ada {2}- {2}checkouts stopped, note prices are wrong, currency XOF/);
  expect(out).toMatch(/Ada {2}\w{8} {2}refunded, NGN 10.00, number RF-1/);
});
