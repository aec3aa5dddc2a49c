import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { EMPTY } from '../../src/ledger/ledger.ts';
import { columnsOf } from '../../src/ledger/stored.ts';
import { tell } from '../money/support.ts';
import { befall } from '../support/failures.ts';
import { decide, letPass, look, scripted, startDesk, type Desk } from './support.ts';

// Histories that show outflow late, show money again, or have a doubt. Every order is one of NGN
// 8500.00.

let desk: Desk;
beforeAll(async () => {
  desk = await startDesk();
});
afterAll(() => desk.stop());

const { verifySays, listShows, buy } = scripted(() => desk);

test.each([
  ['in part', '4000', { amount_refunded: 4000 }, 'goes', true],
  ['in part, before the history was ever applied', '4000', { amount_refunded: 4000 }, 'goes', false],
  ['whole', '8500', { status: 'REFUNDED' }, 'held', true],
])('money refunded %s is no case if the history never shows the refund', async (_how, back, says, message, isHeard) => {
  const { reference, orderId } = await buy();
  if (isHeard) await listShows(reference, {});
  await desk.run('orders', 'refund', orderId, back, '--number', `RF-${reference}`);
  await verifySays(reference, says);
  const money = [`NGN received 850000 outflow ${back}00 captured 850000 refunded ${back}00`];
  for (const time of ['1 hour', '1 day', '12 days']) {
    await letPass(desk, reference, time);
    expect(await listShows(reference, {})).toEqual({ order: 'paid', message, cases: [], money });
  }
});

test('a refund that the history shows as a smaller amount counts as shown, and a later chargeback of the rest is a case', async () => {
  const { reference, orderId } = await buy();
  await listShows(reference, {});
  await desk.run('orders', 'refund', orderId, '4400', '--number', `RF-${reference}`);
  const less = { amount: 4100 };
  expect(await listShows(reference, less)).toMatchObject({ cases: [] });
  await letPass(desk, reference, '12 days');
  expect(await listShows(reference, less)).toMatchObject({ cases: [] });
  const rows = [less, { id: `C-${reference}`, status: 'CHARGEBACK', amount: -4100 }];
  expect(await listShows(reference, ...rows)).toMatchObject({ cases: ['reversed 0 410000 NGN'] });
  await decide(desk, reference, 'write-off');
  await letPass(desk, reference, '12 days');
  const money = ['NGN received 850000 outflow 410000 captured 850000 refunded 440000 written_off 410000'];
  expect(await listShows(reference, ...rows)).toMatchObject({ cases: [], money });
});

test('a dispute that only the history reports is a case, and so is the money won back after a write-off', async () => {
  const { reference } = await buy();
  expect(await listShows(reference, {})).toMatchObject({ cases: [] });
  expect(await listShows(reference, { status: 'CHARGEBACK' })).toMatchObject({ cases: ['reversed 0 850000 NGN'] });
  expect(await decide(desk, reference, 'write-off')).toMatchObject({ exit: 0 });
  expect(await listShows(reference, { status: 'CHARGEBACK' })).toMatchObject({ cases: [] });
  // An absent row, or a status word that proves nothing, does not mean that the money came back.
  expect(await listShows(reference)).toMatchObject({ cases: [] });
  expect(await listShows(reference, { status: 'FAILED' })).toMatchObject({ cases: [] });
  expect(await listShows(reference, {})).toMatchObject({ cases: ['refund_not_shown 0 850000 NGN'] });
});

test.each([3400, 8500])(
  'after a won dispute, a refund of %s that the history shows late is no second charge',
  async (amount) => {
    const { reference, orderId } = await buy();
    for (const says of [{ status: 'CHARGEBACK' }, {}]) {
      await verifySays(reference, says);
      await listShows(reference, says);
    }
    expect(await look(desk, reference)).toMatchObject({ order: 'paid', cases: [] });
    await desk.run('orders', 'refund', orderId, String(amount), '--number', `RF-${reference}`);
    await verifySays(reference, { amount_refunded: amount });
    expect(await listShows(reference, {})).toMatchObject({ cases: [] });
    await letPass(desk, reference, '12 days');
    expect(await listShows(reference, {})).toMatchObject({ cases: [] });
    expect(await listShows(reference, { amount_refunded: amount })).toMatchObject({ cases: [] });
  },
);

test('a dispute that the history reports as won in another row is explained once verify reports it, too', async () => {
  const { reference } = await buy();
  await verifySays(reference, { status: 'CHARGEBACK' });
  const lost = { id: `C-${reference}`, status: 'CHARGEBACK', amount: -8500 };
  expect(await listShows(reference, {}, lost)).toMatchObject({ cases: ['reversed 0 850000 NGN'] });
  const won = { id: `W-${reference}`, status: 'SUCCESS' };
  expect(await listShows(reference, {}, lost, won)).toMatchObject({ cases: ['contradicted 0 850000 NGN'] });
  await verifySays(reference);
  const back = { message: 'goes', cases: ['refund_not_shown 0 850000 NGN'] };
  expect(await look(desk, reference)).toMatchObject(back);
  expect(await listShows(reference, {}, lost, won)).toMatchObject(back);
  expect(await decide(desk, reference, 'explain')).toMatchObject({ exit: 0 });
  expect(await listShows(reference, {}, lost, won)).toMatchObject({ message: 'goes', cases: [] });
});

