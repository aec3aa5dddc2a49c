import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import { befall, healService } from '../support/failures.ts';
import { settle, statusOf } from '../support/outside.ts';
import { startDesk, type Desk } from './support.ts';

// The proof of cash: the total of the history less the payouts equals the balance. And the money
// that a restored database lacks.

let desk: Desk;
beforeAll(async () => {
  const adapter = fileURLToPath(new URL('../support/adapters/cash.ts', import.meta.url));
  desk = await startDesk({ env: { GATEWAY_ADAPTER: adapter } });
  for (const sku of ['ankara-tote', 'ankara-tote', 'brass-dallah'])
    await settle(desk, (await desk.checkout({ items: [{ sku, quantity: 1 }] })).reference);
});
afterEach(() => healService(desk));
afterAll(() => desk.stop());

/** Sets one answer of the service. */
const says = (endpoint: string, data: unknown, more: object = {}) =>
  befall(desk, endpoint, 'body', { body: { status: true, data }, ...more });
const dallah = { currency: 'KWD', balance: '18.500', difference: '0.000' };
const naira = (balance: string, difference: string) => ({ currency: 'NGN', balance, difference });
const page = (data: unknown[], hasNextPage = false) => ({ data, hasNextPage });

test('cash: the balances equal the history, to the last minor unit of each currency', async () => {
  const { exit, report } = await desk.reconcile();
  expect({ exit, ...report }).toMatchObject({ exit: 0, verdict: 'agreed', transfers: [] });
  expect(new Set(report.balances)).toEqual(new Set([naira('17000.00', '0.00'), dallah]));
});

test('cash: payouts on all pages are no difference, and a fee is one, with a line in the work list', async () => {
  const paidOut = [5_000, 2_000.5].map((amount, index) => ({ id: `out${index}`, amount, currency: 'NGN' }));
  await says('transfers', page(paidOut.slice(0, 1), true));
  await says('transfers', page(paidOut.slice(1)));
  await says('balances', [
    { currency: 'NGN', amount: 9_999.5 },
    { currency: 'KWD', amount: '18.250' },
  ]);
  const { report } = await desk.reconcile();
  expect(report.transfers).toEqual([{ currency: 'NGN', total: '7000.50' }]);
  const fee = { currency: 'KWD', balance: '18.250', difference: '-0.250' };
  expect(report.balances).toEqual([naira('9999.50', '0.00'), fee]);
  // An incomplete run does not replace the known difference.
  await befall(desk, 'history', 'status');
  expect(await desk.reconcile()).toMatchObject({ exit: 2 });
  const { out } = await desk.run('cases', 'list', '--json');
  expect(JSON.parse(out)).toMatchObject([{ class: 'balance', currency: 'KWD' }]);
});

test('cash: a currency whose whole balance is gone is a difference', async () => {
  await says('balances', [{ currency: 'NGN', amount: 17_000 }]);
  const { report } = await desk.reconcile();
  expect(report.balances).toContainEqual({ currency: 'KWD', balance: '0.000', difference: '-18.500' });
});

test.each<[what: string, endpoint: string, data: unknown, more?: object]>([
  ['balances that are no list', 'balances', 'a lot'],
  ['an inexact balance', 'balances', [{ currency: 'NGN', amount: '1e4' }]],
  ['a balance in an unknown currency', 'balances', [{ currency: 'ZZZ', amount: 1 }]],
  ['balances that fail', 'balances', [], { status: 500 }],
  ['an unreadable payout', 'transfers', page([{ id: 'out' }])],
  ['an inexact payout', 'transfers', page([{ id: 'out', amount: 0.001, currency: 'NGN' }])],
  ['payouts that fail', 'transfers', page([]), { status: 500 }],
])('cash: %s are reported, and the books are not called agreed', async (_what, endpoint, data, more = {}) => {
  await says(endpoint, data, more);
  const { exit, report } = await desk.reconcile();
  const reason = expect.stringMatching(/^balances and transfers could not be read: /) as unknown;
  expect({ exit, ...report }).toMatchObject({ exit: 1, verdict: 'findings', reason, balances: null, transfers: null });
});

test('after a restore, money that only the history has is shown, and a person assigns it to an order, which it pays', async () => {
  const lost = await desk.checkout();
  await settle(desk, lost.reference);
  const ofOrder = ['journal', 'messages', 'proof_payments', 'proofs', 'order_lines', 'payments'].map((table) => [
    table,
    'order_id',
  ]);
  const tables = [['ledgers', 'reference'], ['verifications', 'reference'], ...ofOrder, ['orders', 'id']];
  const gone = tables.map(
    ([table, key]) => `DELETE FROM ${table} WHERE ${key} IN ('${lost.orderId}', '${lost.reference}')`,
  );
  await desk.database.query(`BEGIN; SET LOCAL session_replication_role = replica; ${gone.join(';')}; COMMIT`);
  const { report } = await desk.reconcile();
  expect(report.findings).toEqual({ unknown_reference: 1 });
  expect((await desk.run('after-restore')).out).toMatch(new RegExp(`^${lost.reference} .*8,?500`));

  const [again, other] = [await desk.checkout(), await desk.checkout({ items: [{ sku: 'djembe', quantity: 1 }] })];
  const adopt = (orderId: string) => desk.run('after-restore', '--adopt', lost.reference, orderId);
  const refused = (why: RegExp) => ({ exit: 1, err: expect.stringMatching(why) as unknown });
  expect(await adopt(other.orderId)).toMatchObject(refused(/another currency/));
  expect(await adopt(again.orderId)).toMatchObject({ exit: 0 });
  expect([await statusOf(desk, again.orderId), await statusOf(desk, other.orderId)]).toEqual(['paid', 'pending']);
  const sql = `SELECT "by" FROM journal WHERE reference = $1 AND what IN ('adopted', 'captured') ORDER BY what`;
  expect(await desk.database.query(sql, [lost.reference])).toEqual([{ by: 'ada' }, { by: 'service' }]);
  expect(await adopt(again.orderId)).toMatchObject(refused(/No money without an order/));
  expect(await desk.reconcile()).toMatchObject({ exit: 0, report: { findings: {} } });
});
