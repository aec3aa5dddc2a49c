import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { createDueReleases } from '../../src/fulfilment/due-deliveries.ts';
import { createHttpReceiver } from '../../src/fulfilment/http-receiver.ts';
import { Secret } from '../../src/platform/secret.ts';
import { startProgram, type TestProgram } from '../support/program.ts';

// What happens between the first attempt to deliver a release and the last one: for how long it is tried, when it is
// tried again, and that the receiver gets the same bytes each time.

const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
let shop: TestProgram;
let server: Server;
let url: URL;
let received: { headers: IncomingHttpHeaders; body: string }[] = [];
let answer: { status: number; headers?: OutgoingHttpHeaders } = { status: 200 };

beforeAll(async () => {
  server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      received.push({ headers: req.headers, body: Buffer.concat(chunks).toString('hex') });
      res.writeHead(answer.status, answer.headers).end();
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/orders`);
  shop = await startProgram({ env: { FULFILMENT_URL: url.href, FULFILMENT_SECRET: SECRET } });
});
afterAll(async () => {
  await shop.close();
  await new Promise((resolve) => server.close(resolve));
});
afterEach(async () => {
  await sql(`UPDATE releases SET delivery = 'delivered', next_check_at = NULL`);
  received = [];
  answer = { status: 200 };
});

const sql = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);

/** A paid order that nobody has been told of yet. @returns its release's id */
async function released(): Promise<string> {
  const { orderId, reference } = await shop.checkout();
  await shop.hand(`transactions/${reference}/pay`, { notify: false });
  await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
  const [row] = await sql<{ id: string }>('SELECT id FROM releases WHERE order_id = $1', orderId);
  return row?.id ?? '';
}

/** A worker of its own process in all but name: its own connection pool to the receiver, its own random source. */
function aWorker(random?: () => number): { runOnce: () => Promise<number>; close: () => Promise<void> } {
  const { receive, close } = createHttpReceiver(url, new Secret(SECRET));
  const { database, alarm, logger } = shop.program;
  const loop = createDueReleases({
    database,
    alarm,
    mode: 'test',
    receiver: receive,
    logger,
    ...(random && { random }),
  });
  return { runOnce: () => loop.runOnce(), close };
}

async function attempt(random?: () => number): Promise<void> {
  const worker = aWorker(random);
  await worker.runOnce();
  await worker.close();
}

type Row = { delivery: string; attempts: number; pauseSec: number | null; error: string | null };
async function row(id: string): Promise<Row | undefined> {
  const [found] = await sql<Row>(
    `SELECT delivery, attempts, last_error AS error, round(extract(epoch FROM next_check_at - now()))::int AS "pauseSec"
     FROM releases WHERE id = $1`,
    id,
  );
  return found;
}

const due = (id: string): Promise<object[]> =>
  sql('UPDATE releases SET next_check_at = now() WHERE id = $1', id);

/** As if the release had been recorded so long ago, whatever was done with it since. */
async function recordedAgo(id: string, interval: string): Promise<void> {
  await sql('ALTER TABLE releases DISABLE TRIGGER releases_are_frozen');
  await sql(`UPDATE releases SET released_at = released_at - $2::interval WHERE id = $1`, id, interval);
  await sql('ALTER TABLE releases ENABLE TRIGGER releases_are_frozen');
}

describe('G7: three days count from the first attempt', () => {
  test.each(['4 days', '400 days'])('recorded %s ago and tried once: it waits', async (age) => {
    const id = await released();
    await recordedAgo(id, age);
    await sql(`UPDATE releases SET next_check_at = next_check_at - $2::interval WHERE id = $1`, id, age);
    answer = { status: 500 };
    await attempt();
    expect(await row(id)).toMatchObject({ delivery: 'waiting', attempts: 1 });
    await due(id);
    await attempt();
    expect(await row(id)).toMatchObject({ delivery: 'waiting', attempts: 2 });
  });

  test('days in which nobody tried do not count: a worker that was off, a restored backup', async () => {
    const id = await released();
    answer = { status: 500 };
    await attempt();
    // The backup was taken then; it is restored five days later, and its next attempt has long been due.
    await sql(
      `UPDATE releases SET tried_since = tried_since - interval '5 days',
      next_check_at = next_check_at - interval '5 days' WHERE id = $1`,
      id,
    );
    await attempt();
    expect(await row(id)).toMatchObject({ delivery: 'waiting', attempts: 2 });
  });

  test('a worker that dies over it again and again does not make it immortal', async () => {
    const id = await released();
    answer = { status: 500 };
    await attempt();
    await sql(
      `UPDATE releases SET tried_since = tried_since - interval '80 hours',
      next_check_at = next_check_at - interval '5 hours', leased_until = now() - interval '1 s' WHERE id = $1`,
      id,
    );
    await attempt();
    expect(await row(id)).toMatchObject({ delivery: 'dead', attempts: 2 });
  });

  test('three days after its first failed attempt it is dead, and a person who asks starts them anew', async () => {
    const id = await released();
    answer = { status: 500 };
    await attempt();
    await sql(`UPDATE releases SET tried_since = tried_since - interval '73 hours' WHERE id = $1`, id);
    await due(id);
    await attempt();
    expect(await row(id)).toMatchObject({ delivery: 'dead', attempts: 2, pauseSec: null });
    expect(await shop.program.redeliver({ idOrOrderId: id, by: 'Ngozi', note: null })).toBe('due');
    await attempt();
    expect(await row(id)).toMatchObject({ delivery: 'waiting', attempts: 1 });
  });
});

describe('G12: a receiver gets the same bytes under one id', () => {
  test('at each attempt, of each process, also by hand, and each is signed for its own time', async () => {
    const id = await released();
    answer = { status: 500 };
    for (let times = 0; times < 3; times += 1) {
      await attempt();
      await due(id);
    }
    answer = { status: 200 };
    await shop.program.dueReleases.runOnce();
    await shop.program.redeliver({ idOrOrderId: id, by: 'Ngozi', note: null });
    await attempt();
    expect(received).toHaveLength(5);
    expect(new Set(received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([id]));
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    for (const { headers, body } of received) {
      const text = Buffer.from(body, 'hex').toString();
      expect(new Webhook(SECRET).verify(text, headers as Record<string, string>)).toMatchObject({
        type: 'order.paid',
      });
    }
  });

  test('the time in it is when the order was paid', async () => {
    const id = await released();
    await attempt();
    const message = JSON.parse(Buffer.from(received[0]?.body ?? '', 'hex').toString()) as {
      timestamp: string;
      data: { paidAt: string };
    };
    const [order] = await sql<{ paidAt: Date }>(
      'SELECT paid_at AS "paidAt" FROM orders WHERE release_id = $1',
      id,
    );
    expect(message.timestamp).toBe(order?.paidAt.toISOString());
    expect(message.data.paidAt).toBe(message.timestamp);
  });

  test('also when what it is made of, or the program that makes it, has changed in between', async () => {
    const id = await released();
    answer = { status: 500 };
    await attempt();
    // Whatever is written into these rows now would be read by a message that is made anew.
    await shop.program.database.transaction(async (tx) => {
      await tx.query('SET LOCAL session_replication_role = replica');
      const text = `UPDATE order_lines SET description = 'renamed' FROM releases r WHERE r.id = $1 AND r.order_id = order_lines.order_id`;
      await tx.query(text, [id]);
    });
    await due(id);
    await attempt();
    expect(received).toHaveLength(2);
    expect(received[1]?.body).toBe(received[0]?.body);
  });

  test('the database refuses to change a message that was sent', async () => {
    const id = await released();
    await attempt();
    await expect(sql(`UPDATE releases SET message = '{}' WHERE id = $1`, id)).rejects.toThrow(/refused/);
  });
});

const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toUTCString();

describe('G14: what the receiver asks for', () => {
  test('410 Gone ends the delivery at once, and the list says so', async () => {
    const id = await released();
    answer = { status: 410 };
    await attempt();
    expect(await row(id)).toEqual({
      delivery: 'dead',
      attempts: 1,
      pauseSec: null,
      error: 'the receiver answered HTTP 410: it wants no more of this',
    });
    expect(
      await sql(`SELECT event FROM journal WHERE detail ->> 'release' = $1 AND event = 'release-dead'`, id),
    ).toHaveLength(1);
  });

  test.each<[number, string, () => string, number]>([
    [503, 'seconds', () => '600', 600],
    [429, 'seconds', () => '600', 600],
    [500, 'seconds', () => '600', 600],
    [302, 'seconds', () => '600', 600],
    [503, 'a date', () => inSeconds(900), 900],
    [429, 'a date', () => inSeconds(900), 900],
    [503, 'more than an hour, which is cut', () => '999999', 3_600],
    [503, 'less than our own pause, which holds', () => '1', 5],
    [503, 'a date in the past', () => inSeconds(-60), 5],
    [503, 'nonsense', () => 'soon', 5],
  ])('HTTP %i with Retry-After in %s is honoured', async (status, _name, retryAfter, pauseSec) => {
    const id = await released();
    answer = { status, headers: { 'retry-after': retryAfter() } };
    await attempt(() => 0);
    const { delivery, pauseSec: seen } = (await row(id)) ?? {};
    expect(delivery).toBe('waiting');
    expect(seen).toBeGreaterThan(pauseSec - 4);
    expect(seen).toBeLessThanOrEqual(pauseSec);
  });

  test('429 holds the other releases of this process, too', async () => {
    const ids = [];
    for (let count = 0; count < 12; count += 1) ids.push(await released());
    answer = { status: 429, headers: { 'retry-after': '600' } };
    const worker = aWorker();
    await worker.runOnce();
    // Eight were on their way at once.
    expect(received).toHaveLength(8);
    await worker.runOnce();
    expect(received).toHaveLength(8);
    await worker.close();
  });

  test.each([
    ['no jitter', 0, 5],
    ['all of it', 0.999_999, 6],
  ])('releases that failed together do not come back together: %s', async (_name, random, pauseSec) => {
    const id = await released();
    answer = { status: 500 };
    await attempt(() => random);
    const seen = (await row(id))?.pauseSec ?? 0;
    expect(seen).toBeGreaterThan(pauseSec - 1);
    expect(seen).toBeLessThanOrEqual(pauseSec);
  });
});
