import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createHash, createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { newId, type Reference } from '../../src/platform/ids.ts';
import {
  hintAndLease,
  isBeingChecked,
  postponeCheck,
  type DuePayment,
} from '../../src/payments/checks.sql.ts';
import { createWebhookStore, type ReceivedWebhook } from '../../src/webhooks/webhooks.sql.ts';
import { asReference } from '../support/ids.ts';
import { eventually, startProgram, type TestProgram } from '../support/program.ts';

let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram({ slowTime: true });
});
afterAll(() => shop.close());

const query = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);

function send(
  body: string | Buffer,
  headers: Record<string, string> = {},
  method = 'POST',
): Promise<Response> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const signature = createHmac('sha256', shop.sandbox.webhookSecret).update(bytes).digest('hex');
  const init = {
    method,
    headers: { 'content-type': 'application/json', 'x-signature': signature, ...headers },
    redirect: 'manual' as const,
  };
  return fetch(
    `${shop.origin}/webhooks/payments`,
    method === 'POST' ? { ...init, body: new Uint8Array(bytes) } : init,
  );
}

const about = (reference: string, extra = ''): string =>
  JSON.stringify({ event: 'transaction.success', data: { reference, status: 'SUCCESS' }, extra });

test('an acknowledged webhook is on disk, and its payment is due', async () => {
  const { reference } = await shop.checkout();
  const body = about(reference);
  expect((await send(body)).status).toBe(202);
  const [row] = await query<{ body: Buffer; outcome: string; authenticity: string }>(
    'SELECT * FROM webhooks WHERE reference = $1',
    reference,
  );
  expect(row).toMatchObject({ outcome: 'hinted', authenticity: 'signed' });
  expect(row?.body.toString()).toBe(body);
  expect(
    await query(
      'SELECT FROM payments WHERE reference = $1 AND next_check_at <= now() AND hints = 1',
      reference,
    ),
  ).toHaveLength(1);
});

test('a forged "paid" pays nothing: the service is asked, and says that nobody paid', async () => {
  const order = await shop.checkout();
  expect((await send(about(order.reference, 'forged'))).status).toBe(202);
  await shop.program.duePayments.runOnce();
  const answer = await fetch(`${shop.origin}/orders/${order.orderId}`);
  expect(await answer.json()).toMatchObject({ status: 'pending' });
});

test('the same webhook again is one row, however often and however many at once', async () => {
  const { reference } = await shop.checkout();
  const answers = await Promise.all(Array.from({ length: 20 }, () => send(about(reference))));
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(202));
  expect(await query('SELECT deliveries FROM webhooks WHERE reference = $1', reference)).toEqual([
    { deliveries: 20 },
  ]);
});

test('an authentic webhook about an unknown reference is kept, acknowledged, and costs no question', async () => {
  const reference = 'u'.repeat(24);
  expect((await send(about(reference))).status).toBe(202);
  expect(await query('SELECT outcome FROM webhooks WHERE reference = $1', reference)).toEqual([
    { outcome: 'ignored' },
  ]);
  await shop.program.duePayments.runOnce();
  const calls = await (await fetch(`${shop.sandbox.url}/sandbox/calls?reference=${reference}`)).text();
  expect(calls).not.toContain('"verify":1');
});

describe('a webhook that nobody signed is refused and leaves nothing', () => {
  test.each([
    ['no signature', { 'x-signature': '' }],
    ['another secret', { 'x-signature': createHmac('sha256', 'other').update('x').digest('hex') }],
    ['odd length', { 'x-signature': 'abc' }],
  ])('%s', async (_name, headers) => {
    const { reference } = await shop.checkout();
    const answer = await send(about(reference), headers);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(await query('SELECT FROM webhooks WHERE reference = $1', reference)).toHaveLength(0);
    expect(await query('SELECT FROM payments WHERE reference = $1 AND hints = 0', reference)).toHaveLength(1);
  });
});

describe('a malformed webhook costs nothing but an answer', () => {
  test.each<[string, string | Buffer, Record<string, string>, number]>([
    ['not JSON', '{"a":', {}, 400],
    ['a list', '[1]', {}, 400],
    ['a bare text', '"x"', {}, 400],
    ['nothing', '', {}, 400],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), {}, 400],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le'), {}, 400],
    ['a hundred thousand brackets', '['.repeat(100_000), {}, 400],
    ['more than 128 KiB', JSON.stringify({ a: 'x'.repeat(140_000) }), {}, 413],
    ['plain text', '{"a":1}', { 'content-type': 'text/plain' }, 415],
    ['compressed', gzipSync('{"a":1}'), { 'content-encoding': 'gzip' }, 415],
  ])('%s', async (_name, body, headers, status) => {
    const answer = await send(body, headers);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
  });

  test.each(['GET', 'PUT', 'DELETE'])('%s', async (method) => {
    const answer = await send('', {}, method);
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST');
  });
});

