import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SANDBOX_TEST_KEY, SANDBOX_WEBHOOK_SECRET } from '../../local/sandbox/keys.ts';
import { startSandbox } from '../../local/sandbox/sandbox.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { cloneDatabase, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { aBasket, eventually } from '../support/program.ts';
import { cleanUp, freePort, onCleanUp } from '../support/process.ts';
import { startShop, type ShopProcess } from '../support/shop-process.ts';

const KEY = 'sk_test_wombat_of_the_night';
let own: TestDatabase;
let shop: ShopProcess;
beforeAll(async () => {
  own = await createTestDatabase();
  const env = { DATABASE_URL: own.url, GATEWAY_SECRET_KEY: KEY, LOG_LEVEL: 'trace' };
  shop = await startShop({ env });
});
afterAll(async () => {
  await cleanUp();
  await own.close();
});

test('a key that the service refuses does not make an order look failed to its shopper', async () => {
  await shop.hand('keys/refuse', { refuse: true });
  const { orderId } = (await (await shop.post('/checkout', aBasket)).json()) as { orderId: string };
  expect(await shop.status(orderId)).toBe('pending');
  await shop.hand('keys/refuse', { refuse: false });
});

test('a key that the service refuses fails no order, shows in readiness, and all is well once it is accepted', async () => {
  const open = await shop.checkout();

  expect((await shop.hand('keys/refuse', { refuse: true })).status).toBe(204);
  const refused = await shop.post('/checkout', aBasket);
  expect(refused.status).toBe(502);
  expect(refused.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  const { type, orderId } = (await refused.json()) as { type: string; orderId: string };
  expect(type).toBe('/problems/payment-refused');
  const readiness = await shop.get('/readyz');
  expect([readiness.status, await readiness.json()]).toEqual([
    503,
    expect.objectContaining({ detail: 'The service refuses the key.' }),
  ]);
  expect((await shop.get('/healthz')).status).toBe(200);
  await shop.hand(`transactions/${open.reference}/pay`);
  await shop.says(new RegExp(`${open.reference}.*check postponed`));
  expect(await shop.status(open.orderId)).toBe('pending');
  expect(shop.stdout()).toContain('the service refuses the secret key: check GATEWAY_SECRET_KEY');

  await shop.hand('keys/refuse', { refuse: false });
  // The next look at the open payment notices, and readiness comes back by itself. It would be due in a minute.
  await eventually(async () => {
    const due = 'UPDATE payments SET next_check_at = now() WHERE reference = $1 AND leased_until IS NULL';
    await own.database.query(due, [open.reference]);
    await own.database.query(`SELECT pg_notify('due', '')`);
    return (await shop.status(open.orderId)) === 'paid';
  });
  await eventually(async () => (await shop.get('/readyz')).ok);
  const { reference } = await shop.checkout({ orderId });
  await shop.hand(`transactions/${reference}/pay`);
  await shop.becomes(orderId, 'paid');
  const { code, stdout, stderr } = await shop.stop();
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).not.toContain('wombat');
});

test('an order of a time when nobody answers for the service is kept, and can be paid when somebody does', async () => {
  const { url, drop } = await cloneDatabase();
  onCleanUp(drop);
  const [port, servicePort] = [await freePort(), await freePort()];
  const service = `http://127.0.0.1:${servicePort}`;
  const env = {
    DATABASE_URL: url,
    GATEWAY_URL: service,
    GATEWAY_SECRET_KEY: SANDBOX_TEST_KEY,
    WEBHOOK_SECRETS: SANDBOX_WEBHOOK_SECRET,
  };
  const shop = await startShop({ port, service, env });
  expect(shop.stdout()).not.toContain('sandbox');
  const answer = await shop.post('/checkout', aBasket);
  expect(answer.status).toBe(503);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  const problem = (await answer.json()) as { type: string; orderId: string };
  expect(problem.type).toBe('/problems/payment-service-unavailable');
  expect(await shop.status(problem.orderId)).toBe('pending');
  expect((await shop.get('/readyz')).status).toBe(200);

  const sandbox = await startSandbox({
    host: '127.0.0.1',
    port: servicePort,
    dataDir: null,
    logger: createLogger('silent'),
    webhook: { url: `${shop.origin}/webhooks/payments`, secret: SANDBOX_WEBHOOK_SECRET },
  });
  onCleanUp(() => sandbox.close());
  const { orderId, reference } = await shop.checkout({ orderId: problem.orderId });
  expect(orderId).toBe(problem.orderId);
  await shop.hand(`transactions/${reference}/pay`);
  await shop.becomes(orderId, 'paid');
  expect(await shop.stop()).toMatchObject({ code: 0, stderr: '' });
});
