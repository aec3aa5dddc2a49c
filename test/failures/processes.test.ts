import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import {
  befall,
  callsOf,
  expectPaidOnce,
  paymentsOf,
  sendNotification,
  startWorker,
  tryCheckout,
  useShop,
} from '../support/failures.ts';
import { payInSilence } from '../support/outside.ts';
import { startProcess } from '../support/process.ts';

// A server with WORKER=off, and two workers in processes of their own.

const used = useShop({ worker: false });
const { shop, receiver } = used;

test('two workers beside a server pay each order once and send each message once', async () => {
  const workers = [await startWorker(used), await startWorker(used)];
  const open = await Promise.all(Array.from({ length: 10 }, () => shop.checkout()));
  await Promise.all(open.map(({ reference }) => payInSilence(shop, reference)));
  // A webhook comes for half of the payments. The schedule alone finds the other half.
  await Promise.all(open.slice(5).map(({ reference }) => sendNotification(shop, reference)));
  for (const { orderId, reference } of open) {
    await expectPaidOnce(shop, orderId);
    expect(await callsOf(shop, 'verify', reference)).toHaveLength(1);
    await eventually(() => receiver.messages.some(({ data }) => data.orderId === orderId));
    expect(receiver.messages.filter(({ data }) => data.orderId === orderId)).toHaveLength(1);
  }
  for (const { url } of workers) expect((await shop.request('GET', `${url}/readyz`)).status).toBe(200);
});

test('a server without a worker becomes ready again after one refused key, without a shopper', async () => {
  await befall(shop, 'initialize', 'status', { status: 401 });
  expect((await tryCheckout(shop, 'refused@example.com'))?.status).toBe(503);
  expect((await shop.request('GET', '/readyz')).status).toBe(503);
  // A load balancer sends no requests to this server now.
  await eventually(async () => (await shop.request('GET', '/readyz')).status === 200, 15_000);
});

test('SIGTERM during a checkout: the checkout is answered, new requests are refused, and the process exits with 0', async () => {
  await befall(shop, 'initialize', 'delay', { delayMs: 1_500 });
  const email = 'last@example.com';
  const answer = tryCheckout(shop, email);
  await eventually(async () => (await paymentsOf(shop, 'email', email)).length === 1);
  const ended = shop.kill('SIGTERM');
  expect(await answer).toMatchObject({ status: 201, body: { status: 'pending' } });
  expect(await ended).toEqual([0]);
  expect(await tryCheckout(shop, email)).toBeNull();
  expect(await paymentsOf(shop, 'email', email)).toMatchObject([{ status: 'open' }]);
});

test('with a live key and no GATEWAY_URL no process starts, and no value is printed', async () => {
  const env = { GATEWAY_SECRET_KEY: 'sk_live_no_address', DATABASE_URL: shop.database.url, PORT: '0' };
  for (const program of ['src/server.ts', 'src/worker.ts']) {
    const started = startProcess(program, env);
    expect(await started.end()).toBe(78);
    expect(started.stderr()).toContain('GATEWAY_URL');
    expect(started.stderr()).not.toContain('no_address');
  }
});
