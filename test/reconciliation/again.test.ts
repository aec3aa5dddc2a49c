import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { happens as isTold } from '../money/support.ts';
import { buy, happens, payAsStranger, payUnseen } from './makers.ts';
import { caseOf, decide, letPass, look, startDesk, type Desk } from './support.ts';

// Regression tests of an adversarial review of event sequences. Every order is one of NGN 8500.00.

let desk: Desk;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  receiver.answer(500);
  desk = await startDesk({ env: receiver.env });
});
afterAll(async () => {
  await desk.stop();
  await receiver.close();
});

/**
 * Runs twice: the first run verifies the payment if necessary, and the second one applies the
 * history.
 */
async function hear(reference: string): Promise<void> {
  const pass = () => letPass(desk, reference, '1 minute').then(() => desk.reconcile());
  await pass();
  await pass();
}

test('a chargeback that verify shows stays a case while the history still shows the money', async () => {
  const { reference } = await buy(desk);
  await isTold(desk, reference, 'record', { status: 'CHARGEBACK', verifyOnly: true });
  await hear(reference);
  expect(await look(desk, reference)).toMatchObject({ message: 'held', cases: ['reversed 0 850000 NGN'] });
});

test('a refund that only the history shows is not a new charge', async () => {
  const { orderId, reference } = await buy(desk);
  await hear(reference);
  expect(await desk.run('orders', 'refund', orderId, '42.00', '--number', 'RF-1')).toMatchObject({ exit: 0 });
  await happens(desk, reference, 'reverse', { amount: 42 });
  await happens(desk, reference, 'record', { status: 'SUCCESS', amount_refunded: null, verifyOnly: true });
  await hear(reference);
  expect(await look(desk, reference)).toMatchObject({ message: 'goes', cases: [] });
});

test('an unmatched payment stays held when the history lacks it', async () => {
  const reference = await payAsStranger(desk);
  await desk.reconcile();
  await happens(desk, reference, 'hide', { from: 'both', hidden: true });
  await desk.reconcile();
  expect(await look(desk, reference)).toMatchObject({ cases: ['unknown_reference 850000 0 NGN'] });
});

test('an order whose contradiction was explained can be cancelled', async () => {
  const reference = await payUnseen(desk, { status: 'PENDING', verifyOnly: true });
  await hear(reference);
  expect(await look(desk, reference)).toMatchObject({ order: 'review', cases: ['contradicted 850000 0 NGN'] });
  expect(await decide(desk, reference, 'explain')).toMatchObject({ exit: 0 });
  expect(await desk.run('orders', 'cancel', reference, '--note', 'a test')).toMatchObject({ exit: 0 });
  // Its money is now a new case, which can be decided.
  expect(await look(desk, reference)).toMatchObject({ order: 'cancelled', cases: ['paid_after_end 850000 0 NGN'] });
});

test('a message that a person sent in spite of missing money is held again by a later loss', async () => {
  const { reference, orderId } = await buy(desk);
  await isTold(desk, reference, 'record', { status: 'FAILED', verifyOnly: true });
  expect(await look(desk, reference)).toMatchObject({ message: 'held' });
  const [message] = await desk.database.query<{ id: string }>('SELECT id FROM messages WHERE order_id = $1', [orderId]);
  const resend = ['messages', 'resend', message?.id ?? '', '--despite-missing-money', '--note', 'a test'];
  expect(await desk.run(...resend)).toMatchObject({ exit: 0 });
  expect(await look(desk, reference)).toMatchObject({ message: 'goes' });
  await isTold(desk, reference, 'record', { status: 'SUCCESS', verifyOnly: true });
  expect(await look(desk, reference)).toMatchObject({ message: 'goes', cases: [] });
  await isTold(desk, reference, 'record', { status: 'CHARGEBACK' });
  expect(await look(desk, reference)).toMatchObject({ message: 'held', cases: ['reversed 0 850000 NGN'] });
});

test('held money behind another case is not given up with that case', async () => {
  const { reference } = await buy(desk);
  await happens(desk, reference, 'pay', { times: 1, notify: false });
  await isTold(desk, reference, 'record', { status: 'FAILED', verifyOnly: true });
  await hear(reference);
  expect(await look(desk, reference)).toMatchObject({ cases: ['contradicted 0 850000 NGN'] });
  const id = await caseOf(desk, reference);
  expect(await desk.run('cases', 'decide', id, '--as', 'refund', '--note', 'a test')).toMatchObject({ exit: 1 });
  expect(await decide(desk, reference, 'explain')).toMatchObject({ exit: 0 });
  expect(await look(desk, reference)).toMatchObject({ cases: ['charged_again 850000 0 NGN'] });
});

test('an error that quotes a row puts no e-mail address into a report', async () => {
  const GATEWAY_ADAPTER = new URL('../support/adapters/quoting.ts', import.meta.url).pathname;
  const other = await startDesk({ env: { GATEWAY_ADAPTER } });
  try {
    const { reference } = await other.checkout();
    await happens(other, reference, 'pay');
    const { report } = await other.reconcile();
    expect(report).toMatchObject({ verdict: 'findings', reason: expect.stringMatching(/cannot be read.*cannot read/) });
    expect(JSON.stringify(report)).not.toMatch(/ada@/);
  } finally {
    await other.stop();
  }
});
