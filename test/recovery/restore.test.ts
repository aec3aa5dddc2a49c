import pg from 'pg';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';
import { startReleaseReceiver, type ReleaseReceiver } from '../support/release-receiver.ts';

// The drill for the day on which the database is gone and yesterday's backup is all there is.

let receiver: ReleaseReceiver;
let shop: TestProgram;
beforeAll(async () => {
  receiver = await startReleaseReceiver();
  shop = await startProgram({ env: receiver.env });
});
afterAll(async () => {
  await shop.close();
  await asAdministrator(`DROP DATABASE IF EXISTS ${backupName()}`);
  await receiver.close();
});

async function pay({ reference }: CheckoutAnswer): Promise<void> {
  await shop.hand(`transactions/${reference}/pay`, { notify: false });
  await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
}

const statusOf = async ({ orderId }: CheckoutAnswer): Promise<unknown> => {
  const answer = await fetch(`${shop.origin}/orders/${orderId}`);
  return answer.ok ? ((await answer.json()) as { status: string }).status : answer.status;
};

const deliveriesOf = ({ orderId }: CheckoutAnswer): string[] =>
  receiver.deliveries.filter((each) => each.orderId === orderId).map(({ releaseId }) => releaseId);

test('yesterday’s backup, one reconciliation and the deliveries give back every paid state, and no value twice', async () => {
  const paidBefore = await shop.checkout();
  await pay(paidBefore);
  await shop.program.dueReleases.runOnce();
  const paidAfter = [await shop.checkout(), await shop.checkout(), await shop.checkout()];
  const stillOpen = await shop.checkout();

  await copyDatabase(databaseName(), backupName());

  for (const order of paidAfter) await pay(order);
  const bornAfter = await shop.checkout();
  await pay(bornAfter);
  await shop.program.dueReleases.runOnce();
  const told = new Set(receiver.deliveries.map(({ releaseId }) => releaseId));
  expect(told.size).toBe(5);

  await copyDatabase(backupName(), databaseName());
  expect(await Promise.all(paidAfter.map(statusOf))).toEqual(['pending', 'pending', 'pending']);

  const report = await shop.program.reconcile({ dryRun: false });
  await shop.program.duePayments.runOnce();
  await shop.program.dueReleases.runOnce();

  expect(await Promise.all([paidBefore, ...paidAfter].map(statusOf))).toEqual([
    'paid',
    'paid',
    'paid',
    'paid',
  ]);
  expect(await statusOf(stillOpen)).toBe('pending');
  expect(report).toMatchObject({ complete: true, repaired: 3, identity: [{ difference: '0.00' }] });
  // The receiver heard of them a second time and under the ids it knew: nothing of it is new.
  for (const order of paidAfter) expect(deliveriesOf(order).length).toBeGreaterThan(1);
  expect(new Set(receiver.deliveries.map(({ releaseId }) => releaseId))).toEqual(told);
  for (const order of paidAfter) expect(new Set(deliveriesOf(order)).size).toBe(1);

  // No sweep can know what the shopper of an order that is in no backup has bought. Its money is named and held.
  expect(await statusOf(bornAfter)).toBe(404);
  expect(report.findings).toEqual({ unknown_reference: 1 });
  expect(await shop.program.database.query('SELECT reference, amount FROM suspense_items')).toMatchObject([
    { reference: bornAfter.reference, amount: 850_000n },
  ]);
});

function databaseName(): string {
  return String(shop.program.database.pool.options.connectionString).split('/').at(-1) ?? '';
}

function backupName(): string {
  return `${databaseName()}_backup`;
}

/** Puts a copy of the one database in the place of the other, as a restore does; the program's connections break. */
async function copyDatabase(from: string, to: string): Promise<void> {
  await asAdministrator(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname IN ('${from}', '${to}')`,
    `DROP DATABASE IF EXISTS ${to} WITH (FORCE)`,
    `CREATE DATABASE ${to} TEMPLATE ${from}`,
  );
}

async function asAdministrator(...statements: string[]): Promise<void> {
  const url = Object.assign(new URL(process.env.TEST_TEMPLATE_URL ?? ''), { pathname: '/postgres' });
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
