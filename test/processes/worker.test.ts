import { afterEach, expect, test } from '@jest/globals';
import { SANDBOX_WEBHOOK_SECRET } from '../../local/sandbox/keys.ts';
import { startSandbox } from '../../local/sandbox/sandbox.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { cloneDatabase } from '../support/database.ts';
import { eventually } from '../support/program.ts';
import {
  cleanUp,
  freePort,
  newFolder,
  onCleanUp,
  startProcess,
  type RunningProcess,
} from '../support/process.ts';
import { startShop, type ShopProcess } from '../support/shop-process.ts';

afterEach(cleanUp);

/** A server that leaves the worker's tasks to others, and what starts one of those. */
async function startApart(): Promise<{
  shop: ShopProcess;
  startWorker(more?: object): Promise<RunningProcess>;
}> {
  const { url, drop } = await cloneDatabase();
  onCleanUp(drop);
  const [port, folder] = [await freePort(), await newFolder()];
  const sandbox = await startSandbox({
    host: '127.0.0.1',
    port: 0,
    dataDir: null,
    logger: createLogger('silent'),
    webhook: { url: `http://127.0.0.1:${port}/webhooks/payments`, secret: SANDBOX_WEBHOOK_SECRET },
  });
  onCleanUp(() => sandbox.close());
  const env = {
    PORT: String(port),
    WORKER: 'off',
    DATABASE_URL: url,
    GATEWAY_URL: sandbox.url,
    GATEWAY_SECRET_KEY: sandbox.testKey,
    WEBHOOK_SECRETS: SANDBOX_WEBHOOK_SECRET,
  };
  return {
    shop: await startShop({ folder, port, service: sandbox.url, env }),
    startWorker: async (more = {}) => {
      const worker = startProcess('worker', { cwd: await newFolder(), env: { ...env, ...more } });
      await worker.says(/worker is running/);
      return worker;
    },
  };
}

/** Pays, and waits until the shop has taken the webhook. */
async function payWithWebhook(shop: ShopProcess, reference: string): Promise<void> {
  await shop.hand(`transactions/${reference}/pay`);
  await eventually(async () => {
    const { pending } = (await (await fetch(`${shop.service}/sandbox/webhooks`)).json()) as {
      pending: number;
    };
    return pending === 0;
  });
}

test('with WORKER=off a webhook is kept by the server and acted on by the worker, and a killed worker is followed by the next', async () => {
  const { shop, startWorker } = await startApart();
  const [first, second, third] = [await shop.checkout(), await shop.checkout(), await shop.checkout()];
  await payWithWebhook(shop, first.reference);
  expect(await shop.status(first.orderId)).toBe('pending');

  const doomed = await startWorker();
  await shop.becomes(first.orderId, 'paid');
  await doomed.stop('SIGKILL');
  await payWithWebhook(shop, second.reference);
  expect(await shop.status(second.orderId)).toBe('pending');

  const port = await freePort();
  const [worker, another] = await Promise.all([startWorker({ WORKER_PORT: String(port) }), startWorker()]);
  await shop.becomes(second.orderId, 'paid');
  for (const path of ['healthz', 'readyz'])
    expect((await fetch(`http://127.0.0.1:${port}/${path}`)).status).toBe(200);
  await payWithWebhook(shop, third.reference);
  await shop.becomes(third.orderId, 'paid');
  for (const each of [worker, another, shop])
    expect(await each.stop()).toMatchObject({ code: 0, signal: null, stderr: '' });
});
