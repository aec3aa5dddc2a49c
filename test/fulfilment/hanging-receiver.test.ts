import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createDueReleases } from '../../src/fulfilment/due-deliveries.ts';
import { createHttpReceiver } from '../../src/fulfilment/http-receiver.ts';
import type { Receiver, Release } from '../../src/fulfilment/release.ts';
import type { Poller } from '../../src/platform/poller.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { Secret } from '../../src/platform/secret.ts';
import { plant } from '../reconciliation/books.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createGate } from '../support/gate.ts';
import { eventually } from '../support/program.ts';

let database: TestDatabase['database'];
let close: () => Promise<void>;
beforeAll(async () => {
  ({ database, close } = await createTestDatabase());
});
afterAll(() => close());

const sql = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  database.query<Row>(text, values);

/** So many paid orders whose releases wait, each due a little later than the one before. @returns their orders */
async function waiting(count: number, attempts = 0): Promise<string[]> {
  const orders: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const { orderId } = await plant(database, { isConfirmed: true });
    await sql(
      `UPDATE releases SET delivery = 'waiting', attempts = $2, next_check_at = now() WHERE order_id = $1`,
      orderId,
      attempts,
    );
    orders.push(orderId);
  }
  return orders;
}

function loopOn(receiver: Receiver, deadlineMs?: number): Poller {
  const logger = createLogger('silent');
  return createDueReleases({
    database,
    mode: 'test',
    receiver,
    alarm: () => Promise.resolve(),
    logger,
    ...(deadlineMs && { deadlineMs }),
  });
}

const deliveryOf = async (orderId: string) =>
  (
    await sql<{ delivery: string; attempts: number; last_error: string | null }>(
      'SELECT delivery, attempts, last_error FROM releases WHERE order_id = $1',
      orderId,
    )
  )[0];

const isDelivered = async (orders: string[]): Promise<boolean> =>
  (await sql(`SELECT FROM releases WHERE order_id = ANY($1) AND delivery = 'delivered'`, orders)).length ===
  orders.length;

afterEach(async () => {
  await sql(`UPDATE releases SET delivery = 'delivered', next_check_at = NULL WHERE delivery <> 'delivered'`);
});

describe('a receiver that hangs on some orders', () => {
  /** Hangs on the given orders until the test lets go. */
  function hangingOn(orders: string[]) {
    const gate = createGate();
    const inHand: Release[] = [];
    const receiver: Receiver = async (release) => {
      if (!orders.includes(release.orderId)) return;
      inHand.push(release);
      await gate.opened;
    };
    return { receiver, inHand, letGo: gate.open };
  }

  test('holds half of the places at most with deliveries that failed before: all others are delivered', async () => {
    const stuck = await waiting(20, 1);
    const others = await waiting(20);
    const { receiver, inHand, letGo } = hangingOn(stuck);
    // None of them ends by its deadline meanwhile.
    const loop = loopOn(receiver, 600_000);
    loop.start();
    await eventually(() => isDelivered(others));
    await eventually(() => Promise.resolve(inHand.length >= 4));
    expect(inHand.length).toBe(4);
    letGo();
    await eventually(() => isDelivered(stuck));
    await loop.stop();
  });

  test('holds every place with releases never tried for one deadline only: then the others have their turn', async () => {
    const stuck = await waiting(16);
    const others = await waiting(4);
    const { receiver, inHand, letGo } = hangingOn(stuck);
    const loop = loopOn(receiver, 200);
    loop.start();
    await eventually(() => isDelivered(others));
    expect(inHand.length).toBeGreaterThanOrEqual(16);
    letGo();
    await loop.stop();
    expect(await deliveryOf(stuck[0] ?? '')).toMatchObject({ last_error: 'the receiver took too long' });
  });
});

test('a delivery that outlives its deadline is told so, counts as failed, and comes again', async () => {
  const [orderId = ''] = await waiting(1);
  const told = createGate();
  const ignoring: Receiver = (_release, { signal }) => {
    signal.addEventListener('abort', () => {
      told.open();
    });
    return new Promise(() => undefined);
  };
  await loopOn(ignoring, 100).runOnce();
  await told.opened;
  expect(await deliveryOf(orderId)).toEqual({
    delivery: 'waiting',
    attempts: 1,
    last_error: 'the receiver took too long',
  });
});

test('what a receiver throws is kept as one short line, whatever it is', async () => {
  const [orderId = ''] = await waiting(1);
  await loopOn(() => Promise.reject(new Error(`no\u0000\u001b[31m\n${'x'.repeat(400)}`))).runOnce();
  expect((await deliveryOf(orderId))?.last_error).toMatch(/^no {2}\[31m x{100,}$/);
  const [entry] = await sql<{ detail: { error: string } }>(
    `SELECT detail FROM journal WHERE order_id = $1 AND event = 'release-undelivered'`,
    orderId,
  );
  expect(entry?.detail.error).toHaveLength(200);
});

describe('over HTTP', () => {
  let server: Server;
  let answer: RequestListener;
  let requests: { url: string; headers: NodeJS.Dict<string | string[]> }[] = [];
  let origin = '';
  beforeAll(async () => {
    server = createServer((req, res) => {
      requests.push({ url: req.url ?? '', headers: req.headers });
      req.resume();
      answer(req, res);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    requests = [];
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  /** One delivery of one release. @returns what its row says afterwards */
  async function deliverOnce(deadlineMs?: number) {
    const [orderId = ''] = await waiting(1);
    const { receive, close } = createHttpReceiver(
      new URL(`${origin}/orders`),
      new Secret(`whsec_${'a'.repeat(32)}`),
    );
    await loopOn(receive, deadlineMs).runOnce();
    await close();
    return deliveryOf(orderId);
  }

  test('an answer that never comes ends at the deadline', async () => {
    answer = () => undefined;
    expect(await deliverOnce(200)).toMatchObject({ last_error: 'the receiver took too long' });
  });

  test('an answer that drips for ever ends at the deadline', async () => {
    answer = (_req, res) => {
      res.writeHead(200);
      const drip = setInterval(() => res.write('.'), 20);
      res.on('close', () => {
        clearInterval(drip);
      });
    };
    expect(await deliverOnce(300)).toMatchObject({
      delivery: 'waiting',
      last_error: 'the receiver took too long',
    });
  });

  test('a receipt with a body without end is a receipt, and little of the body is taken', async () => {
    let sent = 0;
    const closed = createGate();
    answer = (_req, res) => {
      const chunk = Buffer.alloc(16_384);
      const pump = (): void => {
        while (!res.destroyed) {
          sent += chunk.length;
          if (!res.write(chunk)) break;
        }
      };
      res.on('drain', pump);
      res.on('close', () => {
        closed.open();
      });
      pump();
    };
    expect(await deliverOnce()).toMatchObject({ delivery: 'delivered' });
    await closed.opened;
    expect(sent).toBeLessThan(8_000_000);
  });

  test.each([301, 302, 303, 307, 308])(
    'a redirect (%i) is no receipt and is not followed',
    async (status) => {
      answer = (_req, res) => {
        res.writeHead(status, { location: `${origin}/elsewhere` }).end();
      };
      expect(await deliverOnce()).toMatchObject({ last_error: `the receiver answered HTTP ${status}` });
      expect(requests.map(({ url }) => url)).toEqual(['/orders']);
    },
  );
});
