import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import { decide, letPass, look, scripted, startDesk, type Desk } from './support.ts';

// A history that reaches back a week: a charge rolls off, and its outflow appears later in a row of
// its own.

let desk: Desk;
beforeAll(async () => {
  const GATEWAY_ADAPTER = fileURLToPath(new URL('../support/adapters/promptweek.ts', import.meta.url));
  desk = await startDesk({ env: { GATEWAY_ADAPTER } });
});
afterAll(() => desk.stop());

const { verifySays, listShows, windowShows, buy } = scripted(() => desk);
const chargedBack = (reference: string, amount = 8500) => {
  return { id: `C-${reference}`, status: 'CHARGEBACK', amount: -amount };
};

test.each([8500, 3400])(
  'a chargeback of %s is reported a month later, even if verify does not show it',
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

const refunded = (reference: string, amount: number, name = 'R') => {
  return { id: `${name}-${reference}`, status: 'REFUNDED', amount: -amount };
};
/** Records a refund. Verify reports all refunds as one sum. */
async function refund(orderId: string, reference: string, amount: number, sum = amount): Promise<void> {
  await desk.run('orders', 'refund', orderId, String(amount), '--number', `${sum}-${reference}`);
  await verifySays(reference, { amount_refunded: sum });
}

test.each([
  [3400, 3400],
  [3400, 5100],
  [5100, 3400],
])('refunded %s, rolled off, and then charged back %s: the whole chargeback is reported', async (amount, back) => {
  const { reference, orderId } = await buy();
  await listShows(reference, {});
  await refund(orderId, reference, amount);
  expect(await listShows(reference, {}, refunded(reference, amount))).toMatchObject({ cases: [] });
  await letPass(desk, reference, '30 days');
  expect(await listShows(reference)).toMatchObject({ order: 'paid', cases: [] });
  const row = chargedBack(reference, back);
  expect(await listShows(reference, row)).toMatchObject({ cases: [`reversed 0 ${back}00 NGN`] });
  await decide(desk, reference, 'write-off');
  expect(await listShows(reference, row)).toMatchObject({ cases: [] });
  expect(await listShows(reference)).toMatchObject({ cases: [] });
});

test.each(['write-off', 'explain'])('a decision (%s) stays valid when refunds roll off before the loss', async (as) => {
  const { reference, orderId } = await buy();
  await listShows(reference, {});
  const [first, second] = [refunded(reference, 1000), refunded(reference, 1000, 'S')];
  await refund(orderId, reference, 1000);
  await listShows(reference, {}, first);
  await letPass(desk, reference, '3 days');
  await refund(orderId, reference, 1000, 2000);
  expect(await listShows(reference, {}, first, second)).toMatchObject({ cases: [] });
  await letPass(desk, reference, '1 day');
  await verifySays(reference, { status: 'CHARGEBACK' });
  const back = chargedBack(reference);
  expect(await listShows(reference, {}, first, second, back)).toMatchObject({ cases: ['reversed 0 850000 NGN'] });
  expect(await decide(desk, reference, as)).toMatchObject({ exit: 0 });
  await letPass(desk, reference, '4 days');
  expect(await listShows(reference, second, back)).toMatchObject({ cases: [] });
  await letPass(desk, reference, '3 days');
  expect(await listShows(reference, back)).toMatchObject({ cases: [] });
  expect(await listShows(reference)).toMatchObject({ cases: [] });
});

test('a loss stays a case after its rows roll off, until a second charge covers it', async () => {
  const { reference, orderId } = await buy();
  await listShows(reference, {});
  await refund(orderId, reference, 8500);
  const lost = { cases: ['reversed 0 850000 NGN'] };
  expect(await listShows(reference, {}, refunded(reference, 8500), chargedBack(reference))).toMatchObject(lost);
  await letPass(desk, reference, '8 days');
  expect(await listShows(reference)).toMatchObject(lost);
  const even = ['NGN received 1700000 outflow 1700000 captured 850000 returned 850000 refunded 850000'];
  expect(await listShows(reference, { id: `B-${reference}` })).toMatchObject({ cases: [], money: even });
});

test('after a dispute that verify reported as won, a loss that only the history shows is reported', async () => {
  const { reference } = await buy();
  await listShows(reference, {});
  await verifySays(reference, { status: 'CHARGEBACK' });
  await verifySays(reference);
  await letPass(desk, reference, '30 days');
  await listShows(reference);
  expect(await listShows(reference, chargedBack(reference))).toMatchObject({ cases: ['reversed 0 850000 NGN'] });
});

test('a second charge refunded by the advice is no chargeback of the first, which has rolled off', async () => {
  const { reference } = await buy();
  const second = { id: `B-${reference}` };
  expect(await listShows(reference, {}, second)).toMatchObject({ cases: ['charged_again 850000 0 NGN'] });
  await decide(desk, reference, 'refund', '--number', `RF-${reference}`);
  await letPass(desk, reference, '8 days');
  expect(await listShows(reference, { ...second, status: 'REFUNDED' })).toMatchObject({ cases: [] });
  await letPass(desk, reference, '12 days');
  expect(await listShows(reference)).toMatchObject({ cases: [] });
});

test('an unmatched payment that the bank took back is not to be refunded', async () => {
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
  // The next try pays. The history does not tell which of the two was reversed, so a person
  // decides.
  const paid = { id: `B-${reference}` };
  await verifySays(reference, paid);
  expect(await look(desk, reference)).toMatchObject({ order: 'paid', message: 'goes' });
  expect(await listShows(reference, ...rows, paid)).toMatchObject({ order: 'paid', cases: ['reversed 0 850000 NGN'] });
});

test('outflow of an unmatched payment in a window counts once when its charge is seen', async () => {
  const reference = 'strangerseeninawindow';
  const [first, second] = [{ amount: 8000 }, { id: `B-${reference}` }];
  await listShows(reference, first);
  expect(await decide(desk, reference, 'keep')).toMatchObject({ exit: 0 });
  await windowShows(reference, refunded(reference, 8500));
  const rows = [first, second, refunded(reference, 8500)];
  const money = ['NGN received 1650000 outflow 850000 retained 800000 returned 850000'];
  for (const day of [1, 2, 3])
    expect({ day, ...(await listShows(reference, ...rows)) }).toMatchObject({ cases: [], money });
});

test('an unmatched payment whose first row has no currency is reported, and the run has its report', async () => {
  const reference = 'strangerwithafailedtry';
  const failed = { id: `F-${reference}`, status: 'FAILED', amount: null, currency: null };
  expect(await listShows(reference, {}, failed)).toMatchObject({ cases: ['unknown_reference 850000 0 NGN'] });
});

test('a failed next try whose row alone is left removes no money', async () => {
  const { reference } = await buy();
  const next = { id: `B-${reference}`, status: 'FAILED' };
  const [stranger, other] = ['strangerwhofailedonce', { id: 'B-strangerwhofailedonce', status: 'FAILED' }];
  await listShows(stranger, {}, other);
  await verifySays(reference, next);
  await listShows(reference, {}, next);
  await letPass(desk, reference, '9 days');
  const money = ['NGN received 850000 captured 850000'];
  expect(await listShows(reference, next)).toMatchObject({ message: 'goes', cases: [], money });
  expect(await listShows(stranger, other)).toMatchObject({ cases: ['unknown_reference 850000 0 NGN'] });
});

test('a failed next try of an unmatched payment removes no money when only a window is read', async () => {
  const reference = 'strangerwhotriesagain';
  await listShows(reference, {});
  const held = { cases: ['unknown_reference 850000 0 NGN'] };
  expect(await windowShows(reference, { id: `B-${reference}`, status: 'FAILED' })).toMatchObject(held);
});