test.each([
  ['a NUL', '{"data":{"reference":"\\u0000"}}'],
  ['a lone surrogate', '{"data":{"reference":"\\ud800"}}'],
  ['a prototype', '{"__proto__":{"reference":"x"},"data":{"reference":"y"}}'],
  ['a number for a reference', '{"data":{"reference":123}}'],
  ['SQL for a reference', `{"data":{"reference":"'; DROP TABLE orders; --"}}`],
])('%s in a body is a row like any other', async (_name, body) => {
  expect((await send(body)).status).toBe(202);
});

describe('many at once', () => {
  test('each is what it would be alone: of ours, of nobody, and the same one again', async () => {
    const ours = await Promise.all([shop.checkout(), shop.checkout(), shop.checkout()]);
    const bodies = [...ours.map(({ reference }) => about(reference)), about(newId()), '{"data":{}}'];
    const answers = await Promise.all([...bodies, ...bodies].map((body) => send(body)));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(202));
    const stored = await query<{ body: Buffer; outcome: string; deliveries: number }>(
      'SELECT body, outcome, deliveries FROM webhooks WHERE body = ANY($1)',
      bodies.map((body) => Buffer.from(body)),
    );
    const outcomeOf = new Map(stored.map(({ body, outcome }) => [body.toString(), outcome]));
    expect(bodies.map((body) => outcomeOf.get(body))).toEqual([
      'hinted',
      'hinted',
      'hinted',
      'ignored',
      'ignored',
    ]);
    expect(stored.map(({ deliveries }) => deliveries)).toEqual([2, 2, 2, 2, 2]);
    const references = ours.map(({ reference }) => reference);
    expect(await query('SELECT hints FROM payments WHERE reference = ANY($1)', references)).toEqual([
      { hints: 2 },
      { hints: 2 },
      { hints: 2 },
    ]);
  });

  test('a payment that somebody is checking is not leased a second time, and its hint is not lost', async () => {
    const { reference } = await shop.checkout();
    await query(
      `UPDATE payments SET leased_until = now() + interval '1 min', last_hinted_at = NULL WHERE reference = $1`,
      reference,
    );
    const leased: DuePayment[] = [];
    const store = createWebhookStore(shop.program.database, () => ({
      slots: 1,
      take: (rows) => {
        leased.push(...rows);
      },
    }));
    expect(await store(received(reference), false)).toMatchObject({
      isHinted: true,
      isLeased: false,
      isStored: true,
    });
    expect(leased).toEqual([]);
    expect(
      await query(
        'SELECT hints, next_check_at <= leased_until AS due FROM payments WHERE reference = $1',
        reference,
      ),
    ).toEqual([{ hints: 1, due: true }]);
  });

  test.each([
    ['soon', '5 s'],
    ['tomorrow', '1 day'],
  ])(
    'a payment that was to be checked %s is due before its lease ends, should its worker die',
    async (_when, pause) => {
      const { reference } = await shop.checkout();
      await query(
        `UPDATE payments SET next_check_at = now() + $2::interval WHERE reference = $1`,
        reference,
        pause,
      );
      const store = createWebhookStore(shop.program.database, (limit) => ({
        slots: limit,
        take: () => undefined,
      }));
      expect(await store(received(reference), false)).toMatchObject({ isLeased: true });
      expect(await isBeingChecked(shop.program.database, reference)).toBe(true);
      expect(
        await query(
          'SELECT next_check_at < leased_until AS due FROM payments WHERE reference = $1',
          reference,
        ),
      ).toEqual([{ due: true }]);
    },
  );

  test('a payment that the service asked to be left alone is nobody’s work meanwhile, hint or not', async () => {
    const { reference } = await shop.checkout();
    const { database } = shop.program;
    await postponeCheck(database, reference, 5, 60);
    const store = createWebhookStore(database, (limit) => ({ slots: limit, take: () => undefined }));
    expect(await store(received(reference), false)).toMatchObject({ isHinted: true, isLeased: false });
    expect(await isBeingChecked(database, reference)).toBe(false);
    expect(await hintAndLease(database, reference, 'test')).toMatchObject({
      isLeased: false,
      wasLeased: false,
    });
  });

  test('as many payments are leased as this process has places; the others are due', async () => {
    const ours = await Promise.all([shop.checkout(), shop.checkout(), shop.checkout()]);
    const leased: DuePayment[] = [];
    const store = createWebhookStore(shop.program.database, () => ({
      slots: 2,
      take: (rows) => {
        leased.push(...rows);
      },
    }));
    const results = await Promise.all(ours.map(({ reference }) => store(received(reference), false)));
    expect(results.map(({ isHinted, isStored }) => isHinted && isStored)).toEqual([true, true, true]);
    expect(results.filter(({ isLeased }) => isLeased)).toHaveLength(2);
    await eventually(() => Promise.resolve(leased.length === 2));
    expect(leased).toMatchObject([
      { isHinted: true, status: 'open', orderStatus: 'pending', hints: 1, checks: 1, amount: 850_000n },
      { isHinted: true, status: 'open', orderStatus: 'pending', hints: 1, checks: 1, amount: 850_000n },
    ]);
    const rows = await query<{ reference: Reference; leased: boolean; due: boolean }>(
      `SELECT reference, coalesce(leased_until > now() + interval '20 s', false) AS leased,
         next_check_at <= coalesce(leased_until, now()) AS due
       FROM payments WHERE reference = ANY($1)`,
      ours.map(({ reference }) => reference),
    );
    const taken = leased.map(({ reference }) => reference);
    expect(rows.map(({ reference, leased }) => leased === taken.includes(reference))).toEqual([
      true,
      true,
      true,
    ]);
    expect(rows.map(({ due }) => due)).toEqual([true, true, true]);
  });

  test('a payment that somebody checks, or that hints had checked three times a moment ago, is not leased again', async () => {
    const { reference } = await shop.checkout();
    const store = createWebhookStore(shop.program.database, (limit) => ({
      slots: limit,
      take: () => undefined,
    }));
    const leases = async (): Promise<boolean> => (await store(received(reference), false)).isLeased;
    expect([await leases(), await leases()]).toEqual([true, false]);
    const letGo = () => query('UPDATE payments SET leased_until = NULL WHERE reference = $1', reference);
    for (const isLeased of [true, true, false]) {
      await letGo();
      expect(await leases()).toBe(isLeased);
    }
    await query(
      `UPDATE payments SET last_hinted_at = now() - interval '11 s' WHERE reference = $1`,
      reference,
    );
    expect(await leases()).toBe(true);
  });
});

