import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { startReceiver, type Received, type Receiver } from '../support/receiver.ts';
import { startShop, type Shop } from '../support/shop.ts';
import { asShop, buy, command, happens, saying, SHOP_TOKEN, stands } from './support.ts';

// An order of NGN 8500.00 is paid, and then verify reports something else.

let receiver: Receiver;
let shop: Shop;
beforeAll(async () => {
  receiver = await startReceiver();
  const events = { FULFILMENT_EVENTS: 'order.paid,case.opened,order.reversed' };
  shop = await startShop({ env: { ...receiver.env, ...events, SHOP_API_TOKEN: SHOP_TOKEN } });
});
afterAll(async () => {
  await shop.stop();
  await receiver.close();
});

const told = (orderId: string, type: string): Received[] =>
  receiver.messages.filter((one) => one.type === type && one.data.orderId === orderId);
const isTold = (orderId: string, type: string, times = 1) => eventually(() => told(orderId, type).length >= times);

/** Its `order.paid` is held, although it is due and no process is sending it. */
const isHeld = (orderId: string) => {
  const held = `UPDATE messages SET next_try_at = now() WHERE order_id = $1 AND type = 'order.paid'
    AND held_by = 'missing money' AND leased_until IS NULL RETURNING 1`;
  return eventually(async () => (await shop.database.query(held, [orderId])).length === 1);
};

const ALL_GONE = 'contradicted 0 850000 NGN';
const SHOWN = { status: 'SUCCESS', amount: 8500, currency: 'NGN', amount_refunded: 0 };
// One charge has one currency: when verify reports the first currency again, nothing is left in the
// other.
const OTHER = 'currency_mismatch 850000 0 USD';

test.each<[string, 'record' | 'hide', object, string[], string[]]>([
  ['less', 'record', { amount: 5000 }, ['contradicted 0 350000 NGN'], []],
  ['0.01', 'record', { amount: 0.01 }, ['contradicted 0 849999 NGN'], []],
  ['amount 0', 'record', { amount: 0 }, [ALL_GONE], []],
  ['a chargeback', 'record', { status: 'chargeback' }, ['reversed 0 850000 NGN'], []],
  ['a partial refund', 'record', { amount_refunded: 500 }, ['reversed 0 50000 NGN'], []],
  ['a full refund', 'record', { amount_refunded: 8500 }, ['reversed 0 850000 NGN'], []],
  ['failed', 'record', { status: 'FAILED' }, [ALL_GONE], []],
  ['pending', 'record', { status: 'PENDING' }, [ALL_GONE], []],
  ['disputed', 'record', { status: 'disputed' }, [ALL_GONE], []],
  ['another currency', 'record', { currency: 'USD' }, [ALL_GONE, OTHER], []],
  ['nothing', 'hide', { from: 'verify', hidden: true }, [ALL_GONE], []],
])('order.paid waits while verify reports %s: %s %j', async (_, act, says, cases, left) => {
  receiver.answer((message) => (message.type === 'order.paid' ? 503 : 204));
  const { orderId, reference } = await buy(shop);
  await isTold(orderId, 'order.paid');
  await happens(shop, reference, act, says);
  await stands(shop, orderId, 'paid', ...cases);
  await isHeld(orderId);
  const before = told(orderId, 'order.paid');

  // The receiver would accept it now. Later events, and other orders, do not wait for it.
  receiver.answer(204);
  await isTold(orderId, 'case.opened', cases.length);
  if (cases[0]?.startsWith('reversed')) await isTold(orderId, 'order.reversed');
  await isTold((await buy(shop)).orderId, 'order.paid');
  expect(told(orderId, 'order.paid')).toEqual(before);

  await happens(shop, reference, act, act === 'hide' ? { from: 'verify', hidden: false } : SHOWN);
  await stands(shop, orderId, 'paid', ...left);
  await isTold(orderId, 'order.paid', before.length + 1);
  expect(new Set(told(orderId, 'order.paid').map(({ id, body }) => id + body)).size).toBe(1);
});

/** The shop records a refund of a part. */
async function refund(orderId: string, amount: string, elsewhere = false): Promise<void> {
  const { status } = await asShop(shop, `/orders/${orderId}/refunds`, { amount, elsewhere, reason: 'a test' });
  expect(status).toBe(201);
}

test.each([true, false])('a refund explains its own amount of outflow only (recorded first: %s)', async (isFirst) => {
  const { orderId, reference } = await buy(shop);
  if (isFirst) await refund(orderId, '500.00');
  await happens(shop, reference, 'reverse', { amount: 500 });
  await stands(shop, orderId, 'paid', ...(isFirst ? [] : ['reversed 0 50000 NGN']));
  if (!isFirst) await refund(orderId, '500.00');
  await stands(shop, orderId, 'paid');
  await happens(shop, reference, 'record', { status: 'FAILED' });
  await stands(shop, orderId, 'paid', 'contradicted 0 800000 NGN');
});

test('another status word does not close a reversal, returned money reduces it, and the full amount closes it', async () => {
  const { orderId, reference } = await buy(shop);
  await happens(shop, reference, 'reverse');
  for (const status of ['disputed', 'PENDING']) await happens(shop, reference, 'record', { status });
  await stands(shop, orderId, 'paid', 'reversed 0 850000 NGN');
  await happens(shop, reference, 'record', { ...SHOWN, amount_refunded: 8000 });
  await stands(shop, orderId, 'paid', 'reversed 0 800000 NGN');
  await happens(shop, reference, 'record', SHOWN);
  await stands(shop, orderId, 'paid');
});

test('a case that gets another class is a new case with its own message', async () => {
  const { orderId, reference } = await buy(shop);
  await happens(shop, reference, 'record', { status: 'FAILED' });
  await stands(shop, orderId, 'paid', ALL_GONE);
  await happens(shop, reference, 'record', { status: 'chargeback' });
  await isTold(orderId, 'case.opened', 2);
  const cases = told(orderId, 'case.opened').map(({ data }) => (data.case as { class: string }).class);
  expect(cases).toEqual(['contradicted', 'reversed']);
});

test('a refund by bank explains no outflow at the service', async () => {
  const { orderId, reference } = await buy(shop);
  await refund(orderId, '4500.00', true);
  await stands(shop, orderId, 'paid');
  await happens(shop, reference, 'reverse', { amount: 4000 });
  await stands(shop, orderId, 'paid', 'reversed 0 400000 NGN');
});

test('a held message gives the reason, and only a command with an explicit option sends it', async () => {
  receiver.answer(503);
  const { orderId, reference } = await buy(shop);
  await isTold(orderId, 'order.paid');
  await happens(shop, reference, 'record', { status: 'chargeback' });
  await stands(shop, orderId, 'paid', 'reversed 0 850000 NGN');
  await isHeld(orderId);
  const before = told(orderId, 'order.paid');
  receiver.answer(204);
  const resend = ['messages', 'resend', String(before[0]?.id)];
  expect(await command(shop, ...resend)).toEqual({ exit: 1, said: saying(/missing/) });
  expect(told(orderId, 'order.paid')).toEqual(before);
  expect(await command(shop, ...resend, '--despite-missing-money')).toMatchObject({ exit: 0 });
  await isTold(orderId, 'order.paid', before.length + 1);
});
