import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { comeBack, expectProblem, payInSilence, statusOf, timesAsked } from '../support/outside.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { startShop, type Checkout, type Shop } from '../support/shop.ts';
import { accept, buy, command, happens, saying, stands } from './support.ts';

// Regression tests of an adversarial review. Each test stands for a rule.

let receiver: Receiver;
let shop: Shop;
beforeAll(async () => {
  receiver = await startReceiver();
  shop = await startShop({ env: { ...receiver.env, FULFILMENT_EVENTS: 'order.paid,order.reversed' } });
});
afterAll(async () => {
  await shop.stop();
  await receiver.close();
});

const told = (orderId: string, type: string) =>
  receiver.messages.filter((message) => message.type === type && message.data.orderId === orderId);
const held = (orderId: string) =>
  shop.database.query(`SELECT held_by FROM messages WHERE order_id = $1 AND type = 'order.paid'`, [orderId]);

test('if money is missing after paid, the payment is verified again, and order.paid is sent when the money is back', async () => {
  receiver.answer(503);
  const { orderId, reference } = await buy(shop);
  await happens(shop, reference, 'record', { status: 'PENDING' });
  await stands(shop, orderId, 'paid', saying(/^contradicted/));
  expect(await held(orderId)).toEqual([{ held_by: 'missing money' }]);
  receiver.answer(204);
  await shop.sandboxPost(`/transactions/${reference}/record`, { status: 'SUCCESS' });
  // No notification comes, so only the schedule asks.
  const due = `UPDATE payments SET next_check_at = now() WHERE reference = $1 AND next_check_at IS NOT NULL RETURNING 1`;
  expect(await shop.database.query(due, [reference])).toHaveLength(1);
  await stands(shop, orderId, 'paid');
  await eventually(() => told(orderId, 'order.paid').length > 0);
});

test('a case that becomes a reversal sends order.reversed', async () => {
  const { orderId, reference } = await buy(shop);
  await happens(shop, reference, 'record', { status: 'FAILED' });
  await stands(shop, orderId, 'paid', saying(/^contradicted/));
  expect(told(orderId, 'order.reversed')).toEqual([]);
  await happens(shop, reference, 'record', { status: 'REVERSED' });
  await stands(shop, orderId, 'paid', 'reversed 0 850000 NGN');
  await eventually(() => told(orderId, 'order.reversed').length === 1);
});

test('a reversal of a second payment that was kept does not hold order.paid', async () => {
  const { orderId, reference } = await shop.checkout();
  await happens(shop, reference, 'fail');
  const second = await shop.request<Checkout>('POST', '/checkout', { json: { orderId } });
  await happens(shop, second.body.reference, 'pay');
  await happens(shop, reference, 'pay');
  await stands(shop, orderId, 'paid', 'duplicate_payment 850000 0 NGN');
  const open = 'SELECT id FROM cases WHERE order_id = $1 AND closed_at IS NULL';
  const caseOf = async () => String((await shop.database.query(open, [orderId]))[0]?.id);
  expect(await command(shop, 'cases', 'decide', await caseOf(), '--as', 'keep')).toMatchObject({ exit: 0 });
  await happens(shop, reference, 'reverse');
  await stands(shop, orderId, 'paid', 'reversed 0 850000 NGN');
  expect((await shop.command(['cases', 'show', await caseOf()])).out).toMatch(/reversed that had paid no order/);
  const messages = await shop.database.query('SELECT type, held_by FROM messages WHERE order_id = $1', [orderId]);
  expect(messages).toEqual([{ type: 'order.paid', held_by: null }]);
});

test('an acceptance covers the doubt that the person saw, and no later doubt', async () => {
  receiver.answer(503);
  const { orderId, reference } = await buy(shop, { amount: 8000 });
  await stands(shop, orderId, 'review', saying(/^underpaid/));
  expect(await accept(shop, orderId)).toMatchObject({ exit: 0 });
  await happens(shop, reference, 'record', { disputed: true });
  await stands(shop, orderId, 'paid', saying(/^contradicted/));
  expect(await held(orderId)).toEqual([{ held_by: 'missing money' }]);
  receiver.answer(204);
});

test('two provider transactions with an empty id are different, so both orders are paid', async () => {
  for (let order = 0; order < 2; order += 1) {
    const { orderId, reference } = await shop.checkout();
    await shop.sandboxPost(`/transactions/${reference}/record`, { id: '' });
    await happens(shop, reference, 'pay');
    expect(await statusOf(shop, orderId)).toBe('paid');
  }
});

test('a refusal with characters that the database cannot store is still a refusal', async () => {
  const body = '{"status": false, "message": "no \\u0000 \\ud800 for ada@example.com"}';
  await shop.sandboxPost('/faults', { endpoint: 'initialize', kind: 'status', status: 400, body });
  const json = { email: 'ada@example.com', items: [{ sku: 'djembe', quantity: 1 }] };
  expectProblem(await shop.request('POST', '/checkout', { json }), 502, 'payment-refused');
  const journal = await shop.database.query('SELECT data FROM journal');
  expect(JSON.stringify([shop.logs(), journal])).not.toContain('ada@example.com');
});

test('after failed verifications, not every return verifies again, so that one client cannot use up everybody’s calls', async () => {
  const { orderId, reference } = await shop.checkout();
  const fault = { endpoint: 'verify', reference, kind: 'status', status: 403, contentType: 'text/html', times: 0 };
  const { id } = await shop.sandboxPost<{ id: number }>('/faults', { ...fault, body: 'no' });
  for (let visit = 0; visit < 12; visit += 1) await comeBack(shop, reference);
  expect(await timesAsked(shop, 'verify', reference)).toBeLessThanOrEqual(5);
  await fetch(`${shop.sandbox?.url ?? ''}/sandbox/faults/${id}`, { method: 'DELETE' });
  await payInSilence(shop, reference);
  await shop.database.query('UPDATE payments SET next_check_at = now() WHERE reference = $1', [reference]);
  await eventually(async () => (await statusOf(shop, orderId)) === 'paid');
});
