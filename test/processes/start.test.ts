import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { cloneDatabase } from '../support/database.ts';
import { IS_WHOLE } from '../support/extent.ts';
import { aBasket, eventually } from '../support/program.ts';
import {
  cleanUp,
  freePort,
  newFolder,
  occupy,
  onCleanUp,
  processesIn,
  runProcess,
} from '../support/process.ts';
import { startShop, type ShopProcess } from '../support/shop-process.ts';
import { testOfAll } from '../support/test-of-all.ts';

// As a stranger does; all other processes are compiled once.
if (IS_WHOLE) delete process.env.TEST_COMPILED;

afterEach(cleanUp);

/** Where the embedded one does not matter: to make one takes longer than the test. */
async function ownDatabase(): Promise<{ DATABASE_URL: string }> {
  const { url, drop } = await cloneDatabase();
  onCleanUp(drop);
  return { DATABASE_URL: url };
}

async function expectNothingLeft({ folder, port }: ShopProcess): Promise<void> {
  expect(processesIn(folder)).toEqual([]);
  for (const each of [port, port + 1]) {
    const holder = await occupy(each);
    expect(holder).not.toBeNull();
    holder?.close();
  }
}

test('a fresh checkout serves after one command, ends cleanly, and remembers everything at its next start', async () => {
  const shop = await startShop();
  const { folder, port } = shop;
  expect(shop.stdout()).toContain(`shop     http://localhost:${port}/shop`);
  expect(shop.stdout()).toContain(`admin    http://localhost:${port}/admin`);
  expect(shop.stdout()).toContain(`sandbox  http://127.0.0.1:${port + 1}`);
  expect(await (await shop.get('/readyz')).json()).toEqual({ status: 'ready', mode: 'test' });
  const pages = ['/healthz', '/shop', '/admin', '/products'].map(
    async (path) => (await shop.get(path)).status,
  );
  expect(await Promise.all(pages)).toEqual([200, 200, 200, 200]);

  const paid = await shop.checkout();
  const open = await shop.checkout();
  expect((await shop.hand(`transactions/${paid.reference}/pay`)).status).toBe(200);
  await shop.becomes(paid.orderId, 'paid');

  expect(await shop.stop()).toMatchObject({ code: 0, signal: null, stderr: '' });
  await expectNothingLeft(shop);

  const again = await startShop({ folder, port });
  expect(await again.status(paid.orderId)).toBe('paid');
  const record = await fetch(`${again.service}/sandbox/transactions/${paid.reference}`);
  expect(await record.json()).toMatchObject({ state: 'paid', timesPaid: 1 });
  // What was open before the restart is still open, with the same checkout address.
  expect(await again.checkout({ orderId: open.orderId })).toEqual(open);
  await again.hand(`transactions/${open.reference}/pay`);
  await again.becomes(open.orderId, 'paid');
  expect(await again.stop('SIGINT')).toMatchObject({ code: 0, stderr: '' });
  await expectNothingLeft(again);
});

testOfAll('PORT=0 takes any free ports and says which', async () => {
  const shop = await startShop({ port: 0, env: await ownDatabase() });
  const [, origin = ''] = await shop.says(/shop +(http:\/\/localhost:\d+)\/shop/);
  expect(origin).not.toMatch(/:0$/);
  expect(shop.service).not.toMatch(/:0$/);
  expect((await fetch(`${origin}/readyz`)).status).toBe(200);
});

test('requests in flight when the server is told to stop get their answers', async () => {
  const held: ServerResponse[] = [];
  const service = createServer((_req, res) => held.push(res)).listen(0, '127.0.0.1');
  onCleanUp(() => new Promise((resolve) => service.close(resolve)));
  await once(service, 'listening');
  const { port } = service.address() as AddressInfo;
  const env = {
    ...(await ownDatabase()),
    GATEWAY_URL: `http://127.0.0.1:${port}`,
    GATEWAY_SECRET_KEY: 'sk_test_any',
  };
  const shop = await startShop({ env });
  const answers = Array.from({ length: 5 }, () => shop.post('/checkout', aBasket));
  await eventually(() => Promise.resolve(held.length === 5));

  const end = shop.stop();
  await eventually(() =>
    shop.get('/healthz').then(
      () => false,
      () => true,
    ),
  );
  for (const res of held) res.end(JSON.stringify({ data: `http://127.0.0.1:${port}/pay` }));
  const statuses = await Promise.all(answers.map(async (answer) => (await answer).status));
  expect(statuses).toEqual([201, 201, 201, 201, 201]);
  expect(await end).toMatchObject({ code: 0, stderr: '' });
});

test('a stream of order events is ended when the server is told to stop, so that nobody waits for its reader', async () => {
  const shop = await startShop({ env: await ownDatabase() });
  const { orderId } = await shop.checkout();
  const stream = await shop.get(`/orders/${orderId}/events`);
  const read = stream.text();
  expect(await shop.stop()).toMatchObject({ code: 0, signal: null, stderr: '' });
  expect(await read).toMatch(/^event: order\ndata: .*"status":"pending"/);
  expect(shop.stdout()).not.toContain('order stream poll failed');
});

testOfAll('a second start in the same folder says who has it, and leaves the first one alone', async () => {
  const shop = await startShop();
  const second = await runProcess('server', {
    cwd: shop.folder,
    env: { PORT: String(await freePort()) },
  });
  expect(second).toMatchObject({ code: 1, signal: null });
  expect(second.stderr).toContain(`in use by "npm start" (pid ${shop.pid})`);
  expect(second.stderr).toContain('stop it, or set DATABASE_URL');
  expect(second.stderr).not.toMatch(/^ +at /m);
  expect((await shop.get('/readyz')).status).toBe(200);
});

testOfAll('a killed server is followed by one that knows every order', async () => {
  const folder = await newFolder();
  const shop = await startShop({ folder });
  const { orderId, reference } = await shop.checkout();
  expect(await shop.stop('SIGKILL')).toMatchObject({ code: null, signal: 'SIGKILL' });

  const next = await startShop({ folder, port: shop.port });
  expect(await next.status(orderId)).toBe('pending');
  await next.hand(`transactions/${reference}/pay`);
  await next.becomes(orderId, 'paid');
  expect((await next.stop()).code).toBe(0);
  expect(processesIn(folder)).toEqual([]);
});
