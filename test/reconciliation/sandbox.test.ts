import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';

let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram();
});
afterAll(() => shop.close());

const silently = { notify: false };
const comeBack = (order: CheckoutAnswer): Promise<Response> =>
  fetch(`${shop.origin}/checkout/return/${order.reference}`, { redirect: 'manual' });

test('a day with lost messages ends with every order right and every disagreement named', async () => {
  const lost = await shop.checkout();
  const underpaid = await shop.checkout();
  const twice = await shop.checkout();
  const takenBack = await shop.checkout();
  const abandoned = await shop.checkout();
  const usual = await shop.checkout();
  await shop.hand(`transactions/${lost.reference}/pay`, silently);
  await shop.hand(`transactions/${underpaid.reference}/pay`, { ...silently, amount: '8000.00' });
  for (const order of [twice, takenBack, usual]) {
    await shop.hand(`transactions/${order.reference}/pay`, silently);
    await comeBack(order);
  }
  await shop.hand(`transactions/${twice.reference}/pay`, silently);
  await shop.hand(`transactions/${takenBack.reference}/reverse`, silently);

  const report = await shop.program.reconcile({ dryRun: false });

  expect(report).toMatchObject({
    complete: true,
    verdict: 'findings',
    payments: 6,
    matched: 1,
    repaired: 1,
    findings: { underpaid: 1, charged_again: 1, reversed: 1 },
    identity: [
      {
        currency: 'NGN',
        serviceTotal: '42000.00',
        confirmed: '34000.00',
        classes: { underpaid: '8000.00', charged_again: '8500.00', reversed: '-8500.00' },
        difference: '0.00',
      },
    ],
  });
  const statuses = await shop.program.database.query<{ id: string; status: string }>(
    'SELECT id, status FROM orders',
  );
  expect(Object.fromEntries(statuses.map(({ id, status }) => [id, status]))).toEqual({
    [lost.orderId]: 'paid',
    [underpaid.orderId]: 'review',
    [twice.orderId]: 'paid',
    [takenBack.orderId]: 'paid',
    [abandoned.orderId]: 'pending',
    [usual.orderId]: 'paid',
  });
});
