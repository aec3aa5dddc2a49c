import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Router } from 'express';
import { afterEach, expect, jest, test } from '@jest/globals';
import type { Receiver } from '../../src/fulfilment/release.ts';
import { DEFAULTS, type Extensions, type ShopRoutes } from '../../src/extensions.ts';
import type { CreateCatalogue } from '../../src/orders/catalogue.ts';
import { cloneDatabase } from '../support/database.ts';
import { cleanUp, freePort, newFolder, onCleanUp, runProcess, startProcess } from '../support/process.ts';
import { eventually, startProgram, type TestProgram } from '../support/program.ts';

// A shop puts its own parts in place of what the program comes with, and whatever tries the program goes on trying it.

let shop: TestProgram | null = null;
afterEach(async () => {
  await shop?.close();
  shop = null;
  await cleanUp();
});

const lamps: CreateCatalogue = (database) => ({
  products: () => Promise.resolve([]),
  // The handle is the program's own: a shop may keep its products beside the orders.
  price: async ([wanted]) => {
    const [row] = await database.query<{ price: bigint }>('SELECT 125000::bigint AS price');
    return wanted?.sku === 'brass-lamp'
      ? {
          outcome: 'priced',
          currency: 'NGN',
          lines: [
            {
              sku: wanted.sku,
              description: 'Brass lamp',
              unitAmount: row?.price ?? 0n,
              quantity: wanted.quantity,
            },
          ],
        }
      : { outcome: 'unknown-sku', skus: [wanted?.sku ?? ''] };
  },
});

const aLamp = { email: 'ada@example.com', items: [{ sku: 'brass-lamp', quantity: 2 }] };

test('its products are sold, at its prices, and its receiver gives the value once', async () => {
  const receiver = jest.fn<Receiver>(async ({ id, orderId }, { database, signal }) => {
    signal.throwIfAborted();
    await database.query('INSERT INTO shipped VALUES ($1, $2)', [id, orderId]);
  });
  const extensions: Extensions = { ...DEFAULTS, catalogue: lamps, receiver };
  shop = await startProgram({ extensions, worker: true });
  await shop.program.database.query('CREATE TABLE shipped (id text PRIMARY KEY, order_id text)');
  const { orderId, reference, amount } = await shop.checkout(aLamp);
  expect(amount).toBe('2500.00');
  await shop.hand(`transactions/${reference}/pay`);
  const { database } = shop.program;
  await eventually(async () => (await database.query('SELECT FROM shipped')).length > 0);
  expect(await database.query('SELECT order_id FROM shipped')).toEqual([{ order_id: orderId }]);
  expect(receiver.mock.calls.map(([release]) => release.orderId)).toEqual([orderId]);
  await expect(shop.checkout()).rejects.toThrow('not on sale: ankara-tote');
  expect(await shop.program.database.query('SELECT sku FROM products')).toEqual([]);
});

test('its addresses are served after ours, and its tables are there before them', async () => {
  const folder = await newFolder();
  await mkdir(join(folder, '1_lamps'));
  await writeFile(
    join(folder, '1_lamps', 'migration.sql'),
    `CREATE SCHEMA shop; CREATE TABLE shop.lamps (sku text); INSERT INTO shop.lamps VALUES ('brass-lamp');`,
  );
  const routes: ShopRoutes = {
    prefix: '/',
    create: ({ database, mode }) =>
      Router()
        .get('/lamps', async (_req, res) => {
          res.json({ mode, lamps: await database.query('SELECT sku FROM shop.lamps') });
        })
        .get('/products', (_req, res) => {
          res.json('theirs');
        })
        .get('/broken', () => {
          throw new Error('a secret');
        }),
  };
  shop = await startProgram({ extensions: { ...DEFAULTS, routes, migrations: pathToFileURL(`${folder}/`) } });
  const get = (path: string): Promise<Response> => fetch(`${shop?.origin ?? ''}${path}`);
  expect(await (await get('/lamps')).json()).toEqual({ mode: 'test', lamps: [{ sku: 'brass-lamp' }] });
  expect(await (await get('/products')).json()).not.toBe('theirs');
  const broken = await get('/broken');
  expect([broken.status, await broken.text()]).toEqual([500, expect.not.stringContaining('secret')]);
  expect((await get('/lamps/none')).status).toBe(404);
});

test('without them the defaults are at work', async () => {
  shop = await startProgram();
  await expect(shop.checkout(aLamp)).rejects.toThrow('not on sale: brass-lamp');
  expect((await shop.checkout()).amount).toBe('8500.00');
});

test("a process that a test starts has none of the shop's extensions", async () => {
  const cwd = await newFolder();
  const { stdout, stderr } = await runProcess('test/support/says-extensions.ts', { cwd });
  expect({ stdout, stderr }).toEqual({ stdout: 'the defaults\n', stderr: '' });
});

test("a server without the demo shop says that its pages still bear the demo shop's name", async () => {
  const { url, drop } = await cloneDatabase();
  onCleanUp(drop);
  const env = { PORT: String(await freePort()), DEMO_SHOP: 'off', DATABASE_URL: url };
  const server = startProcess('server', { cwd: await newFolder(), env });
  await server.says(/order pages bear the demo shop's name/);
  expect(await server.stop()).toMatchObject({ code: 0, stderr: '' });
});
