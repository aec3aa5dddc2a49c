import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createDuePayments } from '../../src/payments/due-payments.ts';
import { GatewayNotAsked } from '../../src/gateway/errors.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { leaseScheduled } from '../../src/payments/checks.sql.ts';
import { startProgram, type TestProgram } from '../support/program.ts';

let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram();
});
afterAll(() => shop.close());

test('who looks for work passes over what another has in hand, and does not wait for it', async () => {
  const { database } = shop.program;
  const [first, second] = [await shop.checkout(), await shop.checkout()];
  await database.query(
    `UPDATE payments SET next_check_at = now() - (CASE WHEN reference = $1 THEN interval '2 min' ELSE interval '1 min' END)`,
    [first.reference],
  );
  const leased = await database.transaction(async (other) => {
    await other.query('SELECT FROM payments WHERE reference = $1 FOR UPDATE', [first.reference]);
    return leaseScheduled(database, 'test', 10);
  });
  expect(leased.map(({ reference }) => reference)).toEqual([second.reference]);
  // Once it is let go it is there for the next.
  const [next] = await leaseScheduled(database, 'test', 10);
  expect(next?.reference).toBe(first.reference);
});

test('what has been due for an hour is held for as long as what is due now', async () => {
  const { database } = shop.program;
  const { reference } = await shop.checkout();
  await database.query(`UPDATE payments SET next_check_at = now() - interval '1 h' WHERE reference = $1`, [
    reference,
  ]);
  const lease = async (): Promise<string[]> =>
    (await leaseScheduled(database, 'test', 10)).map((payment) => payment.reference);
  expect(await lease()).toContain(reference);
  expect(await lease()).not.toContain(reference);
});

test.each([
  ['budget-exhausted', 9, 0, 3],
  ['service-is-failing', 0, 59, 70],
  ['service-asked-to-wait', 0, 59, 70],
  ['service-is-failing', 9, 60, 1_000],
] as const)(
  'a check by schedule for which there was no call (%s, after %d checks) is due again after its pause',
  async (reason, checks, from, to) => {
    const { database, gateway } = shop.program;
    const { reference } = await shop.checkout();
    await database.query(
      'UPDATE payments SET next_check_at = CASE WHEN reference = $1 THEN now() END, checks = $2',
      [reference, checks],
    );
    const due = createDuePayments({
      database,
      gateway,
      confirm: () => Promise.reject(new GatewayNotAsked(reason)),
      endOrder: () => Promise.reject(new Error('no deadline has passed')),
      callsAtOnce: 1,
      logger: createLogger('silent'),
    });
    await due.runOnce();
    const [row] = await database.query<{ sec: number }>(
      'SELECT extract(epoch FROM next_check_at - now())::float8 AS sec FROM payments WHERE reference = $1',
      [reference],
    );
    expect(row?.sec).toBeGreaterThan(from);
    expect(row?.sec).toBeLessThan(to);
  },
);
