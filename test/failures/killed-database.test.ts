import { expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres, type Postgres } from '../../local/postgres.ts';
import { applyMigrations } from '../../src/platform/migrate.ts';
import { openTestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { expectPaidOnce, hold, letPass, sendNotification, useShop, waitsForLock } from '../support/failures.ts';
import { payInSilence } from '../support/outside.ts';
import { freePort } from '../support/ports.ts';

// PostgreSQL is killed while it writes the changes of several orders together. This file uses its
// own server, which is durable as in production.

let postgres: Postgres;
const folder = mkdtempSync(join(tmpdir(), 'killed-'));
const home = join(folder, 'database');
const startServer = (port: number) => startPostgres({ folder: home, port, exclusive: true });

const used = useShop(async () => {
  used.ends.push(() => {
    rmSync(folder, { recursive: true });
  });
  postgres = await startServer(await freePort());
  used.ends.push(() => postgres.stop());
  await applyMigrations(postgres.url);
  return { env: { DATABASE_URL: postgres.url, CHECKOUTS_PER_MINUTE: '600' } };
});
const { shop, receiver } = used;

/** Kills the server as the system does when memory runs out, and starts it again. */
async function killAndRestart(): Promise<void> {
  const [pid = ''] = readFileSync(join(home, 'postmaster.pid'), 'utf8').split('\n');
  process.kill(Number(pid), 'SIGKILL');
  postgres = await startServer(Number(new URL(postgres.url).port));
}

test('orders whose change was being written when PostgreSQL was killed are all paid once after its restart', async () => {
  shop.database = openTestDatabase(new URL(postgres.url));
  const names = Array.from({ length: 12 }, (_, index) => `together${index}@example.com`);
  const orders = await Promise.all(names.map((email) => shop.checkout({ email })));
  await Promise.all(orders.map(({ reference }) => payInSilence(shop, reference)));
  // The statement that writes the group waits here, so that the kill interrupts it.
  await hold(shop.database, 'LOCK TABLE proofs IN SHARE MODE');
  await Promise.all(orders.map(({ reference }) => sendNotification(shop, reference)));
  await waitsForLock(shop.database, /^\s*WITH o AS/);
  await killAndRestart();
  // Ends the leases of the payments.
  await letPass(shop.database, 31);
  const count = 'SELECT count(*)::int AS proofs FROM proofs';
  for (const { orderId } of orders) await expectPaidOnce(shop, orderId);
  expect(await shop.database.query(count)).toEqual([{ proofs: orders.length }]);
  await eventually(() => {
    const told = receiver.messages.filter(({ type }) => type === 'order.paid').map(({ data }) => data.orderId);
    expect(new Set(told)).toEqual(new Set(orders.map(({ orderId }) => orderId)));
  });
});