test('a refund of an unmatched payment that is not made opens a case after ten days', async () => {
  const reference = 'strangerwhowaits';
  expect(await listShows(reference, {})).toMatchObject({ cases: ['unknown_reference 850000 0 NGN'] });
  await decide(desk, reference, 'refund', '--number', 'RF-1');
  expect(await listShows(reference, {})).toMatchObject({ cases: [] });
  await letPass(desk, reference, '11 days');
  expect(await listShows(reference, {})).toMatchObject({ cases: ['refund_not_shown 0 850000 NGN'] });
  expect(await listShows(reference, { status: 'REFUNDED' })).toMatchObject({ cases: [] });
});

test('money in doubt that the history shows as refunded pays nothing when verify drops the doubt', async () => {
  const { reference } = await desk.checkout();
  await verifySays(reference, { paymentStatus: 'PROCESSING' });
  expect(await look(desk, reference)).toMatchObject({ order: 'review', cases: ['unproven 850000 0 NGN'] });
  await listShows(reference, {}, { id: 'refund', amount: -8500 });
  await verifySays(reference, { paymentStatus: 'SUCCESS' });
  const money = ['NGN received 850000 outflow 850000'];
  const cases = ['contradicted 850000 0 NGN'];
  expect(await look(desk, reference)).toEqual({ order: 'review', message: null, cases, money });
});

test('a refund that only the history shows is kept when verify changes its state and changes it back', async () => {
  const { reference, orderId } = await buy();
  await desk.run('orders', 'refund', orderId, '3400', '--number', `RF-${reference}`);
  const gone = { id: `R-${reference}`, amount: -3400 };
  const money = ['NGN received 850000 outflow 340000 captured 850000 refunded 340000'];
  const stands = { order: 'paid', cases: [], money };
  expect(await listShows(reference, {}, gone)).toMatchObject(stands);
  await verifySays(reference, { status: 'PENDING' });
  await verifySays(reference);
  expect(await look(desk, reference)).toMatchObject(stands);
  // A dispute, won: verify has reported all of it as outflow, and now reports none.
  await verifySays(reference, { status: 'CHARGEBACK' });
  expect(await look(desk, reference)).toMatchObject({ cases: ['reversed 0 510000 NGN'] });
  await verifySays(reference);
  const back = { ...stands, cases: ['refund_not_shown 0 340000 NGN'] };
  expect(await listShows(reference, {}, gone)).toMatchObject(back);
  // From now on, verify reports it, too.
  await verifySays(reference, { amount_refunded: 3400 });
  expect(await listShows(reference, {}, gone)).toMatchObject(stands);
});

test('a history that showed a refund late, and then more than before, shows a second charge', async () => {
  const { reference, orderId } = await buy();
  await listShows(reference, {});
  await desk.run('orders', 'refund', orderId, '3400', '--number', `RF-${reference}`);
  await verifySays(reference, { amount_refunded: 3400 });
  const refunded = ['NGN received 850000 outflow 340000 captured 850000 refunded 340000'];
  expect(await listShows(reference, {})).toMatchObject({ cases: [], money: refunded });
  expect(await listShows(reference, { amount: 5100 })).toMatchObject({ cases: [], money: refunded });
  const second = { id: `B-${reference}`, amount: 3400 };
  const again = await listShows(reference, { amount_refunded: 3400 }, second);
  expect(again).toMatchObject({ cases: ['charged_again 340000 0 NGN'] });
});

test('a doubt of the history about a paid order is a case until the history drops it, whatever verify reports', async () => {
  const { reference } = await buy();
  const stands = { message: 'held', cases: ['contradicted 0 850000 NGN'] };
  expect(await listShows(reference, { disputed: true })).toMatchObject(stands);
  await tell(desk, reference);
  expect(await look(desk, reference)).toMatchObject(stands);
  expect(await listShows(reference, { disputed: true })).toMatchObject(stands);
  expect(await decide(desk, reference, 'explain')).toMatchObject({ exit: 0 });
  await desk.database.query('UPDATE payments SET next_check_at = NULL WHERE reference = $1', [reference]);
  expect(await listShows(reference, {})).toMatchObject({ message: 'goes', cases: [] });
});

test('a second charge that was refunded before a decision is booked as returned', async () => {
  const { reference } = await buy();
  const second = { id: `B-${reference}` };
  const gone = { ...second, status: 'REFUNDED' };
  await verifySays(reference, second);
  expect(await listShows(reference, {}, second)).toMatchObject({ cases: ['charged_again 850000 0 NGN'] });
  await verifySays(reference, gone);
  const money = ['NGN received 1700000 outflow 850000 captured 850000 returned 850000'];
  const stands = { order: 'paid', message: 'goes', cases: [], money };
  expect(await listShows(reference, {}, gone)).toEqual(stands);
  await letPass(desk, reference, '12 days');
  expect(await listShows(reference, {}, gone)).toEqual(stands);
});

