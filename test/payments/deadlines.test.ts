import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEFAULTS } from '../../src/extensions.ts';
import { createCatalogue } from '../../src/orders/catalogue.ts';
import { explain } from '../../src/reporting/explain.ts';
import { post, startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';

// An order with a deadline: paid before it, or expired for good after the service was asked a last time.

const TOKEN = 'shop-token-for-tests';
let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram({ env: { SHOP_API_TOKEN: TOKEN } });
});
afterAll(() => shop.close());

const sql = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);
const pay = (reference: string, body: object = {}) =>
  shop.hand(`transactions/${reference}/pay`, { notify: false, ...body });
const comeBack = (reference: string) =>
  fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
const page = async (orderId: string) => (await fetch(`${shop.origin}/shop/orders/${orderId}`)).text();

async function placed(): Promise<string> {
  const body = {
    email: 'ada@example.com',
    currency: 'NGN',
    lines: [{ description: 'A seat', unitAmount: '25.00', quantity: 1 }],
    payBy: new Date(Date.now() + 3_600_000).toISOString(),
  };
  const answer = await post(`${shop.origin}/orders`, body, { authorization: `Bearer ${TOKEN}` });
  return ((await answer.json()) as { orderId: string }).orderId;
}

const begun = async (): Promise<CheckoutAnswer> => shop.checkout({ orderId: await placed() });

/** As if the order had been placed two hours ago: its deadline is an hour past. */
async function pass(orderId: string): Promise<void> {
  const earlier = `now() - interval '1 hour'`;
  await sql(
    `UPDATE orders SET created_at = created_at - interval '2 hours', pay_by = ${earlier}, deadline_check_at = ${earlier}
     WHERE id = $1`,
    orderId,
  );
  await sql(`UPDATE payments SET created_at = created_at - interval '2 hours' WHERE order_id = $1`, orderId);
}

async function passAndWork(orderId: string): Promise<void> {
  await pass(orderId);
  await shop.program.duePayments.runOnce();
}

async function stateOf(orderId: string): Promise<object> {
  const [row] = await sql(
    `SELECT status, expired_at IS NOT NULL AS "forGood",
       (SELECT count(*)::int FROM releases WHERE order_id = o.id) AS releases,
       (SELECT string_agg(class, ' ') FROM suspense_items WHERE order_id = o.id AND closed_at IS NULL) AS suspense
     FROM orders o WHERE id = $1`,
    orderId,
  );
  const told = await explain(shop.program.database, orderId);
  return { ...row, contradictions: told?.orderDetail.contradictions };
}
const state = (status: string, rest: object = {}) => ({
  ...{ status, forGood: false, releases: 0, suspense: null, contradictions: [] },
  ...rest,
});
const EXPIRED = state('expired', { forGood: true });

