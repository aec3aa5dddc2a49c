import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import { happens as isTold, tell } from '../money/support.ts';
import { eventually } from '../support/eventually.ts';
import { befall, healService } from '../support/failures.ts';
import { comeBack } from '../support/outside.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { openBooks, rowOf } from './books.ts';
import { buy, happens, payAsStranger } from './makers.ts';
import { decide, letPass, look, startDesk, type Desk } from './support.ts';

// Regression tests of another adversarial review: histories that show a charge in several rows, and
// changes between two decisions. Every order is one of NGN 8500.00.

type Row = Record<string, unknown>;

let desk: Desk;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  receiver.answer(500);
  desk = await startDesk({ env: receiver.env });
});
afterEach(() => healService(desk));
afterAll(async () => {
  await desk.stop();
  await receiver.close();
});

/** Replaces the rows of a payment in the history from now on, and removes all other faults. */
async function listInstead(reference: string, replace: (row: Row) => Row[]): Promise<void> {
  const all = await desk.sandboxGet<{ list: Row[] }[]>('/transactions');
  const rows = all.flatMap(({ list }) => list);
  const data = rows.flatMap((row) => (row.reference === reference ? replace(row) : [row]));
  await healService(desk);
  await befall(desk, 'history', 'body', { body: { status: true, data: { data, hasNextPage: false } }, times: 0 });
}

/**
 * Runs twice: the first run verifies the payment if necessary, and the second one applies the
 * history.
 */
async function hear(reference: string): Promise<void> {
  const pass = () => letPass(desk, reference, '1 minute').then(() => desk.reconcile());
  await pass();
  await pass();
}

test('a run does not agree while the history has a reference of the other mode, which it cannot apply', async () => {
  const reference = await payAsStranger(desk);
  await desk.reconcile();
  await decide(desk, reference, 'keep');
  expect(await desk.reconcile()).toMatchObject({ exit: 0, report: { verdict: 'agreed' } });
  // All of that happened with the other key.
  for (const table of ['cases', 'payments'])
    await desk.database.query(`UPDATE ${table} SET mode = 'live' WHERE reference = $1`, [reference]);
  const reason = expect.stringMatching(/^1 payments that differ could not be/) as unknown;
  expect(await desk.reconcile()).toMatchObject({ exit: 1, report: { verdict: 'findings', reason } });
  await happens(desk, reference, 'hide', { from: 'list', hidden: true });
});

const CHARGEBACK = { status: 'CHARGEBACK' };
const FIVE_BACK = { status: 'REFUNDED', amount_refunded: 5 };
const all = {
  message: 'held',
  cases: ['reversed 0 850000 NGN'],
  money: ['NGN received 850000 outflow 850000 captured 850000'],
};
const five = {
  message: 'held',
  cases: ['reversed 0 500 NGN'],
  money: ['NGN received 850000 outflow 500 captured 850000'],
};
const booked = { message: 'goes', cases: [], money: ['NGN received 850000 outflow 500 captured 850000 refunded 500'] };
test.each([
  ['gone', CHARGEBACK, 'newer', 0, all],
  ['reversed', { ...CHARGEBACK, amount: undefined }, 'newer', 0, all],
  ['reversed without a figure', FIVE_BACK, 'older', 0, five],
  ['partly refunded', FIVE_BACK, 'newer', 5, booked],
])(
  'rows of one id, paid and then %s (%j; it is the %s one), are one charge',
  async (_what, says, which, back, stands) => {
    const { orderId, reference } = await buy(desk);
    if (back > 0) await desk.run('orders', 'refund', orderId, String(back), '--number', reference);
    const both = (row: Row): Row[] => [{ ...row, ...says }, row];
    await listInstead(reference, (row) => (which === 'newer' ? both(row) : both(row).reverse()));
    await hear(reference);
    expect(await look(desk, reference)).toEqual({ order: 'paid', ...stands });
  },
);

test('a chargeback with its own id, in verify and the history, opens a case and holds order.paid', async () => {
  const { reference } = await buy(desk);
  let data: Row = {};
  await listInstead(reference, (row) => [(data = { ...row, ...CHARGEBACK, id: 'of its own' }), row]);
  await befall(desk, 'verify', 'body', { reference, body: { status: true, data }, times: 0 });
  await tell(desk, reference);
  await hear(reference);
  // It may also be a second charge that came and left. So both sources together show no loss, but
  // verify alone does.
  expect(await look(desk, reference)).toMatchObject({ message: 'held', cases: ['contradicted 0 850000 NGN'] });
});

