import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { befall } from '../support/failures.ts';
import { decide, letPass, look, scripted, startDesk, type Desk } from './support.ts';

// Verify reports one charge of a reference, and the history reports all of them. Refunds appear in
// either. A payment with two charges is verified for both. Every order is one of NGN 8500.00.

let desk: Desk;
beforeAll(async () => {
  desk = await startDesk();
});
afterAll(() => desk.stop());

const { verifySays, listShows, buy } = scripted(() => desk);

const second = (reference: string, more = {}) => ({ id: `B-${reference}`, ...more });
const refunded = (reference: string, amount: number) => ({ id: `R-${reference}`, amount: -amount });
const writeDown = (orderId: string, amount: string) =>
  desk.run('orders', 'refund', orderId, amount, '--number', orderId);
const CHARGED_AGAIN = { cases: ['charged_again 850000 0 NGN'] };
const FINE = { order: 'paid', cases: [] };

/** Applies the history twice, the second time 12 days later. */
async function inTheEnd(reference: string, ...rows: object[]) {
  await listShows(reference, ...(rows as Record<string, unknown>[]));
  await letPass(desk, reference, '12 days');
  return listShows(reference, ...(rows as Record<string, unknown>[]));
}

test('a refund that only the history reports stays booked when verify reports a second charge', async () => {
  const { reference, orderId } = await buy();
  await writeDown(orderId, '3400');
  const first = refunded(reference, 3400);
  await listShows(reference, {}, first);
  await verifySays(reference, second(reference));
  const rows: object[] = [{}, first, second(reference)];
  expect(await listShows(reference, {}, first, second(reference))).toMatchObject(CHARGED_AGAIN);
  await decide(desk, reference, 'refund', '--number', `RF-${reference}`);
  await verifySays(reference, second(reference, { status: 'REFUNDED' }));
  rows[2] = second(reference, { status: 'REFUNDED' });
  await inTheEnd(reference, ...rows);
  await verifySays(reference);
  expect(await look(desk, reference)).toMatchObject(FINE);
  expect(await inTheEnd(reference, ...rows)).toMatchObject(FINE);
});

test('money that came and left in the history before verify reported it pays nothing', async () => {
  const { reference } = await desk.checkout();
  await verifySays(reference, { status: 'PENDING' });
  await listShows(reference, {});
  const rows = [{}, refunded(reference, 8500)];
  await listShows(reference, ...rows);
  await verifySays(reference);
  const held = { order: 'review', message: null, cases: ['contradicted 850000 0 NGN'] };
  expect(await look(desk, reference)).toMatchObject(held);
  // A charge that remains pays, once the history reports it.
  await verifySays(reference, second(reference));
  expect(await inTheEnd(reference, ...rows, second(reference))).toMatchObject(FINE);
});

test('an unmatched payment whose money left pays no order that adopts it', async () => {
  const { orderId } = await desk.checkout();
  const reference = `stranger${orderId.toLowerCase().replace(/[^a-z0-9]/g, '')}`.slice(0, 26);
  await listShows(reference, {});
  await listShows(reference, {}, refunded(reference, 8500));
  const data = { id: `A-${reference}`, reference, status: 'SUCCESS', amount: 8500, currency: 'NGN' };
  await befall(desk, 'verify', 'body', { reference, body: { status: true, data }, times: 0 });
  expect(await desk.run('after-restore', orderId, '--adopt', reference)).toMatchObject({ exit: 0 });
  expect(await look(desk, reference)).toMatchObject({ order: 'review', message: null });
});

test('a dispute that is won after a write-off opens a case at once', async () => {
  const { reference } = await buy();
  await listShows(reference, {});
  await listShows(reference, { status: 'CHARGEBACK' });
  await decide(desk, reference, 'write-off');
  await verifySays(reference, { status: 'CHARGEBACK' });
  await listShows(reference, { status: 'CHARGEBACK' });
  await verifySays(reference);
  expect(await look(desk, reference)).toMatchObject({ cases: ['refund_not_shown 0 850000 NGN'] });
});

test('a reversed row beside a paid one counts as outflow, and a person explains it', async () => {
  const { reference, orderId } = await buy();
  await listShows(reference, {});
  await writeDown(orderId, '3400');
  const rows = [{}, refunded(reference, 3400), second(reference, { status: 'REVERSED' })];
  expect(await listShows(reference, ...rows)).toMatchObject({ cases: ['reversed 0 850000 NGN'] });
  expect(await decide(desk, reference, 'explain')).toMatchObject({ exit: 0 });
  expect(await inTheEnd(reference, ...rows)).toMatchObject(FINE);
});