describe('when the deadline has passed', () => {
  test('an order that nobody has begun to pay expires for good, and the journal says so', async () => {
    const orderId = await placed();
    expect(await page(orderId)).toContain('To be paid by');
    await passAndWork(orderId);
    expect(await stateOf(orderId)).toEqual(EXPIRED);
    expect(await sql('SELECT event, cause FROM journal WHERE order_id = $1 AND seq > 1', orderId)).toEqual([
      { event: 'order-expired', cause: 'schedule' },
    ]);
    const answer = await post(`${shop.origin}/checkout`, { orderId });
    expect([answer.status, await answer.json()]).toMatchObject([409, { type: '/problems/order-expired' }]);
    expect(await page(orderId)).toContain('The time to pay for this order is over');
  });

  test('an order that had expired is told of once more: that it is final', async () => {
    const { orderId, reference } = await begun();
    await sql(`UPDATE payments SET status = 'expired', next_check_at = NULL WHERE reference = $1`, reference);
    expect(await stateOf(orderId)).toMatchObject({ status: 'expired', forGood: false });
    await passAndWork(orderId);
    expect(await stateOf(orderId)).toMatchObject({ status: 'expired', forGood: true });
    const told = await sql(
      `SELECT type, data -> 'final' AS final FROM events WHERE order_id = $1 ORDER BY seq`,
      orderId,
    );
    expect(told).toEqual([
      { type: 'order.expired', final: false },
      { type: 'order.expired', final: true },
    ]);
  });

  test('not before: a look that comes too early ends nothing', async () => {
    const orderId = await placed();
    await sql('UPDATE orders SET deadline_check_at = now() WHERE id = $1', orderId);
    await shop.program.duePayments.runOnce();
    expect(await stateOf(orderId)).toEqual(state('pending'));
  });

  test('no further checkout begins, also before the worker comes', async () => {
    const { orderId } = await begun();
    await pass(orderId);
    expect((await post(`${shop.origin}/checkout`, { orderId })).status).toBe(409);
    const shown = await page(orderId);
    expect(shown).toContain('Your payment is not confirmed yet');
    expect(shown).not.toContain('continue to payment');
  });

  test('what was paid before is found by the last look and pays', async () => {
    const { orderId, reference } = await begun();
    await pay(reference);
    await passAndWork(orderId);
    expect(await stateOf(orderId)).toEqual(state('paid', { releases: 1 }));
  });

  test('what was paid with another card, after one was declined, is found by it as well', async () => {
    const { orderId, reference } = await begun();
    await shop.hand(`transactions/${reference}/fail`, { notify: false });
    await comeBack(reference);
    expect(await stateOf(orderId)).toEqual(state('failed'));
    await pay(reference);
    await passAndWork(orderId);
    expect(await stateOf(orderId)).toEqual(state('paid', { releases: 1 }));
  });

  test('an open payment is asked about and watched on; its later money waits and pays nothing', async () => {
    const { orderId, reference } = await begun();
    await passAndWork(orderId);
    expect(await stateOf(orderId)).toEqual(EXPIRED);
    expect(
      await sql('SELECT status, next_check_at > now() AS next FROM payments WHERE reference = $1', reference),
    ).toEqual([{ status: 'open', next: true }]);
    await pay(reference);
    await comeBack(reference);
    expect(await stateOf(orderId)).toEqual({ ...EXPIRED, suspense: 'paid_after_deadline' });
  });

  test('nothing expires while the service cannot be asked', async () => {
    const { orderId } = await begun();
    await shop.hand('outage', { status: 503 });
    await passAndWork(orderId);
    await shop.hand('outage', { status: null });
    expect(await stateOf(orderId)).toEqual(state('pending'));
    const [row] = await sql('SELECT deadline_check_at > now() AS again FROM orders WHERE id = $1', orderId);
    expect(row).toEqual({ again: true });
  });

  test('an order under review waits for a person', async () => {
    const { orderId, reference } = await begun();
    await pay(reference, { amount: '3' });
    await passAndWork(orderId);
    expect(await stateOf(orderId)).toEqual(state('review', { suspense: 'underpaid' }));
  });

  test('PostgreSQL itself refuses a release, and a way back', async () => {
    const { orderId, reference } = await begun();
    await passAndWork(orderId);
    await pay(reference);
    await comeBack(reference);
    await expect(
      sql(
        `INSERT INTO releases (id, order_id, reference, mode, amount, currency, verification_id, delivery)
         SELECT 'rel_x', order_id, reference, mode, amount, currency, id, 'unneeded' FROM verifications
         WHERE reference = $1 AND outcome = 'paid'`,
        reference,
      ),
    ).rejects.toThrow('it expired for good');
    await expect(sql(`UPDATE orders SET status = 'pending' WHERE id = $1`, orderId)).rejects.toThrow(
      'expired_for_good',
    );
  });

  test('reconciliation raises the money under its class', async () => {
    const { orderId, reference } = await begun();
    await passAndWork(orderId);
    await pay(reference);
    await comeBack(reference);
    const report = await shop.program.reconcile({ dryRun: false });
    expect(report.items.filter((item) => item.orderId === orderId)).toMatchObject([
      { class: 'paid_after_deadline' },
    ]);
  });
});

test('a deadline and the money of ten looks at once: one truth', async () => {
  const { orderId, reference } = await begun();
  await pass(orderId);
  await Promise.all([
    shop.program.duePayments.runOnce(),
    pay(reference),
    ...Array.from({ length: 8 }, () => comeBack(reference)),
    shop.program.duePayments.runOnce(),
  ]);
  await comeBack(reference);
  expect([state('paid', { releases: 1 }), { ...EXPIRED, suspense: 'paid_after_deadline' }]).toContainEqual(
    await stateOf(orderId),
  );
});

test('a catalogue that keeps things for half an hour gives its orders a deadline', async () => {
  const keeping = await startProgram({
    extensions: {
      ...DEFAULTS,
      catalogue: (database) => ({
        ...createCatalogue(database),
        reserve: () => Promise.resolve({ outcome: 'reserved', payWithinSec: 1_800 }),
      }),
    },
  });
  await keeping.program.database.query(
    `INSERT INTO products (sku, name, unit_amount, currency) VALUES ('ankara-tote', 'Ankara tote bag', 850000, 'NGN')`,
  );
  const { orderId } = await keeping.checkout();
  const view = (await (await fetch(`${keeping.origin}/orders/${orderId}`)).json()) as { payBy: string };
  const [row] = await keeping.program.database.query<{ sec: number }>(
    `SELECT extract(epoch FROM $2::timestamptz - created_at)::int AS sec FROM orders WHERE id = $1`,
    [orderId, view.payBy],
  );
  await keeping.close();
  expect(row).toEqual({ sec: 1_800 });
});