describe('B1: pauses that strangers have made long', () => {
  test.each([
    ['signed', 11, true],
    ['signed', 8, false],
    ['unsigned', 11, false],
  ] as const)(
    'a %s one, %i seconds after the last check that taught nothing: %s',
    async (authenticity, sec, isLeased) => {
      const { reference } = await shop.checkout();
      await query(
        `UPDATE payments SET hint_checks = 9, last_hinted_at = now() - make_interval(secs => $2) WHERE reference = $1`,
        reference,
        sec,
      );
      const store = createWebhookStore(shop.program.database, (limit) => ({
        slots: limit,
        take: () => undefined,
      }));
      expect(await store({ ...received(reference), authenticity }, false)).toMatchObject({
        isHinted: true,
        isLeased,
      });
    },
  );
});

// Last, because a stopped poller does not start again.
test('a webhook that is followed as it comes is the cause of the answer', async () => {
  const { orderId, reference } = await shop.checkout();
  const { duePayments } = shop.program;
  duePayments.start();
  await shop.hand(`transactions/${reference}/pay`, { notify: false });
  await send(about(reference));
  await eventually(async () => {
    const rows = await query('SELECT FROM orders WHERE id = $1 AND status = $2', orderId, 'paid');
    return rows.length === 1;
  });
  await duePayments.stop();
  const told = await query('SELECT cause FROM verifications WHERE reference = $1', reference);
  expect(told).toEqual([{ cause: 'webhook' }]);
});

function received(reference: string): ReceivedWebhook {
  const body = Buffer.from(about(reference, newId()));
  return {
    mode: 'test',
    body,
    bodySha256: createHash('sha256').update(body).digest(),
    contentType: 'application/json',
    authenticity: 'signed',
    reference: asReference(reference),
  };
}
