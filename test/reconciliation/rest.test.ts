import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { befall, healService } from '../support/failures.ts';
import type { Checkout } from '../support/shop.ts';
import { decide, look, scripted, startDesk, type Desk } from './support.ts';

// An order of NGN 8500.00, of which 5000.00 came. The rest was paid without a webhook, so a
// reconciliation finds it.

let desk: Desk;
beforeAll(async () => {
  desk = await startDesk();
});
afterAll(() => desk.stop());
const { verifySays, listShows } = scripted(() => desk);

const rowOf = (reference: string, more: object) => {
  return { id: `A-${reference}`, reference, status: 'SUCCESS', currency: 'NGN', ...more };
};
const verifyWillSay = (reference: string, amount: number, more = {}) =>
  befall(desk, 'verify', 'body', { reference, body: { status: true, data: rowOf(reference, { amount }) }, ...more });

/** The rest is paid, and no verification is due for hours. */
async function payRest() {
  const first = await desk.checkout();
  await verifySays(first.reference, { amount: 5000 });
  expect(await listShows(first.reference, { amount: 5000 })).toMatchObject({ cases: ['underpaid 500000 0 NGN'] });
  expect(await decide(desk, first.reference, 'ask-rest')).toMatchObject({ exit: 0 });
  const { body: rest } = await desk.request<Checkout>('POST', '/checkout', { json: { orderId: first.orderId } });
  const later = `UPDATE payments SET next_check_at = now() + interval '5 hours' WHERE order_id = $1`;
  await desk.database.query(later, [first.orderId]);
  await healService(desk);
  await verifyWillSay(rest.reference, 3500, { times: 0 });
  return { first, rest };
}

async function reconcileWith(...data: object[]): Promise<void> {
  await befall(desk, 'history', 'body', { body: { status: true, data: { data, hasNextPage: false } } });
  expect(await desk.reconcile()).toMatchObject({ report: { complete: true } });
}

test.each([0, 2_000])(
  'a run that reports the first part as outflow pays nothing with it (verify takes %s ms)',
  async (delayMs) => {
    const { first, rest } = await payRest();
    await verifyWillSay(first.reference, 5000, { times: 0, delayMs });
    const gone = rowOf(first.reference, { id: `X-${first.reference}`, amount: -5000 });
    await reconcileWith(rowOf(first.reference, { amount: 5000 }), gone, rowOf(rest.reference, { amount: 3500 }));
    expect(await look(desk, first.reference)).toMatchObject({ order: 'review', cases: ['underpaid 500000 0 NGN'] });
    expect(await look(desk, rest.reference)).toMatchObject({ cases: ['underpaid 350000 0 NGN'], message: null });
  },
);

test('a run that cannot verify the first part pays nothing with it, and the next run does', async () => {
  const { first, rest } = await payRest();
  const rows = [rowOf(first.reference, { amount: 5000 }), rowOf(rest.reference, { amount: 3500 })];
  const outage = await befall(desk, 'verify', 'status', { reference: first.reference, status: 503, times: 0 });
  await reconcileWith(...rows);
  expect(await look(desk, rest.reference)).toMatchObject({ order: 'pending', message: null });
  await desk.request('DELETE', `${desk.sandbox?.url}/sandbox/faults/${outage.id}`);
  await verifyWillSay(first.reference, 5000, { times: 0 });
  await reconcileWith(...rows);
  expect(await look(desk, rest.reference)).toMatchObject({ order: 'paid', message: 'goes' });
});
