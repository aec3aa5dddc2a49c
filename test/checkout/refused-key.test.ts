import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { aBasket, post, startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';

let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram();
});
afterAll(() => shop.close());

test('a key that was refused fails no order, also not when a later payment of it expires', async () => {
  const { database, duePayments } = shop.program;
  await shop.hand('keys/refuse', { refuse: true });
  await post(`${shop.origin}/checkout`, aBasket);
  await shop.hand('keys/refuse', { refuse: false });
  const [order] = await database.query<{ id: string }>('SELECT id FROM orders');
  const again = await post(`${shop.origin}/checkout`, { orderId: order?.id });
  const { reference } = (await again.json()) as CheckoutAnswer;
  await database.query(
    `UPDATE payments SET created_at = now() - interval '9 days', next_check_at = now() WHERE reference = $1`,
    [reference],
  );
  await duePayments.runOnce();
  const payments = await database.query('SELECT status, reason FROM payments ORDER BY reference = $1', [
    reference,
  ]);
  expect(payments).toEqual([
    { status: 'refused', reason: 'key-refused' },
    { status: 'expired', reason: null },
  ]);
  expect(await database.query('SELECT status FROM orders')).toEqual([{ status: 'expired' }]);
});
