import { createHmac } from 'node:crypto';
import { afterEach, expect } from '@jest/globals';
import { systemClock } from '../../../src/platform/clock.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { startSandbox } from '../../../local/sandbox/sandbox.ts';
import { createTestDatabase } from '../../support/database.ts';
import { checkInvariants } from '../../support/invariants.ts';
import { silence } from '../../support/line-faults.ts';
import { startLine, type Line } from '../../support/line.ts';
import { cleanUp, freePort, newFolder, onCleanUp } from '../../support/process.ts';
import { aBasket, eventually, type CheckoutAnswer } from '../../support/program.ts';
import { startReleaseReceiver } from '../../support/release-receiver.ts';
import { startShop, type ShopProcess } from '../../support/shop-process.ts';
import { testOfAll, testOfFew as test } from '../../support/test-of-all.ts';

// The same events under which two shop systems were measured: Vendure 3.5.6 wrote 300 settled payments for 60 orders
// whose webhook came five times at once, and Medusa 2.21 lost 20 of 20 payments when it was killed a second after it
// had acknowledged their webhooks.

const SECRET = 'whsec_test';

afterEach(cleanUp);

type Counter = {
  /** The way to the service. */
  line: Line;
  start(): Promise<ShopProcess>;
  /** Orders with a checkout that was paid, of which nobody was told. */
  paidOrders(shop: ShopProcess, count: number): Promise<CheckoutAnswer[]>;
  /** The service tells of a payment, in the same bytes every time. @returns the status of the answer */
  tell(shop: ShopProcess, order: CheckoutAnswer): Promise<number>;
  query<Row extends object>(text: string): Promise<Row[]>;
  /** How many orders of each status there are, and releases. */
  counts(): Promise<{ paid: number; releases: number; entries: number }>;
  /** What the receiver of releases was told of, each once. */
  delivered(): Set<string>;
  violations(acknowledged?: readonly string[]): Promise<string[]>;
};

/** A server process whose database, service and receiver outlive it. */
async function openCounter(): Promise<Counter> {
  const { database, url, close } = await createTestDatabase();
  onCleanUp(close);
  const receiver = await startReleaseReceiver();
  onCleanUp(receiver.close);
  const sandbox = await startSandbox({
    host: '127.0.0.1',
    port: 0,
    dataDir: null,
    logger: createLogger('silent'),
    webhook: { url: null, secret: SECRET },
    latencyMs: 0,
  });
  onCleanUp(sandbox.close);
  const line = await startLine();
  onCleanUp(line.close);
  line.leadTo(sandbox.url, systemClock);
  const [folder, port] = [await newFolder(), await freePort()];
  const env = {
    DATABASE_URL: url,
    GATEWAY_URL: line.url,
    GATEWAY_SECRET_KEY: sandbox.testKey,
    WEBHOOK_SECRETS: SECRET,
    CHECKOUTS_PER_MINUTE: '0',
    ...receiver.env,
  };
  return {
    line,
    start: () => startShop({ folder, port, service: sandbox.url, env }),
    // One after the other: of many at once some would be told to come back, where their turn takes more than two seconds.
    paidOrders: async (shop, count) => {
      const orders: CheckoutAnswer[] = [];
      while (orders.length < count) {
        const order = await shop.checkout({ ...aBasket, email: `shopper${orders.length}@example.com` });
        await shop.hand(`transactions/${order.reference}/pay`, { notify: false });
        // The clock leaves it alone, so that only the webhooks can confirm it.
        await database.query(
          `UPDATE payments SET next_check_at = now() + interval '1 hour' WHERE reference = $1`,
          [order.reference],
        );
        orders.push(order);
      }
      return orders;
    },
    tell: async (shop, { reference }) => {
      const body = bodyOf(reference);
      const signature = createHmac('sha256', SECRET).update(body).digest('hex');
      const headers = { 'content-type': 'application/json', 'x-signature': signature };
      return (await fetch(`${shop.origin}/webhooks/payments`, { method: 'POST', headers, body })).status;
    },
    query: (text) => database.query(text),
    counts: async () => {
      const [row] = await database.query<{ paid: number; releases: number; entries: number }>(
        `SELECT (SELECT count(*)::int FROM orders WHERE status = 'paid') AS paid, (SELECT count(*)::int FROM releases) AS releases,
           (SELECT count(*)::int FROM journal WHERE event = 'order-paid') AS entries`,
      );
      return row ?? { paid: NaN, releases: NaN, entries: NaN };
    },
    delivered: () => new Set(receiver.deliveries.map(({ releaseId }) => releaseId)),
    violations: (acknowledged = []) =>
      checkInvariants({
        database,
        sandboxUrl: line.url,
        sink: receiver.deliveries,
        acknowledged,
        key: sandbox.testKey,
        passes: 1,
      }),
  };
}

function bodyOf(reference: string): string {
  return JSON.stringify({ event: 'payment', data: { reference, status: 'SUCCESS' } });
}

testOfAll(
  'the same webhook five times at once, for 60 orders: 60 are confirmed, with 60 releases',
  async () => {
    const counter = await openCounter();
    const shop = await counter.start();
    const orders = await counter.paidOrders(shop, 60);
    const answers = await Promise.all(
      orders.flatMap((order) => Array.from({ length: 5 }, () => counter.tell(shop, order))),
    );
    expect(answers).toEqual(answers.map(() => 202));
    await Promise.all(orders.map(({ orderId }) => shop.becomes(orderId, 'paid')));
    await eventually(() => Promise.resolve(counter.delivered().size === 60));
    expect(await counter.counts()).toEqual({ paid: 60, releases: 60, entries: 60 });
    expect(await counter.violations(orders.map(({ reference }) => bodyOf(reference)))).toEqual([]);
  },
);

test('killed one second after it acknowledged 20 webhooks: all 20 are confirmed after the restart', async () => {
  const counter = await openCounter();
  // No check is answered before the server dies: what is paid afterwards was remembered, not finished.
  counter.line.disturb('verify', silence);
  const shop = await counter.start();
  const orders = await counter.paidOrders(shop, 20);
  const answers = await Promise.all(orders.map((order) => counter.tell(shop, order)));
  expect(answers).toEqual(answers.map(() => 202));
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await shop.stop('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
  expect(await counter.counts()).toEqual({ paid: 0, releases: 0, entries: 0 });

  counter.line.clear();
  const again = await counter.start();
  // Half a minute is not waited for: the leases of the dead process end now.
  await counter.query(`UPDATE payments SET leased_until = now(), next_check_at = now()`);
  await Promise.all(orders.map(({ orderId }) => again.becomes(orderId, 'paid')));
  await eventually(() => Promise.resolve(counter.delivered().size === 20));
  expect(await counter.counts()).toEqual({ paid: 20, releases: 20, entries: 20 });
  expect(await counter.violations(orders.map(({ reference }) => bodyOf(reference)))).toEqual([]);
});
