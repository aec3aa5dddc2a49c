import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import { decide, letPass, look, scripted, startDesk, type Desk } from './support.ts';

// A list that may lack what happened in the last day, and is read within that day. Every order is one of NGN 8500.00.

let desk: Desk;
beforeAll(async () => {
  const GATEWAY_ADAPTER = fileURLToPath(new URL('../support/adapters/lagging.ts', import.meta.url));
  desk = await startDesk({ env: { GATEWAY_ADAPTER } });
});
afterAll(() => desk.stop());

const { verifySays, listShows, buy } = scripted(() => desk);

test.each([8500, 3400])(
  'what the list shows as charged back (%s) is not shipped, although verify says paid',
  async (amount) => {
    const { reference } = await buy();
    const back = { id: `C-${reference}`, status: 'CHARGEBACK', amount: -amount };
    const gone = { order: 'paid', message: 'held', cases: [`reversed 0 ${amount}00 NGN`] };
    expect(await listShows(reference, {}, back)).toMatchObject(gone);
    await letPass(desk, reference, '2 days');
    expect(await listShows(reference, {}, back)).toMatchObject(gone);
  },
);

test.each([
  ['as a row', 5000],
  ['as a state', 5000],
])(
  'a list that shows the refund of the first charge, %s, and lacks the second one closes no case',
  async (how, amount) => {
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

test('paid, charged back and won before the list tells of the first is no loss', async () => {
  const { reference } = await buy();
  await verifySays(reference, { status: 'CHARGEBACK' });
  await verifySays(reference);
  const stands = await look(desk, reference);
  expect(stands).toMatchObject({ message: 'goes', cases: [] });
  expect(await listShows(reference, { status: 'CHARGEBACK' })).toEqual(stands);
});
