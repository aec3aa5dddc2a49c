import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import { decide, letPass, look, scripted, startDesk, type Desk } from './support.ts';

// A list that reaches back a week: a charge rolls off, and what went of it shows later, as a row of its own.

let desk: Desk;
beforeAll(async () => {
  const GATEWAY_ADAPTER = fileURLToPath(new URL('../support/adapters/promptweek.ts', import.meta.url));
  desk = await startDesk({ env: { GATEWAY_ADAPTER } });
});
afterAll(() => desk.stop());

const { verifySays, listShows, buy } = scripted(() => desk);
const chargedBack = (reference: string, amount = 8500) => {
  return { id: `C-${reference}`, status: 'CHARGEBACK', amount: -amount };
};

test.each([8500, 3400])(
  'a chargeback of %s is told a month later, also where verify says nothing of it',
  async (amount) => {
    const { reference } = await buy();
    await listShows(reference, {});
    await letPass(desk, reference, '30 days');
    const row = chargedBack(reference, amount);
    expect(await listShows(reference, row)).toMatchObject({ cases: [`reversed 0 ${amount}00 NGN`] });
    await decide(desk, reference, 'write-off');
    expect(await listShows(reference, row)).toMatchObject({ cases: [] });
    expect(await listShows(reference)).toMatchObject({ cases: [] });
  },
);

test('a second charge that was refunded as advised is no chargeback of the first, which has rolled off', async () => {
  const { reference } = await buy();
  const second = { id: `B-${reference}` };
  expect(await listShows(reference, {}, second)).toMatchObject({ cases: ['charged_again 850000 0 NGN'] });
  await decide(desk, reference, 'refund', '--number', `RF-${reference}`);
  await letPass(desk, reference, '8 days');
  expect(await listShows(reference, { ...second, status: 'REFUNDED' })).toMatchObject({ cases: [] });
  await letPass(desk, reference, '12 days');
  expect(await listShows(reference)).toMatchObject({ cases: [] });
});

test('a stranger’s money that the bank took back is not to be refunded', async () => {
  const reference = 'strangerwhohasrolledoff';
  await listShows(reference, {});
  expect(await look(desk, reference)).toMatchObject({ cases: ['unknown_reference 850000 0 NGN'] });
  await letPass(desk, reference, '30 days');
  expect(await listShows(reference, chargedBack(reference))).toMatchObject({ cases: [] });
});

test('a failed debit whose reversal is a row of its own is no loss', async () => {
  const { reference } = await desk.checkout();
  await verifySays(reference, { status: 'FAILED' });
  const rows = [{ status: 'FAILED' }, { id: `R-${reference}`, status: 'REVERSED', amount: -8500 }];
  expect(await listShows(reference, ...rows)).toMatchObject({ order: 'failed', cases: [] });
});
