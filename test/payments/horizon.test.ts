import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startProgram, type TestProgram } from '../support/program.ts';

let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram();
});
afterAll(() => shop.close());

test.each([{ status: 500 }, { status: 401 }])(
  'no payment is closed at its horizon while the service answers %o: it is asked first, and was paid',
  async (outage) => {
    const { database, duePayments } = shop.program;
    const { orderId, reference } = await shop.checkout();
    await shop.hand(`transactions/${reference}/pay`, { notify: false });
    const comesDue = (): Promise<unknown> =>
      database.query(
        `UPDATE payments SET created_at = now() - interval '30 days', next_check_at = now(), leased_until = NULL
         WHERE reference = $1`,
        [reference],
      );
    const standing = (): Promise<object[]> =>
      database.query(
        `SELECT p.status, p.next_check_at IS NOT NULL AS "isWatched", o.status AS "order"
         FROM payments p JOIN orders o ON o.id = p.order_id WHERE reference = $1`,
        [reference],
      );
    await shop.hand('outage', outage);
    for (let look = 0; look < 2; look += 1) {
      await comesDue();
      await duePayments.runOnce();
      expect(await standing()).toEqual([{ status: 'open', isWatched: true, order: 'pending' }]);
    }
    await shop.hand('outage', { status: null });
    await comesDue();
    await duePayments.runOnce();
    expect(await standing()).toMatchObject([{ status: 'paid', order: 'paid' }]);
    expect((await fetch(`${shop.origin}/orders/${orderId}`)).status).toBe(200);
  },
);