test('a second charge is kept when verify takes a reversal back before the history is applied', async () => {
  const { reference } = await buy();
  expect(await listShows(reference, {}, second(reference))).toMatchObject(CHARGED_AGAIN);
  await verifySays(reference, { status: 'CHARGEBACK' });
  await verifySays(reference);
  expect(await inTheEnd(reference, {}, second(reference))).toMatchObject(CHARGED_AGAIN);
});

test('a second charge is kept when verify reports a refund of the first that the history already showed', async () => {
  const { reference, orderId } = await buy();
  await writeDown(orderId, '8500');
  const rows = [{ status: 'REFUNDED' }, second(reference)];
  expect(await listShows(reference, ...rows)).toMatchObject(CHARGED_AGAIN);
  await verifySays(reference, { status: 'REFUNDED' });
  expect(await inTheEnd(reference, ...rows)).toMatchObject(CHARGED_AGAIN);
});

test('after both charges were refunded, the second one is no third charge when verify first reports it', async () => {
  const { reference, orderId } = await buy();
  await listShows(reference, {}, second(reference));
  await decide(desk, reference, 'refund', '--number', `RF-${reference}`);
  await writeDown(orderId, '8500');
  const rows = [{ status: 'REFUNDED' }, second(reference, { status: 'REFUNDED' })];
  await listShows(reference, ...rows);
  await verifySays(reference, second(reference));
  expect(await inTheEnd(reference, ...rows)).toMatchObject(FINE);
});

test('a partial refund that the history shows late does not enlarge the second charge', async () => {
  const { reference, orderId } = await buy();
  await listShows(reference, {}, second(reference));
  await writeDown(orderId, '3400');
  await verifySays(reference, { amount_refunded: 3400 });
  expect(await listShows(reference, {}, second(reference))).toMatchObject(CHARGED_AGAIN);
  const rows = [{}, refunded(reference, 3400), second(reference)];
  expect(await listShows(reference, ...rows)).toMatchObject(CHARGED_AGAIN);
});

const chargedBack = (reference: string) => ({ id: `C-${reference}`, status: 'CHARGEBACK', amount: -8500 });

test.each(['CHARGEBACK', 'REFUNDED', 'SUCCESS'])(
  'a payment refunded and also charged back is reported as a loss, also when verify says %s',
  async (status) => {
    const { reference, orderId } = await buy();
    await writeDown(orderId, '8500');
    const first = refunded(reference, 8500);
    expect(await listShows(reference, {}, first)).toMatchObject({ cases: [] });
    await verifySays(reference, { status });
    const lost = { cases: ['reversed 0 850000 NGN'] };
    expect(await inTheEnd(reference, {}, first, chargedBack(reference))).toMatchObject(lost);
    expect(await decide(desk, reference, 'explain')).toMatchObject({ exit: 0 });
    expect(await inTheEnd(reference, {}, first, chargedBack(reference))).toMatchObject({ cases: [] });
  },
);

test('a payment charged back, written off and also refunded is reported as a loss', async () => {
  const { reference } = await buy();
  await verifySays(reference, { status: 'CHARGEBACK' });
  await listShows(reference, {}, chargedBack(reference));
  await decide(desk, reference, 'write-off');
  const rows = [{}, chargedBack(reference), refunded(reference, 8500)];
  expect(await listShows(reference, ...rows)).toMatchObject({ cases: ['reversed 0 850000 NGN'] });
});

test('after a partial refund, a chargeback of the full amount opens a case for the full amount', async () => {
  const { reference, orderId } = await buy();
  await writeDown(orderId, '3400');
  await listShows(reference, {}, refunded(reference, 3400));
  await verifySays(reference, { status: 'CHARGEBACK' });
  const rows = [{}, refunded(reference, 3400), chargedBack(reference)];
  expect(await listShows(reference, ...rows)).toMatchObject({ cases: ['reversed 0 850000 NGN'] });
});

