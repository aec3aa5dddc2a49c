import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { decide, letPass, look, scripted, startDesk, type Desk } from './support.ts';

// Paid, and days later both sources report FAILED, because a debit was returned or a payment
// voided. Every order is one of NGN 8500.00.

let desk: Desk;
beforeAll(async () => {
  desk = await startDesk();
});
afterAll(() => desk.stop());

const { verifySays, listShows, buy } = scripted(() => desk);

/** Verify reports it first, and then the history is applied. */
async function isReturned(reference: string, amount = 8500) {
  await letPass(desk, reference, '3 days');
  await verifySays(reference, { amount, status: 'FAILED' });
  return listShows(reference, { amount, status: 'FAILED' });
}

test('a paid order has a loss, which is written off', async () => {
  const { reference } = await buy();
  await listShows(reference, {});
  expect(await isReturned(reference)).toMatchObject({ order: 'paid', cases: ['reversed 0 850000 NGN'] });
  expect(await decide(desk, reference, 'write-off')).toMatchObject({ exit: 0 });
  const money = ['NGN captured 850000 written_off 850000'];
  expect(await listShows(reference, { status: 'FAILED' })).toMatchObject({ cases: [], money });
  // Only the history shows the money again, and no source ever reported an outflow.
  expect(await listShows(reference, {})).toMatchObject({ cases: [] });
  await letPass(desk, reference, '11 days');
  expect(await listShows(reference, {})).toMatchObject({ cases: ['refund_not_shown 0 850000 NGN'] });
});

test('held money disappears, and nothing is left to decide', async () => {
  const { reference } = await desk.checkout();
  await verifySays(reference, { amount: 8000 });
  expect(await listShows(reference, { amount: 8000 })).toMatchObject({ cases: ['underpaid 800000 0 NGN'] });
  const money = ['NGN'];
  expect(await isReturned(reference, 8000)).toMatchObject({ order: 'failed', cases: [], money });
});

test('held money that was to be refunded counts as refunded', async () => {
  const { reference } = await desk.checkout();
  await verifySays(reference, { amount: 8000 });
  await decide(desk, reference, 'refund', '--number', `RF-${reference}`);
  expect(await isReturned(reference, 8000)).toMatchObject({ cases: [] });
  await letPass(desk, reference, '12 days');
  expect(await listShows(reference, { amount: 8000, status: 'FAILED' })).toMatchObject({ cases: [] });
});

test.each([
  ['was kept', ['keep'], 'write-off'],
  ['was refunded by bank', ['refund', '--elsewhere', '--number', 'BANK-1'], 'explain'],
])('money that %s opens a case', async (_how, words, answer) => {
  const { reference } = await desk.checkout();
  await verifySays(reference, { amount: 8000 });
  await decide(desk, reference, ...words);
  expect(await listShows(reference, { amount: 8000 })).toMatchObject({ cases: [] });
  expect(await isReturned(reference, 8000)).toMatchObject({ cases: ['reversed 0 800000 NGN'] });
  expect(await decide(desk, reference, answer)).toMatchObject({ exit: 0 });
  expect(await listShows(reference, { amount: 8000, status: 'FAILED' })).toMatchObject({ cases: [] });
});

test.each([
  ['held leaves nothing to refund', null, []],
  ['kept opens a case', 'keep', ['reversed 0 850000 NGN']],
])('an unmatched payment that was %s', async (_how, as, cases) => {
  const reference = `strangerof${as ?? 'nobody'}`;
  const known = { cases: ['unknown_reference 850000 0 NGN'] };
  expect(await listShows(reference, {})).toMatchObject(known);
  expect(await listShows(reference)).toMatchObject(known);
  if (as !== null) await decide(desk, reference, as);
  expect(await listShows(reference, { status: 'FAILED' })).toMatchObject({ cases });
  expect(await listShows(reference, { status: 'FAILED' })).toMatchObject({ cases });
});

test.each(['ON_HOLD', 'PENDING'])('an unmatched payment whose row says %s stays held', async (status) => {
  const reference = `strangerwhois${status.toLowerCase().replace('_', '')}`;
  await listShows(reference, {});
  expect(await listShows(reference, { status })).toMatchObject({ cases: ['unknown_reference 850000 0 NGN'] });
});

test('a failed next try removes no money that the history still shows', async () => {
  const { reference } = await buy();
  const next = { id: `B-${reference}`, status: 'FAILED' };
  await verifySays(reference, next);
  const money = ['NGN received 850000 captured 850000'];
  expect(await listShows(reference, {}, next)).toMatchObject({ message: 'goes', cases: [], money });
  expect(await look(desk, reference)).toMatchObject({ order: 'paid' });
});
