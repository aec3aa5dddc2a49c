import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { systemClock } from '../../src/platform/clock.ts';
import { newId } from '../../src/platform/ids.ts';
import { Secret } from '../../src/platform/secret.ts';
import { createReceiveWebhook, type ReceiveWebhook } from '../../src/webhooks/receive.ts';
import { createHmac } from 'node:crypto';
import { createRefusals } from '../../src/webhooks/refusals.ts';
import { keepLines } from '../support/lines.ts';
import { eventually, post, startProgram, type TestProgram } from '../support/program.ts';

/** A flood of webhooks that nobody signed must not fill the disk, and an honest one gets through it. */
let shop: TestProgram;
let nowMs = 0;
beforeAll(async () => {
  shop = await startProgram();
});
afterAll(() => shop.close());
afterEach(async () => {
  await query('DELETE FROM webhooks');
});

const query = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);
const rows = async (): Promise<number> =>
  Number((await query<{ count: bigint }>('SELECT count(*) FROM webhooks'))[0]?.count);

const SECRET = 'whsec_test';
const receiver = (secrets: Secret[] = [], logger = shop.program.logger): ReceiveWebhook =>
  createReceiveWebhook({
    db: shop.program.database,
    mode: 'test',
    dialect: shop.program.gateway.dialect,
    secrets,
    redactKey: (body) => body,
    clock: { ...systemClock, elapsedMs: () => nowMs },
    reserve: () => ({ slots: 0, take: () => undefined }),
    onLeased: () => undefined,
    onDue: () => undefined,
    logger,
  });
const about = (reference: string) => {
  const body = Buffer.from(JSON.stringify({ data: { reference }, id: newId() }));
  const signature = createHmac('sha256', SECRET).update(body).digest('hex');
  return {
    headers: { 'x-signature': signature },
    contentType: 'application/json',
    isJson: true,
    address: '',
    body,
  };
};
const outcomes = async (
  receive: ReceiveWebhook,
  times: number,
  reference: () => string,
): Promise<string[]> => {
  const all: string[] = [];
  for (let time = 0; time < times; time += 1) {
    nowMs += 10;
    all.push((await receive(about(reference()))).outcome);
  }
  return all;
};
const count = (all: string[], outcome: string): number => all.filter((each) => each === outcome).length;

describe('unsigned webhooks', () => {
  test('about unknown references: a sample a minute is kept, the rest refused until the minute is over', async () => {
    const receive = receiver();
    const flood = await outcomes(receive, 200, newId);
    expect([count(flood, 'stored'), count(flood, 'too-many'), await rows()]).toEqual([60, 140, 60]);
    expect(await receive(about(newId()))).toEqual({ outcome: 'too-many', retryAfterSec: 59 });
    nowMs += 60_000;
    expect(await receive(about(newId()))).toMatchObject({ outcome: 'stored' });
  });

  test('one about a payment of ours gets through the flood', async () => {
    const receive = receiver();
    await outcomes(receive, 100, newId);
    const { reference } = await shop.checkout();
    expect(await receive(about(reference))).toMatchObject({ outcome: 'stored' });
    expect(await query('SELECT hints FROM payments WHERE reference = $1', reference)).toEqual([{ hints: 1 }]);
  });

  test('about one payment: twenty are kept, every one makes it due', async () => {
    const receive = receiver();
    const { reference } = await shop.checkout();
    const flood = await outcomes(receive, 50, () => reference);
    expect([count(flood, 'stored'), await rows()]).toEqual([20, 20]);
    expect(await query('SELECT hints FROM payments WHERE reference = $1', reference)).toEqual([
      { hints: 50 },
    ]);
  });

  test('one that was kept is known again, however many there are', async () => {
    const receive = receiver();
    const { reference } = await shop.checkout();
    const first = about(reference);
    await receive(first);
    await outcomes(receive, 50, () => reference);
    expect(await receive(first)).toMatchObject({ outcome: 'stored' });
    expect(
      await query(
        'SELECT deliveries FROM webhooks WHERE body_sha256 = $1',
        createHash('sha256').update(first.body).digest(),
      ),
    ).toEqual([{ deliveries: 2 }]);
  });

  test('from one address, more than 200 a second: refused without a query, and other addresses are not', async () => {
    const receive = receiver();
    const { reference } = await shop.checkout();
    const from = (address: string) => receive({ ...about(reference), address });
    const flood: string[] = [];
    for (let time = 0; time < 250; time += 1) flood.push((await from('198.51.100.1')).outcome);
    const hints = 'SELECT hints FROM payments WHERE reference = $1';
    expect(await query(hints, reference)).toEqual([{ hints: 200 }]);
    expect(flood.slice(200)).toEqual(Array(50).fill('too-many'));
    await from('203.0.113.9');
    expect(await query(hints, reference)).toEqual([{ hints: 201 }]);
    nowMs += 1_000;
    await from('198.51.100.1');
    expect(await query(hints, reference)).toEqual([{ hints: 202 }]);
  });
});

test('B1: four a second of one address are asked about as they come in, and one from elsewhere is', async () => {
  const leased: (string | null)[] = [];
  const receive = createReceiveWebhook({
    db: shop.program.database,
    mode: 'test',
    dialect: shop.program.gateway.dialect,
    secrets: [],
    clock: { ...systemClock, elapsedMs: () => nowMs },
    reserve: (limit) => ({ slots: limit, take: () => undefined }),
    onLeased: (reference) => leased.push(reference),
    onDue: () => undefined,
    redactKey: (body) => body,
    logger: shop.program.logger,
  });
  nowMs += 60_000;
  const references: string[] = [];
  for (let time = 0; time < 8; time += 1) references.push((await shop.checkout()).reference);
  const send = (reference: string | undefined, address: string) =>
    receive({ ...about(reference ?? ''), address });
  for (const reference of references.slice(0, 6)) await send(reference, '198.51.100.1');
  await send(references[6], '203.0.113.9');
  expect(leased).toEqual([...references.slice(0, 4), references[6]]);
  expect(
    await query(
      'SELECT reference FROM payments WHERE reference = ANY($1) AND hints > 0 AND next_check_at <= now()',
      [references[4], references[5]],
    ),
  ).toHaveLength(2);
  nowMs += 1_000;
  await send(references[7], '198.51.100.1');
  expect(leased.at(-1)).toBe(references[7]);
});

