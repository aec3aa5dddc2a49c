import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import { tell } from '../money/support.ts';
import { befall } from '../support/failures.ts';
import { decide, letPass, look, scripted, startDesk, type Desk } from './support.ts';

// A history that may lack the last day, and is read within that day. Every order is one of NGN
// 8500.00.

let desk: Desk;
beforeAll(async () => {
  const GATEWAY_ADAPTER = fileURLToPath(new URL('../support/adapters/lagging.ts', import.meta.url));
  desk = await startDesk({ env: { GATEWAY_ADAPTER } });
});
afterAll(() => desk.stop());

const answerOf = (reference: string, more: object) => {
  return { status: true, data: { id: `A-${reference}`, reference, status: 'SUCCESS', currency: 'NGN', ...more } };
};
const { verifySays, listShows, buy } = scripted(() => desk);

test.each([8500, 3400])(
  'order.paid is held when the history shows a chargeback (%s), although verify says paid',
  async (amount) => {
    const { reference } = await buy();
    const back = { id: `C-${reference}`, status: 'CHARGEBACK', amount: -amount };
    const gone = { order: 'paid', message: 'held', cases: [`reversed 0 ${amount}00 NGN`] };
    expect(await listShows(reference, {}, back)).toMatchObject(gone);
    await letPass(desk, reference, '2 days');
    expect(await listShows(reference, {}, back)).toMatchObject(gone);
  },
);

test.each(['as a row', 'as a state'])(
  'a history that shows the refund of the first charge, %s, and lacks the second charge closes no case',
  async (how) => {
    const amount = 5000;
    const { reference } = await desk.checkout();
    await verifySays(reference, { amount });
    await decide(desk, reference, 'refund', '--number', `RF-${reference}`);
    await verifySays(reference, { amount, status: 'REFUNDED' });
    const second = { id: `B-${reference}` };
    await verifySays(reference, second);
    const held = { cases: ['paid_after_decision 850000 0 NGN'] };
    expect(await look(desk, reference)).toMatchObject(held);
    const row = { id: `R-${reference}`, status: 'REFUNDED', amount: -amount };
    const rows = how === 'as a row' ? [{ amount }, row] : [{ amount, status: 'REFUNDED' }];
    expect(await listShows(reference, ...rows)).toMatchObject(held);
    await letPass(desk, reference, '2 days');
    expect(await listShows(reference, ...rows, second)).toMatchObject(held);
  },
);

test('a history that shows a chargeback late opens a case, which closes when the history shows its end', async () => {
  const { reference } = await buy();
  await verifySays(reference, { status: 'CHARGEBACK' });
  await verifySays(reference);
  const stands = await look(desk, reference);
  expect(stands).toMatchObject({ message: 'goes', cases: [] });
  const gone = { message: 'held', cases: ['reversed 0 850000 NGN'] };
  expect(await listShows(reference, { status: 'CHARGEBACK' })).toMatchObject(gone);
  expect(await listShows(reference, {})).toEqual(stands);
});

test('money that the history shows as outflow pays no order, also after a partial refund', async () => {
  const { reference } = await desk.checkout();
  const charge = { amount: 10_000 };
  const told = { body: answerOf(reference, charge), reference, times: 0 };
  const { id } = await befall(desk, 'verify', 'body', told);
  await tell(desk, reference);
  await letPass(desk, reference, '2 days');
  const part = { ...charge, amount_refunded: 1500 };
  expect(await listShows(reference, part)).toMatchObject({ cases: ['overpaid 1000000 0 NGN'] });
  await letPass(desk, reference, '1 day');
  // A day late, and without a webhook.
  await desk.request('DELETE', `${desk.sandbox?.url}/sandbox/faults/${id}`);
  await befall(desk, 'verify', 'body', { ...told, body: answerOf(reference, part) });
  const gone = { order: 'review', message: null, cases: ['contradicted 850000 0 NGN'] };
  expect(await listShows(reference, { ...charge, status: 'REFUNDED' })).toMatchObject(gone);
});

test('after a write-off, a win and a keep, a history that still shows the loss opens a case until it is corrected', async () => {
  const { reference } = await buy();
  await verifySays(reference, { status: 'CHARGEBACK' });
  await letPass(desk, reference, '2 days');
  await listShows(reference, { status: 'CHARGEBACK' });
  expect(await decide(desk, reference, 'write-off')).toMatchObject({ exit: 0 });
  await verifySays(reference);
  expect(await decide(desk, reference, 'keep')).toMatchObject({ exit: 0 });
  expect(await listShows(reference, { status: 'CHARGEBACK' })).toMatchObject({ cases: ['reversed 0 850000 NGN'] });
  expect(await listShows(reference, {})).toMatchObject({ cases: [] });
});

test('a history within its lag does not release the message that a dispute in verify holds', async () => {
  const { reference, orderId } = await buy();
  await desk.run('orders', 'refund', orderId, '2500', '--number', `RF-${reference}`);
  const part = { amount_refunded: 2500 };
  await verifySays(reference, part);
  await letPass(desk, reference, '2 days');
  expect(await listShows(reference, part)).toMatchObject({ message: 'goes', cases: [] });
  await verifySays(reference, { id: `CB-${reference}`, status: 'CHARGEBACK', amount: 6000 });
  expect(await look(desk, reference)).toMatchObject({ message: 'held' });
  expect(await listShows(reference, part)).toMatchObject({ message: 'held' });
});
