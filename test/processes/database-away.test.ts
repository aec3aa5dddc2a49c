import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect } from '@jest/globals';
import pg from 'pg';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../local/postgres/embedded-postgres.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { SANDBOX_WEBHOOK_SECRET } from '../../local/sandbox/keys.ts';
import { aBasket, eventually } from '../support/program.ts';
import { cleanUp, freePort, newFolder, onCleanUp } from '../support/process.ts';
import { startShop, type ShopProcess } from '../support/shop-process.ts';
import { testOfAll, testOfFew as test } from '../support/test-of-all.ts';

afterAll(cleanUp);

/** A PostgreSQL that goes away and comes back at the same address. */
async function startDatabase(): Promise<{ url: string; leave(): Promise<void>; comeBack(): Promise<void> }> {
  const dataDir = await newFolder();
  const port = await freePort();
  const settings = { fsync: 'off' };
  const start = (): Promise<EmbeddedPostgres> =>
    startEmbeddedPostgres({ dataDir, port, settings, logger: createLogger('silent'), purpose: 'a test' });
  let running = await start();
  onCleanUp(() => running.stop());
  return {
    url: running.url,
    leave: () => running.stop(),
    comeBack: async () => {
      running = await start();
    },
  };
}

function sendWebhook(shop: ShopProcess, reference: string): Promise<Response> {
  const body = JSON.stringify({ event: 'charge.success', data: { reference } });
  const signature = createHmac('sha256', SANDBOX_WEBHOOK_SECRET).update(body).digest('hex');
  const headers = { 'content-type': 'application/json', 'x-signature': signature };
  return fetch(`${shop.origin}/webhooks/payments`, { method: 'POST', headers, body });
}

async function expectAway(answer: Response): Promise<void> {
  expect([answer.url, answer.status]).toEqual([answer.url, 503]);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(await answer.json()).toMatchObject({ type: '/problems/database-unavailable', status: 503 });
}

let database: Awaited<ReturnType<typeof startDatabase>>;
let shop: ShopProcess;
beforeAll(async () => {
  database = await startDatabase();
  shop = await startShop({ env: { DATABASE_URL: database.url } });
});

test('a transaction whose session PostgreSQL ends is answered 503 and does not end the process', async () => {
  const { orderId } = await shop.checkout();
  const blocker = new pg.Client({ connectionString: database.url });
  blocker.on('error', () => undefined);
  await blocker.connect();
  await blocker.query('BEGIN');
  await blocker.query('SELECT FROM orders WHERE id = $1 FOR UPDATE', [orderId]);
  const waiting = shop.post('/checkout', { orderId });
  // As when PostgreSQL shuts down; there the lock may be free a moment before the session that waits is ended.
  await eventually(async () => {
    await blocker.query('SELECT pg_stat_clear_snapshot()');
    const { rows } = await blocker.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid)) AND query LIKE '%"isPastDeadline"%'`,
    );
    return rows.length > 0;
  });
  await expectAway(await waiting);
  await blocker.end();
  await shop.checkout({ orderId });
  expect(shop.isRunning()).toBe(true);
});

test('while the database is away everything is asked to come again, and afterwards nothing is lost', async () => {
  const paidMeanwhile = await shop.checkout();
  const paidAfterwards = await shop.checkout();

  await database.leave();
  await eventually(async () => (await shop.get('/readyz')).status === 503);
  await expectAway(await shop.get('/readyz'));
  await expectAway(await shop.post('/checkout', aBasket));
  await expectAway(await shop.post('/checkout', { orderId: paidMeanwhile.orderId }));
  await expectAway(await sendWebhook(shop, paidMeanwhile.reference));
  for (const path of [
    `/orders/${paidMeanwhile.orderId}`,
    '/products',
    `/checkout/return/${paidMeanwhile.reference}`,
  ])
    await expectAway(await shop.get(path));
  await expectAway(await shop.get('/metrics'));
  // A shopper who is back from paying reads what to do.
  const page = await fetch(`${shop.origin}/checkout/return/${paidMeanwhile.reference}`, {
    headers: { accept: 'text/html' },
  });
  expect([page.status, await page.text()]).toEqual([503, expect.stringContaining('do not pay again')]);
  expect((await shop.get('/healthz')).status).toBe(200);
  const pay = await shop.hand(`transactions/${paidMeanwhile.reference}/pay`);
  expect(pay.status).toBe(200);

  await database.comeBack();
  await eventually(async () => (await shop.get('/readyz')).status === 200);
  await shop.becomes(paidMeanwhile.orderId, 'paid');
  await shop.hand(`transactions/${paidAfterwards.reference}/pay`);
  await shop.becomes(paidAfterwards.orderId, 'paid');
  await shop.checkout();
  expect(shop.isRunning()).toBe(true);
  expect(await shop.stop()).toMatchObject({ code: 0, stderr: '' });
});

testOfAll('a server that is told to stop while the database is away stops', async () => {
  const another = await startShop({ env: { DATABASE_URL: database.url } });
  await database.leave();
  expect(await another.stop()).toMatchObject({ code: 0, stderr: '' });
});
