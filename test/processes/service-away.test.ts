import { afterEach, expect, test } from '@jest/globals';
import { SANDBOX_TEST_KEY, SANDBOX_WEBHOOK_SECRET } from '../../local/sandbox/keys.ts';
import { cloneDatabase } from '../support/database.ts';
import { aBasket, eventually } from '../support/program.ts';
import { cleanUp, freePort, newFolder, onCleanUp, startProcess } from '../support/process.ts';
import { startShop } from '../support/shop-process.ts';

afterEach(cleanUp);

async function ownDatabase(): Promise<string> {
  const { url, drop } = await cloneDatabase();
  onCleanUp(drop);
  return url;
}

test('a key that the service refuses fails no order, shows in readiness, and all is well once it is accepted', async () => {
  const key = 'sk_test_wombat_of_the_night';
  const env = { DATABASE_URL: await ownDatabase(), GATEWAY_SECRET_KEY: key, LOG_LEVEL: 'trace' };
  const shop = await startShop({ env });
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
  await shop.says(/check postponed/);
  expect(await shop.status(open.orderId)).toBe('pending');
  expect(shop.stdout()).toContain('the service refuses the secret key: check GATEWAY_SECRET_KEY');

  await shop.hand('keys/refuse', { refuse: false });
  // The next look at the open payment notices, and readiness comes back by itself.
  await shop.becomes(open.orderId, 'paid');
  await eventually(async () => (await shop.get('/readyz')).ok);
  const { reference } = await shop.checkout({ orderId });
  await shop.hand(`transactions/${reference}/pay`);
  await shop.becomes(orderId, 'paid');
  const { code, stdout, stderr } = await shop.stop();
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).not.toContain('wombat');
});

test('a key that the service refuses does not make an order look failed to its shopper', async () => {
  const shop = await startShop({ env: { DATABASE_URL: await ownDatabase() } });
  await shop.hand('keys/refuse', { refuse: true });
  const { orderId } = (await (await shop.post('/checkout', aBasket)).json()) as { orderId: string };
  expect(await shop.status(orderId)).toBe('pending');
});

test('an order of a time when nobody answers for the service is kept, and can be paid when somebody does', async () => {
  const [port, servicePort] = [await freePort(), await freePort()];
  const service = `http://127.0.0.1:${servicePort}`;
  const env = {
    DATABASE_URL: await ownDatabase(),
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

  const flags = [
    '--port',
    String(servicePort),
    '--data',
    'none',
    '--webhook-url',
    `${shop.origin}/webhooks/payments`,
  ];
  const sandbox = startProcess('local/sandbox/main.ts', { cwd: await newFolder(), args: flags });
  await sandbox.says(/Payment sandbox/);
  const { orderId, reference } = await shop.checkout({ orderId: problem.orderId });
  expect(orderId).toBe(problem.orderId);
  await shop.hand(`transactions/${reference}/pay`);
  await shop.becomes(orderId, 'paid');
  expect(await shop.stop()).toMatchObject({ code: 0, stderr: '' });
});