test('an outflow under an unknown reference is beyond reach, and nothing is unexplained', async () => {
  const { reference } = await buy(desk);
  const ghost = { id: 'ghost', reference: 'ghostofthepast', status: 'REFUNDED', amount: -8500 };
  await listInstead(reference, (row) => [row, { ...row, ...ghost }]);
  const { report } = await desk.reconcile();
  const sums = report.identity.find(({ currency }) => currency === 'NGN');
  expect(sums).toMatchObject({ difference: '0.00', classes: { beyond_reach: '-8500.00' } });
});

test('a payment with a ledger in a second currency counts once in the sums', async () => {
  const earned = async (): Promise<number> => {
    const { report } = await desk.reconcile();
    return Number(report.identity.find(({ currency }) => currency === 'NGN')?.earned);
  };
  await healService(desk);
  const before = await earned();
  const { reference } = await desk.checkout();
  const data = { id: `usd-${reference}`, reference, status: 'REVERSED', amount: 10, currency: 'USD' };
  await befall(desk, 'verify', 'body', { reference, body: { status: true, data } });
  await tell(desk, reference);
  await isTold(desk, reference, 'pay');
  expect(await look(desk, reference)).toMatchObject({ order: 'paid' });
  expect(await earned()).toBe(before + 8500);
});

test('a run over a window between an unmatched payment and its refund opens no case again', async () => {
  const reference = await payAsStranger(desk);
  await desk.reconcile();
  await decide(desk, reference, 'refund', '--number', 'RF-of-a-stranger');
  await listInstead(reference, (row) => [{ ...row, id: 'refund', status: 'REFUNDED', amount: -8500 }, row]);
  await desk.reconcile();
  const settled = await look(desk, reference);
  expect(settled).toMatchObject({ cases: [], money: ['NGN received 850000 outflow 850000 returned 850000'] });
  await listInstead(reference, (row) => [row]);
  await desk.reconcile('--since', '2026-01-01T00:00:00Z', '--until', new Date().toISOString());
  expect(await look(desk, reference)).toEqual(settled);
});

test('an unmatched payment stays held when its row rolls off, less the refund whose row remains', async () => {
  const reference = await payAsStranger(desk);
  await desk.reconcile();
  expect(await look(desk, reference)).toMatchObject({ cases: ['unknown_reference 850000 0 NGN'] });
  await listInstead(reference, (row) => [{ ...row, id: 'part', status: 'REFUNDED', amount: -5 }]);
  for (let run = 0; run < 2; run += 1) await desk.reconcile();
  expect(await look(desk, reference)).toMatchObject({ cases: ['unknown_reference 849500 0 NGN'] });
});

test('a refund that is not shown is a case again after a second charge beside it was kept', async () => {
  const { orderId, reference } = await buy(desk);
  await desk.run('orders', 'refund', orderId, '500', '--number', 'RF-unseen');
  await letPass(desk, reference, '11 days');
  await desk.reconcile();
  await happens(desk, reference, 'pay');
  await desk.reconcile();
  expect(await look(desk, reference)).toMatchObject({ cases: ['charged_again 850000 0 NGN'] });
  expect(await decide(desk, reference, 'keep')).toMatchObject({ exit: 0 });
  await desk.reconcile();
  expect(await look(desk, reference)).toMatchObject({ cases: ['refund_not_shown 0 50000 NGN'] });
});

test('a history row that doubts a paid order causes a verification, which holds its message', async () => {
  const { reference } = await buy(desk);
  await happens(desk, reference, 'record', { disputed: true });
  await desk.reconcile();
  expect(await look(desk, reference)).toMatchObject({ message: 'held', cases: ['contradicted 0 850000 NGN'] });
});

test('an amount 100 times too large pays after the adapter is corrected, and nothing is held', async () => {
  const { reference } = await desk.checkout();
  await isTold(desk, reference, 'pay', { amount: 850_000 });
  expect(await look(desk, reference)).toMatchObject({ order: 'review', cases: ['unit_error 85000000 0 NGN'] });
  await isTold(desk, reference, 'record', { amount: 8500 });
  expect(await look(desk, reference)).toMatchObject({ order: 'paid', cases: [] });
});

/**
 * Waits until the order's `order.paid` meets this condition.
 * @param statement finds the message, or also changes it
 */