test('money that the history doubts pays nothing by itself', async () => {
  const { reference } = await desk.checkout();
  await verifySays(reference, { status: 'PENDING' });
  await listShows(reference, { disputed: true });
  await verifySays(reference);
  const waits = { order: 'review', message: null, cases: ['contradicted 850000 0 NGN'] };
  expect(await look(desk, reference)).toMatchObject(waits);
});

test('a later doubt of the history holds an order that a person accepted, and its message', async () => {
  const { reference } = await desk.checkout();
  await verifySays(reference, { amount: 8000 });
  await decide(desk, reference, 'accept');
  expect(await look(desk, reference)).toMatchObject({ order: 'paid', message: 'goes' });
  const doubted = { message: 'held', cases: ['contradicted 0 800000 NGN'] };
  expect(await listShows(reference, { amount: 8000, disputed: true })).toMatchObject(doubted);
});

test('a loss that was explained while verify said pending is a case again when verify says failed', async () => {
  const { reference } = await buy();
  await listShows(reference, {});
  await verifySays(reference, { status: 'PENDING' });
  await decide(desk, reference, 'explain');
  expect(await look(desk, reference)).toMatchObject({ cases: [] });
  await verifySays(reference, { status: 'FAILED' });
  expect(await look(desk, reference)).toMatchObject({ cases: ['contradicted 0 850000 NGN'] });
});

test('a message sent in spite of missing money is held again when more is missing', async () => {
  const { reference, orderId } = await buy();
  await verifySays(reference, { amount_refunded: 3400 });
  const missing = { message: 'held', cases: ['reversed 0 340000 NGN'] };
  expect(await look(desk, reference)).toMatchObject(missing);
  const [message] = await desk.database.query<{ id: string }>('SELECT id FROM messages WHERE order_id = $1', [orderId]);
  const resend = ['messages', 'resend', message?.id ?? '', '--despite-missing-money', '--note', 'a test'];
  expect(await desk.run(...resend)).toMatchObject({ exit: 0 });
  await tell(desk, reference);
  expect(await look(desk, reference)).toMatchObject({ ...missing, message: 'goes' });
  await verifySays(reference, { status: 'CHARGEBACK' });
  expect(await look(desk, reference)).toMatchObject({ message: 'held', cases: ['reversed 0 850000 NGN'] });
});

test('a payment refunded in part that the history lacks for a day is absent, and keeps its refund', async () => {
  const { reference, orderId } = await buy();
  await desk.run('orders', 'refund', orderId, '3400', '--number', `RF-${reference}`);
  await verifySays(reference, { amount_refunded: 3400 });
  const row = { id: `R-${reference}`, status: 'REFUNDED', amount: -3400 };
  expect(await listShows(reference, {}, row)).toMatchObject({ cases: [] });
  expect(await listShows(reference)).toMatchObject({ cases: ['absent_from_history 0 510000 NGN'] });
  const money = ['NGN received 850000 outflow 340000 captured 850000 refunded 340000'];
  // The history lacks the charge, and shows its refund.
  expect(await listShows(reference, row)).toMatchObject({ money });
  expect(await listShows(reference, {}, row)).toMatchObject({ cases: [], money });
});

test.each(['as a row', 'as a state'])(
  'outflow that the history shows, %s, keeps an order without a webhook from being paid',
  async (how) => {
    const { reference } = await desk.checkout();
    const data = { id: `A-${reference}`, reference, status: 'SUCCESS', amount: 8500, currency: 'NGN' };
    await befall(desk, 'verify', 'body', { reference, body: { status: true, data }, times: 0 });
    await desk.database.query(`UPDATE payments SET next_check_at = now() + interval '5 hours' WHERE reference = $1`, [
      reference,
    ]);
    const row = { id: `R-${reference}`, status: 'REFUNDED', amount: -8500 };
    const rows = how === 'as a row' ? [{}, row] : [{ status: 'REFUNDED' }];
    const gone = { order: 'review', message: null, cases: ['contradicted 850000 0 NGN'] };
    expect(await listShows(reference, ...rows)).toMatchObject(gone);
    expect(await listShows(reference, ...rows)).toMatchObject(gone);
  },
);

test('each column of a ledger is written when its row already exists', async () => {
  const text = `SELECT column_name AS name FROM information_schema.columns WHERE table_schema = 'public'
    AND table_name = 'ledgers' AND column_name NOT IN ('reference', 'currency', 'history_word')`;
  const columns = (await desk.database.query<{ name: string }>(text)).map(({ name }) => name);
  const written = Object.keys(columnsOf(EMPTY)).map((name) => name.replace(/[A-Z]/g, (one) => `_${one.toLowerCase()}`));
  expect(written.sort()).toEqual(columns.sort());
});
