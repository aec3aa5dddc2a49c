import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import { buy, happens, payAsStranger, payUnseen } from './makers.ts';
import { letPass, look, startDesk, type Desk } from './support.ts';

// Cases and non-cases from the history alone. Only the run verifies payments.

let desk: Desk;
beforeAll(async () => {
  const GATEWAY_ADAPTER = fileURLToPath(new URL('till.ts', import.meta.url));
  desk = await startDesk({ worker: false, env: { GATEWAY_ADAPTER } });
});
afterAll(() => desk.stop());

type Row = { reference: string };
const rowsOf = async (one: Desk) =>
  (await one.sandboxGet<{ list: Row[] }[]>('/transactions')).flatMap(({ list }) => list);
/** Sets the pages of the history for the next run. */
async function list(one: Desk, ...pages: unknown[][]): Promise<void> {
  for (const [index, data] of pages.entries()) {
    const body = { status: true, data: { data, total: 500, hasNextPage: index < pages.length - 1 } };
    await one.sandboxPost('/faults', { endpoint: 'history', kind: 'body', body });
  }
}
/** The row of an unmatched payment. */
const strange = (index: number, more: object = {}) => {
  return {
    id: `strange-${index}`,
    reference: `strange${index}`,
    status: 'FAILED',
    amount: 10,
    currency: 'NGN',
    ...more,
  };
};

test('rows that are open, failed, refunded, set aside, in capitals or listed twice are no case', async () => {
  await desk.checkout();
  for (const act of ['fail', 'expire']) await happens(desk, (await desk.checkout()).reference, act);
  await happens(desk, (await desk.checkout()).reference, 'record', { currency: 'USD' });
  const [whole, part] = [await buy(desk), await buy(desk)];
  for (const [amount, { orderId, reference }] of [[8500, whole] as const, [500, part] as const]) {
    await desk.run('orders', 'refund', orderId, String(amount), '--number', `RF-${amount}`);
    await happens(desk, reference, 'reverse', { amount });
  }
  await desk.run('orders', 'refund', (await buy(desk)).orderId, '20.00', '--number', 'RF-20');
  const { reference } = await desk.checkout();
  await happens(desk, reference, 'record', { reference: reference.toUpperCase() });
  await happens(desk, reference, 'pay');
  // Fifty sales of a till, rows of the live mode, and two unpaid rows without an order.
  const tills = Array.from({ length: 50 }, (_, index) => strange(index, { status: 'SUCCESS', channel: 'till' }));
  const isOther = [{ livemode: true }, { mode: 'live' }, { environment: 'production' }];
  const lives = isOther.map((more, index) => strange(100 + index, { status: 'SUCCESS', amount: 7, ...more }));
  const rows = await rowsOf(desk);
  const paid = rows.find((row) => row.reference === part.reference);
  await list(desk, [...rows, ...tills], [paid, ...lives, strange(200), strange(201, { status: 'EXPIRED' })]);

  const { exit, report } = await desk.reconcile();
  expect([exit, report.verdict, report.findings, report.items]).toEqual([0, 'agreed', {}, []]);
  expect(report.history).toMatchObject({
    pages: 2,
    unreadable: 0,
    setAside: { records: 53, totals: { NGN: '52100' } },
  });
  expect(report.repaired).toBe(1);
  const classes = { refunded: '-9020.00', not_shown: '20.00' };
  const sums = { serviceTotal: '25000.00', earned: '34000.00', classes, difference: '0.00' };
  expect(report.identity).toContainEqual({ currency: 'NGN', ...sums });
  expect(await desk.database.query('SELECT 1 FROM cases')).toEqual([]);
});

test('two charges without ids count as two, and one in another currency is held', async () => {
  const [twice, other] = [await payUnseen(desk, { id: null }, { times: 2 }), await payUnseen(desk)];
  await happens(desk, other, 'pay', { currency: 'USD' });
  for (let run = 0; run < 2; run += 1) await desk.reconcile();
  expect(await look(desk, twice)).toMatchObject({ order: 'paid', cases: ['charged_again 850000 0 NGN'] });
  const money = ['NGN received 850000 captured 850000', 'USD received 850000'];
  expect(await look(desk, other)).toMatchObject({ order: 'paid', money, cases: ['currency_mismatch 850000 0 USD'] });
});

test('a run of new rows judges no totals, and verifies', async () => {
  const [{ reference }, stranger] = [await buy(desk), await payAsStranger(desk)];
  await desk.reconcile();
  const since = new Date();
  const charged = (cases: string[]) => expect(look(desk, reference)).resolves.toMatchObject({ order: 'paid', cases });
  for (let charge = 0; charge < 2; charge += 1) await happens(desk, reference, 'pay');
  await happens(desk, stranger, 'pay', { amount: 1000 });
  const { report } = await desk.reconcile('--since', since.toISOString());
  expect([report.complete, report.identity, report.history.references]).toEqual([true, [], 2]);
  await charged([]);
  expect(await look(desk, stranger)).toMatchObject({ cases: ['unknown_reference 850000 0 NGN'] });
  await desk.reconcile();
  await charged(['charged_again 1700000 0 NGN']);
  await happens(desk, reference, 'reverse', { amount: 8500 });
  await desk.reconcile('--since', since.toISOString());
  await charged(['charged_again 1700000 0 NGN']);
  await desk.reconcile();
  await charged(['charged_again 850000 0 NGN']);
  expect(await look(desk, stranger)).toMatchObject({ cases: ['unknown_reference 950000 0 NGN'] });
});