const paidIs = (orderId: string, condition: string, statement = 'SELECT 1 FROM messages') => {
  const returning = statement.startsWith('UPDATE') ? 'RETURNING 1' : '';
  const sql = `${statement} WHERE order_id = $1 AND type = 'order.paid' AND ${condition} ${returning}`;
  return eventually(async () => (await desk.database.query(sql, [orderId])).length === 1);
};

test('a message that was given up and then held is listed as given up when the hold ends', async () => {
  const { orderId, reference } = await buy(desk);
  const old = `UPDATE messages SET next_try_at = now(), first_try_at = now() - interval '4 days'`;
  await paidIs(orderId, 'tries > 0 AND leased_until IS NULL', old);
  await paidIs(orderId, 'next_try_at IS NULL');
  await isTold(desk, reference, 'record', { status: 'FAILED' });
  expect(await look(desk, reference)).toMatchObject({ message: 'held' });
  await isTold(desk, reference, 'record', { status: 'SUCCESS' });
  expect(await look(desk, reference)).toMatchObject({ message: 'goes', cases: [] });
  const { out } = await desk.run('cases', 'list', '--json');
  expect(JSON.parse(out)).toContainEqual(expect.objectContaining({ class: 'message', orderId }));
});

test('a message that the receiver accepts while it is held is recorded as sent', async () => {
  const { orderId, reference } = await desk.checkout();
  const asked: ((status: number) => void)[] = [];
  receiver.answer(({ data }) => (data.orderId === orderId ? new Promise((answer) => asked.push(answer)) : 500));
  await isTold(desk, reference, 'pay');
  await eventually(() => asked.length > 0);
  await isTold(desk, reference, 'reverse');
  expect(await look(desk, reference)).toMatchObject({ message: 'held', cases: ['reversed 0 850000 NGN'] });
  asked[0]?.(204);
  await paidIs(orderId, 'sent_at IS NOT NULL AND held_by IS NULL');
});

test('a failed order keeps its address while it can still be paid, and an ended one does not', async () => {
  const email = 'may.go.on@example.com';
  const { orderId, reference } = await desk.checkout({ email });
  await happens(desk, reference, 'fail');
  await comeBack(desk, reference);
  const erase = () => desk.run('erase', email, '--json').then(({ out }) => JSON.parse(out) as object);
  expect(await erase()).toMatchObject({ erased: 0, open: [orderId] });
  await desk.run('orders', 'cancel', orderId, '--note', 'a test');
  expect(await erase()).toMatchObject({ erased: 1, open: [] });
});

test('an interrupted run starts again under an adapter that reads amounts differently', async () => {
  const books = await openBooks({ count: 12 });
  try {
    books.service.rows = books.orders.map((order) => rowOf(order, { amount: Number(order.amount) }));
    for (const row of books.service.rows as Row[]) books.truth.set(String(row.reference), row);
    books.service.faults = [{ kind: 'status', page: 3 }];
    expect(await books.reconcile()).toMatchObject({ exit: 2, report: { verdict: 'incomplete' } });
    const GATEWAY_ADAPTER = fileURLToPath(new URL('../support/adapters/minor.ts', import.meta.url));
    const agreed = { exit: 0, report: { verdict: 'agreed', matched: 12 } };
    expect(await books.reconcile([], { GATEWAY_ADAPTER })).toMatchObject(agreed);
  } finally {
    await books.close();
  }
});

// An unknown currency could break every later run.
test('a reversal in an unknown currency proves nothing, and breaks neither run nor explain', async () => {
  const { orderId, reference } = await buy(desk);
  await isTold(desk, reference, 'record', { status: 'REVERSED', currency: 'USDC' });
  await hear(reference);
  expect(await desk.reconcile()).toMatchObject({ exit: 1, report: { complete: true } });
  expect(await desk.run('explain', orderId)).toMatchObject({ exit: 0, out: expect.stringMatching(/said “REVERSED”/) });
  expect(await look(desk, reference)).toMatchObject({ message: 'held', cases: ['contradicted 0 850000 NGN'] });
});

test('a chargeback after a partial refund takes the rest, although it names the refunded amount', async () => {
  const { orderId, reference } = await buy(desk);
  await desk.run('orders', 'refund', orderId, '5', '--number', reference);
  await isTold(desk, reference, 'record', { amount_refunded: 5 });
  expect(await look(desk, reference)).toMatchObject({ message: 'goes', cases: [] });
  await isTold(desk, reference, 'record', { status: 'CHARGEBACK', amount_refunded: 5 });
  expect(await look(desk, reference)).toMatchObject({ message: 'held', cases: ['reversed 0 849500 NGN'] });
});