test('B1: of large ones about one payment, 64 kB and the one that passes it are kept', async () => {
  const receive = receiver();
  const { reference } = await shop.checkout();
  for (let time = 0; time < 6; time += 1) {
    const body = Buffer.from(
      JSON.stringify({ data: { reference }, id: newId(), padding: 'x'.repeat(30_000) }),
    );
    await receive({ ...about(reference), body });
  }
  expect(await rows()).toBe(3);
});

test('signed ones are kept, all of them', async () => {
  const receive = receiver([new Secret(SECRET)]);
  const { reference } = await shop.checkout();
  expect(new Set(await outcomes(receive, 150, newId))).toEqual(new Set(['stored']));
  expect(new Set(await outcomes(receive, 50, () => reference))).toEqual(new Set(['stored']));
  expect(await rows()).toBe(200);
});

test('over HTTP: 429, and when to come again', async () => {
  const unsigned = await startProgram();
  try {
    // As when no secret is set.
    const statuses = new Map<number, number>();
    const receive = createReceiveWebhook({
      db: unsigned.program.database,
      mode: 'test',
      dialect: unsigned.program.gateway.dialect,
      secrets: [],
      redactKey: (body) => body,
      // All within one minute, however long they take.
      clock: { ...systemClock, elapsedMs: () => 0 },
      reserve: () => ({ slots: 0, take: () => undefined }),
      onLeased: () => undefined,
      onDue: () => undefined,
      logger: unsigned.program.logger,
    });
    const { default: express } = await import('express');
    const { webhookRoutes } = await import('../../src/webhooks/routes.ts');
    const { ProblemPage } = await import('../../src/admin/layout/frame.tsx');
    const { problemHandler } = await import('../../src/platform/problem.ts');
    const app = express()
      .use(webhookRoutes(receive))
      .use(problemHandler(unsigned.program.logger, ProblemPage));
    const server = app.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    let retryAfter: string | null = null;
    for (let time = 0; time < 65; time += 1) {
      const answer = await post(`http://127.0.0.1:${port}/webhooks/payments`, {
        data: { reference: newId() },
      });
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      retryAfter = answer.headers.get('retry-after');
    }
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect(Object.fromEntries(statuses)).toEqual({ 202: 60, 429: 5 });
    expect(retryAfter).toMatch(/^[1-9]\d?$/);
  } finally {
    await unsigned.close();
  }
});

test('a thousand forged ones write a line at once and then one in ten seconds, and a row with the newest', async () => {
  const { logger, lines } = keepLines();
  const receive = receiver([new Secret('another')], logger);
  const told = () =>
    lines.map((line) => JSON.parse(line) as { times: number; msg: string; reference: string });
  await query('DELETE FROM refused_webhooks');
  const last = newId();
  await outcomes(receive, 999, () => last);
  await outcomes(receive, 1, () => 'ada@example.com');
  expect(told()).toMatchObject([
    { times: 1, msg: 'webhook refused: bad signature', reference: last, address: '' },
  ]);
  nowMs += 10_000;
  await outcomes(receive, 1, newId);
  expect(told().map(({ times }) => times)).toEqual([1, 1_000]);

  const noted = () =>
    query<{ times: number; samples: { reference: string | null; at: string }[] }>(
      // What the tests before refused, for another reason, may still be written.
      `SELECT sum(times)::int AS times, jsonb_path_query_array(jsonb_agg(samples), $1) AS samples
       FROM refused_webhooks WHERE reason = 'bad-signature'`,
      '$[*][*]',
    );
  await eventually(async () => (await noted())[0]?.times === 1_001);
  const [row] = await noted();
  expect(row?.samples.length).toBeLessThanOrEqual(10);
  expect(row?.samples.map(({ reference }) => reference)).toContain(null);
  expect(JSON.stringify(row)).not.toContain('ada@');
});

test('what is refused writes at most once a second, and nothing while it is answered', async () => {
  const statements: string[] = [];
  const { database, logger } = shop.program;
  const watched: typeof database.query = (statement, values) => {
    statements.push(typeof statement === 'string' ? statement : statement.text);
    return database.query(statement, values);
  };
  const refuse = createRefusals({
    ...{ db: { query: watched }, mode: 'test', clock: systemClock, logger },
    referenceOf: () => null,
  });
  for (let time = 0; time < 10_000; time += 1)
    refuse({ reason: 'malformed', address: '', body: Buffer.alloc(0) });
  expect(statements).toEqual([]);
  await eventually(() => Promise.resolve(statements.length === 1));
  for (let time = 0; time < 10_000; time += 1)
    refuse({ reason: 'malformed', address: '', body: Buffer.alloc(0) });
  const noted = async () =>
    (
      await query<{ times: number }>(
        `SELECT sum(times)::int AS times FROM refused_webhooks WHERE reason = 'malformed'`,
      )
    )[0]?.times;
  await eventually(async () => (await noted()) === 10_000);
  expect(statements).toHaveLength(1);
  await eventually(async () => (await noted()) === 20_000);
  expect(statements).toHaveLength(2);
});