test('a payment that verify forbids, and an unreadable row, keep no other order from being paid', async () => {
  const [forbidden, ...others] = await Promise.all(Array.from({ length: 4 }, () => payUnseen(desk)));
  const fault = { endpoint: 'verify', reference: forbidden, kind: 'status', status: 403, body: '<html>no</html>' };
  await desk.sandboxPost('/faults', { ...fault, contentType: 'text/html' });
  await list(desk, [...(await rowsOf(desk)), { ...strange(300), amount: '1e3', status: 'SUCCESS' }]);
  const { exit, report } = await desk.reconcile();
  expect([exit, report.verdict, report.history.unreadable]).toEqual([1, 'findings', 1]);
  expect(report.reason).toContain('1 rows of the history cannot be read');
  for (const reference of others) expect(await look(desk, reference)).toMatchObject({ order: 'paid' });
  expect(await look(desk, forbidden ?? '')).toMatchObject({ order: 'pending', cases: [] });
  await desk.reconcile();
  expect(await look(desk, forbidden ?? '')).toMatchObject({ order: 'paid', cases: [] });
});

test('a history is complete when it reports its end, whatever total it names', async () => {
  const rows = [...(await rowsOf(desk)), ...Array.from({ length: 130 }, (_, index) => strange(400 + index))];
  await list(desk, rows.slice(0, 100), rows.slice(100, 150), rows.slice(150));
  const { report } = await desk.reconcile();
  expect([report.complete, report.history]).toMatchObject([true, { pages: 3, records: rows.length }]);
});

test('a history that lacks more than ten paid payments is incomplete and decides nothing', async () => {
  for (let order = 0; order < 11; order += 1) await buy(desk);
  const before = await desk.database.query('SELECT * FROM cases ORDER BY id');
  await desk.sandboxPost('/faults', { endpoint: 'history', kind: 'cut-list', rows: 0 });
  const { exit, report } = await desk.reconcile();
  expect([exit, report.verdict, report.complete, report.items]).toEqual([2, 'incomplete', false, []]);
  expect(report.reason).toMatch(/^the history lacks \d+ of \d+ paid payments/);
  expect(await desk.database.query('SELECT * FROM cases ORDER BY id')).toEqual(before);
});

test('a person assigns an unmatched payment to an order, and it pays the order once', async () => {
  const stranger = await payAsStranger(desk);
  await desk.reconcile();
  const { orderId } = await desk.checkout();
  expect((await desk.run('after-restore')).out).toContain(stranger);
  const adopted = () => desk.run('after-restore', orderId, '--adopt', stranger);
  expect(await adopted()).toMatchObject({ exit: 0 });
  const paid = { order: 'paid', message: 'goes', cases: [], money: ['NGN received 850000 captured 850000'] };
  expect(await look(desk, stranger)).toEqual(paid);
  expect(await adopted()).toMatchObject({ exit: 1 });
  await desk.reconcile();
  expect(await look(desk, stranger)).toEqual(paid);
});

test('absence counts after the history’s lag, and earlier payments are set aside', async () => {
  const other = await startDesk({ worker: false, env: { GATEWAY_ADAPTER: '' } });
  try {
    for (let past = 0; past < 3; past += 1) await payAsStranger(other);
    const first = await other.reconcile('--begin');
    expect([first.exit, first.report.history.setAside.records]).toEqual([0, 3]);
    const [late, twice] = [await buy(other), await buy(other, { times: 3 })];
    await happens(other, late.reference, 'hide', { from: 'list', hidden: true });
    const { exit, report } = await other.reconcile();
    // The history shows two more, and lacks one.
    const classes = { charged_again: '17000.00', history_differs: '-8500.00' };
    expect([exit, report.findings, report.identity[0]?.classes]).toEqual([1, { charged_again: 1 }, classes]);
    // Reported money counts at once. Absent money does not.
    expect(await look(other, twice.reference)).toMatchObject({ cases: ['charged_again 1700000 0 NGN'] });
    expect(await look(other, late.reference)).toMatchObject({ message: 'goes', cases: [] });
    await letPass(other, late.reference, '11 minutes');
    await other.reconcile();
    expect(await look(other, late.reference)).toMatchObject({ cases: ['absent_from_history 0 850000 NGN'] });
  } finally {
    await other.stop();
  }
});
