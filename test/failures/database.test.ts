import { beforeAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { startDatabaseProxy, type DatabaseProxy } from '../support/database-proxy.ts';
import { beside, cloneDatabase, nameOf, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { expectPaidOnce, sendNotification, startWorker, tryCheckout, useShop } from '../support/failures.ts';
import { payInSilence, statusOf } from '../support/outside.ts';
import type { Checkout } from '../support/shop.ts';

// The database goes away, stays silent, or refuses writes. A server without a worker, and a worker
// beside it, connect through a proxy.

const TOKEN = 'a_token_of_the_shop_itself';
let database: TestDatabase;
let proxy: DatabaseProxy;
let workerUrl: string;

const used = useShop(async () => {
  database = await cloneDatabase();
  used.ends.push(database.drop);
  proxy = await startDatabaseProxy(database.url);
  used.ends.push(proxy.close);
  return { worker: false, env: { DATABASE_URL: proxy.url, SHOP_API_TOKEN: TOKEN } };
});
const { shop, receiver } = used;

beforeAll(async () => {
  shop.database = database;
  workerUrl = (await startWorker(used, { DATABASE_URL: proxy.url })).url;
});

const byShop = (path: string, json: object) =>
  shop.request('POST', path, { json, headers: { authorization: `Bearer ${TOKEN}` } });
const stateOf = async (url: string) => {
  const { status, body } = await shop.request<{ database: string }>('GET', `${url}/readyz`);
  return { status, database: body.database };
};
const READY = { status: 200, database: 'ok' };

/** Every kind of write, with its answer when the database accepts it. */
function writes(waiting: Checkout, paid: Checkout, unwanted: Checkout) {
  const chair = { description: 'A chair', unitAmount: '10.00', quantity: 1 };
  const order = { email: 'ada@example.com', currency: 'EUR', lines: [chair] };
  const refund = { amount: '1.00', reason: 'torn', externalId: 'once' };
  return [
    // The first write is a transaction only: the pool closes a connection after a failed statement
    // outside of one.
    { name: 'a refund', status: 201, act: () => byShop(`/orders/${paid.orderId}/refunds`, refund) },
    { name: 'a checkout', status: 201, act: () => tryCheckout(shop, 'ada@example.com') },
    { name: 'a webhook', status: 202, act: () => sendNotification(shop, waiting.reference) },
    { name: 'a return', status: 303, act: () => shop.request('GET', `/checkout/return/${waiting.reference}`) },
    { name: 'an order', status: 201, act: () => byShop('/orders', order) },
    { name: 'a cancel', status: 200, act: () => byShop(`/orders/${unwanted.orderId}/cancel`, { reason: 'unwanted' }) },
    { name: 'a stop', status: 200, act: () => byShop('/checkouts/stop', { currency: 'JPY', reason: 'a test' }) },
    { name: 'its end', status: 200, act: () => byShop('/checkouts/resume', { currency: 'JPY' }) },
  ];
}

type Prepared = { waiting: Checkout; all: ReturnType<typeof writes> };

/** A paid order, an order that is paid at the service during the outage, and an order to cancel. */
async function prepare(): Promise<Prepared> {
  const paid = await shop.checkout();
  await shop.sandboxPost(`/transactions/${paid.reference}/pay`);
  await expectPaidOnce(shop, paid.orderId);
  const waiting = await shop.checkout();
  return { waiting, all: writes(waiting, paid, await shop.checkout()) };
}

/** In the end server and worker write again, and the money paid meanwhile pays its order. */
async function expectHealed({ waiting, all }: Prepared): Promise<void> {
  for (const { name, status, act } of all) {
    await eventually(async () => {
      expect([name, (await act())?.status]).toEqual([name, status]);
    });
  }
  expect(await stateOf(shop.url)).toEqual(READY);
  await eventually(async () => {
    expect(await stateOf(workerUrl)).toEqual(READY);
  });
  await expectPaidOnce(shop, waiting.orderId);
  // Only the worker can find this payment: nobody returns, and no webhook comes.
  const { orderId, reference } = await shop.checkout();
  await payInSilence(shop, reference);
  await eventually(async () => (await statusOf(shop, orderId)) === 'paid');
  await eventually(() => {
    expect(receiver.messages.filter(({ data }) => data.orderId === orderId)).toHaveLength(1);
  });
}

async function expectUnavailable({ waiting, all }: Prepared): Promise<void> {
  await payInSilence(shop, waiting.reference);
  for (const { name, act } of all) {
    const answer = await act();
    expect([name, answer?.status, answer?.body]).toMatchObject([name, 503, { type: '/problems/database-unavailable' }]);
    expect(answer?.headers.get('content-type')).toMatch('application/problem+json');
    expect(Number(answer?.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect((await shop.request('GET', '/healthz')).status).toBe(200);
}

test('without a database, all requests and webhooks get a 503 problem, and everything recovers afterwards', async () => {
  const prepared = await prepare();
  proxy.set('gone');
  await expectUnavailable(prepared);
  for (const url of [shop.url, workerUrl])
    expect(await stateOf(url)).toEqual({ status: 503, database: 'cannot be reached' });
  proxy.set('up');
  await expectHealed(prepared);
});

test('after a failover to a read-only database, every kind of write recovers', async () => {
  const prepared = await prepare();
  const url = new URL(database.url);
  await beside(
    url,
    `ALTER DATABASE ${nameOf(url)} SET default_transaction_read_only = on`,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${nameOf(url)}'`,
  );
  await eventually(async () => {
    for (const one of [shop.url, workerUrl])
      expect(await stateOf(one)).toEqual({ status: 503, database: 'is read-only' });
  });
  await expectUnavailable(prepared);
  // Reads work, and fill the pool with read-only connections.
  await Promise.all(Array.from({ length: 20 }, () => statusOf(shop, prepared.waiting.orderId)));
  await beside(url, `ALTER DATABASE ${nameOf(url)} RESET default_transaction_read_only`);
  await expectHealed(prepared);
});

test('while the database is silent, no request waits without end', async () => {
  const prepared = await prepare();
  proxy.set('silent');
  await payInSilence(shop, prepared.waiting.reference);
  // No shopper and no service that sends a webhook waits longer.
  const tooLong = sleep(20_000, { status: 'no answer' as const }, { ref: false });
  const answers = prepared.all.map(async ({ name, act }) => [name, (await Promise.race([act(), tooLong]))?.status]);
  const seen = await Promise.all(answers);
  // New connections work again. Statements sent before are never answered.
  proxy.set('up');
  expect(seen).toEqual(prepared.all.map(({ name }) => [name, 503]));
  await expectHealed(prepared);
});
