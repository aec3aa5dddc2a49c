import { afterEach, expect, test } from '@jest/globals';
import { aBasket } from '../support/program.ts';
import { cleanUp, freePort, newFolder, occupy, processesIn, runProcess } from '../support/process.ts';
import { startShop, type ShopProcess } from '../support/shop-process.ts';

afterEach(cleanUp);

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

test('PORT=0 takes any free ports and says which', async () => {
  const shop = await startShop({ port: 0 });
  const [, origin = ''] = await shop.says(/shop +(http:\/\/localhost:\d+)\/shop/);
  expect(origin).not.toMatch(/:0$/);
  expect(shop.service).not.toMatch(/:0$/);
  expect((await fetch(`${origin}/readyz`)).status).toBe(200);
});

test('requests in flight when the server is told to stop get their answers', async () => {
  const shop = await startShop({ env: { CHECKOUTS_PER_MINUTE: '0' } });
  const answers = Array.from({ length: 20 }, async () => (await shop.post('/checkout', aBasket)).status);
  await Promise.any(answers);
  const end = shop.stop();
  expect(await Promise.all(answers)).toEqual(answers.map(() => 201));
  expect(await end).toMatchObject({ code: 0, stderr: '' });
});

test('a second start in the same folder says who has it, and leaves the first one alone', async () => {
  const shop = await startShop();
  const second = await runProcess('server.ts', {
    cwd: shop.folder,
    env: { PORT: String(await freePort()) },
  });
  expect(second).toMatchObject({ code: 1, signal: null });
  expect(second.stderr).toContain(`in use by "npm start" (pid ${shop.pid})`);
  expect(second.stderr).toContain('stop it, or set DATABASE_URL');
  expect(second.stderr).not.toMatch(/^ +at /m);
  expect((await shop.get('/readyz')).status).toBe(200);
});

test('a killed server is followed by one that knows every order', async () => {
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