test.each(['8500', '3400'])(
  'refunded (%s) as a state, and charged back in full as a row: the full loss is reported',
  async (part) => {
    const { reference, orderId } = await buy();
    await writeDown(orderId, part);
    const state = { amount_refunded: Number(part) };
    await verifySays(reference, state);
    expect(await listShows(reference, state)).toMatchObject({ cases: [] });
    await verifySays(reference, { status: 'CHARGEBACK' });
    const lost = { cases: ['reversed 0 850000 NGN'] };
    expect(await inTheEnd(reference, { ...state, disputed: true }, chargedBack(reference))).toMatchObject(lost);
    expect(await inTheEnd(reference, state, chargedBack(reference))).toMatchObject(lost);
  },
);

test('a partial chargeback that was written off, and a second charge refunded by the advice, leave no case', async () => {
  const { reference } = await buy();
  const first = { status: 'REFUNDED', amount_refunded: 3400 };
  await verifySays(reference, first);
  expect(await listShows(reference, first)).toMatchObject({ cases: ['reversed 0 340000 NGN'] });
  await decide(desk, reference, 'write-off');
  await verifySays(reference, second(reference, { amount: 3400 }));
  await listShows(reference, first, second(reference, { amount: 3400 }));
  await decide(desk, reference, 'refund', '--number', `RF-${reference}`);
  const gone = second(reference, { amount: 3400, status: 'REFUNDED' });
  await verifySays(reference, gone);
  expect(await inTheEnd(reference, first, gone)).toMatchObject(FINE);
});

test('a chargeback between two partial refunds, shown only by the history, makes no new charge', async () => {
  const { reference, orderId } = await buy();
  await listShows(reference, {});
  const rows: object[] = [{}, { id: `S-${reference}`, amount: -1000 }];
  await writeDown(orderId, '1000');
  await verifySays(reference, { amount_refunded: 1000 });
  await listShows(reference, ...(rows as Record<string, unknown>[]));
  rows.push({ id: `C-${reference}`, status: 'CHARGEBACK', amount: -3400 });
  expect(await inTheEnd(reference, ...rows)).toMatchObject({ cases: ['reversed 0 340000 NGN'] });
  await decide(desk, reference, 'write-off');
  await desk.run('orders', 'refund', orderId, '1000', '--number', 'the second one');
  await verifySays(reference, { amount_refunded: 2000 });
  expect(await look(desk, reference)).toMatchObject(FINE);
  rows.push({ id: `T-${reference}`, amount: -1000 });
  const money = ['NGN received 850000 outflow 540000 captured 850000 refunded 200000 written_off 340000'];
  expect(await inTheEnd(reference, ...rows)).toMatchObject({ ...FINE, money });
});

test('of two charges one is charged back: the other one pays, and a person explains it', async () => {
  const { reference } = await buy();
  await listShows(reference, {}, second(reference));
  await verifySays(reference, { status: 'CHARGEBACK' });
  const rows = [{ status: 'CHARGEBACK' }, second(reference)];
  expect(await listShows(reference, ...rows)).toMatchObject({ cases: ['contradicted 0 850000 NGN'] });
  expect(await decide(desk, reference, 'write-off')).toMatchObject({ exit: 1 });
  expect(await decide(desk, reference, 'explain')).toMatchObject({ exit: 0 });
  expect(await inTheEnd(reference, ...rows)).toMatchObject({ cases: [] });
  // Then the other one is charged back, too.
  const both = [{ status: 'CHARGEBACK' }, second(reference, { status: 'CHARGEBACK' })];
  expect(await listShows(reference, ...both)).toMatchObject({ cases: ['reversed 0 850000 NGN'] });
  expect(await decide(desk, reference, 'write-off')).toMatchObject({ exit: 0 });
  expect(await inTheEnd(reference, ...both)).toMatchObject({ cases: [] });
});

test('an answer without an id between two answers about one reversal does not double the reversal', async () => {
  const { reference } = await buy();
  await verifySays(reference, { status: 'CHARGEBACK' });
  await verifySays(reference, { status: 'PENDING', id: null });
  await verifySays(reference, { status: 'REVERSED' });
  const money = ['NGN received 850000 outflow 850000 captured 850000'];
  expect(await look(desk, reference)).toMatchObject({ cases: ['reversed 0 850000 NGN'], money });
});

test('verify that alternates between two charges reports two charges and one refund', async () => {
  const { reference, orderId } = await buy();
  await writeDown(orderId, '3400');
  for (const says of [{ amount_refunded: 3400 }, second(reference), { amount_refunded: 3400 }])
    await verifySays(reference, says);
  const money = ['NGN received 1700000 outflow 340000 captured 850000 refunded 340000'];
  expect(await look(desk, reference)).toMatchObject({ ...CHARGED_AGAIN, money });
});
