import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { newId } from '../../src/platform/ids.ts';
import { IS_WHOLE, someOfEach } from '../support/extent.ts';
import { withRecord } from '../support/line-faults.ts';
import { eventually } from '../support/program.ts';
import { startStage, type End, type Order, type Stage } from '../support/stage.ts';

// The service calls: too often, too late, in the wrong order, never; or it is not the service at all. A webhook makes us
// ask, and what verify answers is what counts.

let stage: Stage;
beforeAll(async () => {
  stage = await startStage({ env: { WEBHOOK_SECRETS: 'whsec_of_last_year' } });
});
afterAll(() => stage.close());

const about = ({ reference }: Pick<Order, 'reference'>, status = 'SUCCESS', nonce = ''): object => ({
  event: 'transaction',
  data: { reference, status, amount: 8500, currency: 'NGN' },
  nonce,
});
const times = <T>(count: number, act: (at: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_none, at) => act(at)));
const signedBy = (secret: string, text: string): string =>
  createHmac('sha256', secret).update(text).digest('hex');
const rows = async (text: string, ...values: unknown[]): Promise<object[]> =>
  stage.program.database.query(text, values);
const keptAbout = ({ reference }: Order) =>
  rows('SELECT outcome, deliveries FROM webhooks WHERE reference = $1', reference);
/** The clock looks without any time passing. */
const ask = (order: Order): Promise<void> => stage.later(order, 0);

/** How many hints one wave of a flood brings. */
const AT_ONCE = IS_WHOLE ? 50 : 10;

type Scenario = { id: string; name: string; play: (order: Order) => Promise<unknown>; end: Partial<End> };

const PAID: Partial<End> = { order: 'paid', payments: ['paid'], suspense: [], releases: 1 };
const UNTOUCHED: Partial<End> = {
  order: 'pending',
  payments: ['open'],
  proofs: [],
  releases: 0,
  wire: { initialize: 1, verify: 0 },
};

const SCENARIOS: readonly Scenario[] = [
  {
    id: 'W1',
    name: 'the same one many times at once',
    play: async (order) => {
      await stage.decide(order, 'pay');
      expect(await times(AT_ONCE, () => stage.callUs(about(order)))).toEqual(Array(AT_ONCE).fill(202));
      expect(await keptAbout(order)).toEqual([{ outcome: 'hinted', deliveries: AT_ONCE }]);
      await ask(order);
    },
    end: { ...PAID, proofs: ['paid'], wire: { initialize: 1, verify: 1 } },
  },
  {
    id: 'W1',
    name: 'many different ones at once: a question, three more, and one more after the pause',
    play: async (order) => {
      await times(AT_ONCE, (at) => stage.callUs(about(order, 'SUCCESS', `attempt ${at}`)));
      await ask(order);
      // The first answer is news. What says the same again leaves no evidence.
      for (let round = 0; round < 5; round += 1) {
        await times(AT_ONCE, (at) => stage.callUs(about(order, 'SUCCESS', `round ${round} of ${at}`)));
        await stage.later(order, 0);
      }
      expect(await stage.endOf(order)).toMatchObject({ wire: { initialize: 1, verify: 4 } });
      await stage.later(order, 11);
    },
    end: { order: 'pending', proofs: ['pending'], wire: { initialize: 1, verify: 5 } },
  },
  {
    id: 'W2',
    name: '"failed" and "pending" come after "paid"',
    play: async (order) => {
      await stage.decide(order, 'pay');
      for (const word of ['SUCCESS', 'FAILED', 'PENDING']) {
        expect(await stage.callUs(about(order, word))).toBe(202);
        await stage.later(order, 11);
      }
    },
    end: { ...PAID, proofs: ['paid'], wire: { initialize: 1, verify: 3 } },
  },
  {
    id: 'W2',
    name: '"failed" comes, and the money is there',
    play: async (order) => {
      await stage.decide(order, 'pay');
      await stage.callUs(about(order, 'FAILED'));
      await ask(order);
    },
    end: { ...PAID, proofs: ['paid'] },
  },
  {
    id: 'W4',
    name: 'it never comes, nor does the shopper: the schedule finds the money',
    play: async (order) => {
      await stage.decide(order, 'pay');
      await stage.later(order, 5);
    },
    end: { ...PAID, proofs: ['paid'] },
  },
  {
    id: 'W4',
    name: 'it never comes, and reconciliation is first',
    play: async (order) => {
      await stage.decide(order, 'pay');
      await stage.program.reconcile({ dryRun: false });
    },
    end: { ...PAID, proofs: ['paid'] },
  },
  {
    id: 'W5',
    name: 'forged, for a payment that nobody made',
    play: async (order) => {
      expect(await stage.callUs(about(order))).toBe(202);
      await ask(order);
    },
    end: {
      order: 'pending',
      payments: ['open'],
      proofs: ['pending'],
      releases: 0,
      wire: { initialize: 1, verify: 1 },
    },
  },
  ...Object.entries<Record<string, string>>({
    'no signature': { 'x-signature': '' },
    'the signature of another body': { 'x-signature': signedBy('whsec_test', '{}') },
    'the signature of another secret': { 'x-signature': signedBy('whsec_guessed', '{}') },
    'two signatures in one header': { 'x-signature': `${'0'.repeat(64)}, ${'1'.repeat(64)}` },
    'a signature that is no hex': { 'x-signature': 'z'.repeat(64) },
    'a signature of odd length': { 'x-signature': 'abc' },
    'half a signature': { 'x-signature': 'ab'.repeat(16) },
    'eight kilobytes of signature': { 'x-signature': 'ab'.repeat(4_096) },
  }).map(([name, headers], at): Scenario => ({
    id: at < 4 ? 'W7' : 'W16',
    name,
    play: async (order) => {
      await stage.decide(order, 'pay');
      expect(await stage.callUs(about(order), headers)).toBe(401);
      expect(await keptAbout(order)).toEqual([]);
      await ask(order);
    },
    end: UNTOUCHED,
  })),
  {
    id: 'W7',
    name: 'signed with the secret of before the rotation',
    play: async (order) => {
      await stage.decide(order, 'pay');
      const text = JSON.stringify(about(order));
      const signature = signedBy('whsec_of_last_year', text).toUpperCase();
      expect(await stage.callUs(text, { 'x-signature': signature })).toBe(202);
      await ask(order);
    },
    end: PAID,
  },
  {
    id: 'W8',
    name: 'a true one is replayed two days later',
    play: async (order) => {
      await stage.decide(order, 'pay');
      await stage.callUs(about(order));
      await ask(order);
      await stage.later(order, 2 * 86_400);
      expect(await stage.callUs(about(order))).toBe(202);
      expect(await keptAbout(order)).toEqual([{ outcome: 'hinted', deliveries: 2 }]);
      await ask(order);
    },
    end: { ...PAID, proofs: ['paid'], wire: { initialize: 1, verify: 2 } },
  },
  {
    id: 'W12',
    name: 'Latin-1, with a true signature over its bytes',
    play: async (order) => {
      await stage.decide(order, 'pay');
      const text = JSON.stringify({ ...about(order), name: 'Ren\u00e9' });
      expect(await stage.callUs(Buffer.from(text, 'latin1'))).toBe(400);
      await ask(order);
    },
    end: UNTOUCHED,
  },
  ...['utf16le', 'bom'].map((encoding): Scenario => ({
    id: 'W12',
    name: `${encoding}, with a true signature over its bytes`,
    play: async (order) => {
      const text = JSON.stringify(about(order));
      const body = encoding === 'bom' ? Buffer.from(`\ufeff${text}`) : Buffer.from(text, 'utf16le');
      expect(await stage.callUs(body)).toBe(400);
      await ask(order);
    },
    end: UNTOUCHED,
  })),
  ...['\\u0000', '\\ud800', '\\udc00\\ud800'].map((escape): Scenario => ({
    id: 'W13',
    name: `${escape} beside a reference of ours`,
    play: async (order) => {
      await stage.decide(order, 'pay');
      const text = JSON.stringify(about(order)).replace('"nonce":""', `"nonce":"${escape}","${escape}":1`);
      expect(await stage.callUs(text)).toBe(202);
      await ask(order);
    },
    end: PAID,
  })),
  ...Object.entries<(reference: string) => unknown>({
    'at another place': (reference) => ({ data: { transaction: { reference } } }),
    'in a list': (reference) => ({ data: { reference: [reference] } }),
    'with a suffix': (reference) => ({ data: { reference: `${reference}/../x` } }),
    'as a number beside it': (reference) => ({ data: { reference: 123, ref: reference } }),
    'as the key of a prototype': (reference) =>
      JSON.parse(`{"__proto__":{"data":{"reference":"${reference}"}}}`) as object,
  }).map(([name, body]): Scenario => ({
    id: 'W18',
    name: `the reference stands ${name}: kept and ignored`,
    play: async (order) => {
      await stage.decide(order, 'pay');
      expect(await stage.callUs(body(order.reference) as object)).toBe(202);
      await ask(order);
    },
    end: UNTOUCHED,
  })),
  {
    id: 'W18',
    name: 'the reference stands at the top',
    play: async (order) => {
      await stage.decide(order, 'pay');
      expect(await stage.callUs({ Event: 'charge', reference: order.reference, status: 'paid' })).toBe(202);
      await ask(order);
    },
    end: PAID,
  },
];

describe('a webhook makes us ask, and nothing else', () => {
  test.each(IS_WHOLE ? SCENARIOS : someOfEach(SCENARIOS, 2, ({ id, end }) => `${id} ${end.order}`))(
    '$id: $name',
    async ({ play, end }) => {
      const order = await stage.checkout();
      await play(order);
      expect(await stage.endOf(order)).toMatchObject(end);
      await stage.heal(order);
      // Whatever became of the webhook, the clock finds what is true.
      const isPaid = (await ledgerState(order)) === 'paid';
      expect(await stage.endOf(order)).toMatchObject({
        order: isPaid ? 'paid' : 'pending',
        releases: Number(isPaid),
      });
      await stage.check();
    },
  );
});

async function ledgerState({ reference }: Order): Promise<string> {
  const answer = await fetch(`${stage.sandbox.url}/sandbox/transactions/${reference}`);
  return ((await answer.json()) as { state: string }).state;
}

test('W3: it is faster than the answer to initialize', async () => {
  const seen: string[] = [];
  const orders: Order[] = [];
  stage.line.disturb('initialize', [
    async (call) => {
      const answer = await call.pass();
      const order = { orderId: await orderOf(call.reference ?? ''), reference: call.reference ?? '' };
      orders.push(order);
      await stage.decide(order, 'pay');
      expect(await stage.callUs(about(order))).toBe(202);
      await stage.later(order, 0);
      seen.push((await stage.endOf(order)).order);
      call.answer(answer);
    },
  ]);
  // No shopper is sent to pay what is paid.
  expect((await stage.buy()).status).toBe(409);
  const [order] = orders as [Order];
  expect(seen).toEqual(['paid']);
  expect(await stage.comeBack(order)).toBe(303);
  expect(await stage.endOf(order)).toMatchObject({
    ...PAID,
    proofs: ['paid'],
    wire: { initialize: 1, verify: 1 },
  });
  await stage.check();
});

async function orderOf(reference: string): Promise<string> {
  const [row] = await rows('SELECT order_id AS "orderId" FROM payments WHERE reference = $1', reference);
  return (row as { orderId: string }).orderId;
}

test('W6: about a reference that is not ours: accepted, kept, and no call goes out', async () => {
  const strangers = Array.from({ length: 5 }, () => ({ orderId: '', reference: newId() }));
  for (const stranger of strangers) {
    expect(await stage.callUs(about(stranger))).toBe(202);
    expect(await keptAbout(stranger)).toEqual([{ outcome: 'ignored', deliveries: 1 }]);
  }
  await stage.program.duePayments.runOnce();
  for (const { reference } of strangers) expect(stage.line.callsAbout(reference).verify).toBe(0);
  await stage.check();
});

test('W9: a flood about one payment and about many costs a few questions, and honest shoppers are served', async () => {
  const order = await stage.checkout();
  const flood = async (at: number): Promise<number> =>
    stage.callUs(about(at % 2 === 0 ? order : { reference: newId() }, 'SUCCESS', String(at)));
  const answers: number[] = [];
  for (let wave = 0; wave < 8; wave += 1) {
    const [statuses, honest] = await Promise.all([
      times(AT_ONCE, (at) => flood(wave * AT_ONCE + at)),
      stage.buy(),
      stage.program.duePayments.runOnce(),
    ]);
    answers.push(...statuses);
    expect(honest.status).toBe(201);
  }
  // Taken, or told to come again later.
  expect(answers.filter((status) => ![202, 429, 503].includes(status))).toEqual([]);
  const { wire, ...end } = await stage.endOf(order);
  expect(end).toMatchObject({ order: 'pending', releases: 0 });
  // The first answer is news; after three that say it again there is a pause.
  expect(wire.verify).toBeLessThanOrEqual(4);
  await stage.heal(order);
  await stage.check();
});

describe('malformed: refused with its status, and nothing is written', () => {
  const big = Buffer.alloc(200_000, ' ');
  const manyKeys = (count: number): string =>
    `{${Array.from({ length: count }, (_none, at) => `"${at}":1`).join(',')}}`;

  type Malformed = [string, string, string | Buffer, Record<string, string>, number];
  const MALFORMED: readonly Malformed[] = [
    ['W10', 'truncated', '{"data":{"reference":', {}, 400],
    ['W10', 'not JSON', 'hello', {}, 400],
    ['W10', 'a list', '[]', {}, 400],
    ['W10', 'a hundred thousand brackets', '['.repeat(100_000), {}, 400],
    ['W10', 'nothing', '', {}, 400],
    ['W10', 'a hundred thousand objects in each other', '{"a":'.repeat(20_000), {}, 400],
    ['W10', 'a million keys', manyKeys(IS_WHOLE ? 1_000_000 : 100_000), {}, 413],
    ['W11', 'ten mebibytes', Buffer.alloc(10 << 20, ' '), {}, 413],
    ['W11', 'a gzip bomb', gzipSync(Buffer.alloc(20 << 20)), { 'content-encoding': 'gzip' }, 415],
    ['W11', 'a brotli bomb', brotliCompressSync(big), { 'content-encoding': 'br' }, 415],
    ['W12', 'invalid UTF-8', Buffer.from('{"a":"\xff\xfe"}', 'latin1'), {}, 400],
    ['W14', 'plain text', '{"reference":"x"}', { 'content-type': 'text/plain' }, 415],
    ['W14', 'no content type', '{"reference":"x"}', { 'content-type': '' }, 415],
  ];
  const kindOf = ([id, , , , status]: Malformed): string => `${id} ${status}`;

  const some = IS_WHOLE ? MALFORMED : someOfEach(MALFORMED, 2, kindOf);
  test.each(some)('%s: %s', async (_id, _name, body, headers, status) => {
    const [before] = await rows('SELECT count(*) FROM webhooks');
    expect(await stage.callUs(body, headers)).toBe(status);
    expect(await rows('SELECT count(*) FROM webhooks')).toEqual([before]);
    await stage.check();
  });

  test.each(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])('W14: %s', async (method) => {
    const answer = await fetch(`${stage.origin}/webhooks/payments`, { method, redirect: 'manual' });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST');
  });

  test.each([
    ['ten thousand keys', manyKeys(10_000)],
    ['a prototype', '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'],
    ['two references', `{"data":{"reference":"${newId()}","reference":"${newId()}"}}`],
  ])('W10: %s: kept like any other, and about nobody', async (_name, body) => {
    expect(await stage.callUs(body)).toBe(202);
    expect('polluted' in {}).toBe(false);
    await stage.check();
  });
});

/** Writes a request by hand, and gives what came back when `isOver` says so or the server hangs up. */
function byHand(parts: readonly string[], isOver: (text: string) => boolean): Promise<string> {
  const { port } = new URL(stage.origin);
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(Number(port), '127.0.0.1', () => {
      for (const part of parts) socket.write(part);
    });
    const end = (): void => {
      socket.destroy();
      resolve(text);
    };
    socket
      .setEncoding('utf8')
      .on('data', (chunk: string) => {
        text += chunk;
        if (isOver(text)) end();
      })
      .on('error', end)
      .on('close', end);
  });
}

const HEAD = 'POST /webhooks/payments HTTP/1.1\r\nhost: shop\r\ncontent-type: application/json\r\n';

test('W11: more than 128 KiB in chunks that announce no length', async () => {
  const chunk = `4000\r\n${' '.repeat(0x4000)}\r\n`;
  const parts = [`${HEAD}transfer-encoding: chunked\r\n\r\n`, ...Array<string>(12).fill(chunk), '0\r\n\r\n'];
  expect(await byHand(parts, (text) => text.includes('\r\n\r\n'))).toMatch(/^HTTP\/1\.1 413 /);
});

test('W15: thirty bodies that crawl hold up nobody, and leave nothing when their senders go', async () => {
  const order = await stage.checkout();
  const [before] = await rows('SELECT count(*) FROM webhooks');
  const { port } = new URL(stage.origin);
  const crawlers = Array.from({ length: 30 }, () =>
    connect(Number(port), '127.0.0.1').on('error', () => undefined),
  );
  for (const socket of crawlers) socket.write(`${HEAD}content-length: 400\r\n\r\n{"data":`);
  expect((await stage.buy()).status).toBe(201);
  expect(await rows('SELECT count(*) FROM webhooks')).toEqual([before]);
  await stage.decide(order, 'pay');
  expect(await stage.callUs(about(order))).toBe(202);
  await ask(order);
  expect(await stage.endOf(order)).toMatchObject(PAID);
  for (const socket of crawlers) socket.destroy();
  await stage.check();
  expect(await keptAbout(order)).toEqual([{ outcome: 'hinted', deliveries: 1 }]);
});

test('W16: two signature headers are none', async () => {
  const order = await stage.checkout();
  const text = JSON.stringify(about(order));
  const signature = `x-signature: ${signedBy(stage.sandbox.webhookSecret, text)}\r\n`;
  const parts = [`${HEAD}${signature}${signature}content-length: ${text.length}\r\n\r\n${text}`];
  expect(await byHand(parts, (answer) => answer.includes('\r\n\r\n'))).toMatch(/^HTTP\/1\.1 401 /);
  await ask(order);
  expect(await stage.endOf(order)).toMatchObject(UNTOUCHED);
});

test('W17: the database takes no writes: 503, never an acknowledgement, and the same one is taken later', async () => {
  const order = await stage.checkout();
  await stage.decide(order, 'pay');
  const { database } = stage.program;
  const [found] = await database.query<{ name: string }>('SELECT current_database() AS name');
  const name = found?.name ?? '';
  // Like a primary that is demoted: every connection breaks, and new ones can only read.
  const readOnly = async (on: boolean): Promise<void> => {
    await database.transaction(async (tx) => {
      await tx.query('SET TRANSACTION READ WRITE');
      await tx.query(`ALTER DATABASE ${name} SET default_transaction_read_only = ${on ? 'on' : 'off'}`);
    });
    const [moment] = await database.query<{ now: Date }>('SELECT pg_catalog.clock_timestamp() AS now');
    const left = `FROM pg_stat_activity WHERE datname = $1 AND backend_start <= $2`;
    await eventually(async () => {
      const broken = database.query(`SELECT pg_terminate_backend(pid) ${left}`, [name, moment?.now]);
      const isOver = await broken.then(
        (found) => found.length === 0,
        () => false,
      );
      return isOver;
    });
  };
  await readOnly(true);
  const answers = await times(5, () => stage.callUs(about(order)));
  await readOnly(false);
  expect(answers).toEqual(Array(5).fill(503));
  expect(await keptAbout(order)).toEqual([]);
  await eventually(async () => (await stage.callUs(about(order))) === 202);
  await ask(order);
  expect(await stage.endOf(order)).toMatchObject(PAID);
  await stage.check();
});

describe('with a dialect whose signatures cover a time', () => {
  let timed: Stage;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dialect-'));
    const signature = {
      signs: 'timestamp.body',
      timestampHeader: 'x-timestamp',
      prefix: 'v1=',
      encoding: 'base64',
    };
    await writeFile(join(folder, 'dialect.json'), JSON.stringify({ webhook: { signature } }));
    timed = await startStage({
      env: { GATEWAY_DIALECT: join(folder, 'dialect.json'), WEBHOOK_SECRETS: 'whsec_x' },
    });
  });
  afterAll(async () => {
    await timed.close();
    await rm(folder, { recursive: true });
  });

  const MINUTE = 60;
  test.each<[string, number, number, number]>([
    ['just now', 0, 202, 1],
    ['ten seconds old', 10, 202, 1],
    ['six minutes old', 6 * MINUTE, 401, 0],
    ['two days old', 2 * 24 * 60 * MINUTE, 401, 0],
    ['ten seconds ahead', -10, 202, 1],
    ['six minutes ahead', -6 * MINUTE, 401, 0],
  ])('W8: %s, replayed ten times', async (_name, ageSec, status, questions) => {
    const order = await timed.checkout();
    await timed.decide(order, 'pay');
    const text = JSON.stringify(about(order));
    const at = String(Math.floor(Date.now() / 1_000) - ageSec);
    const mac = createHmac('sha256', timed.sandbox.webhookSecret).update(`${at}.${text}`).digest('base64');
    const headers = { 'x-timestamp': at, 'x-signature': `v1=${mac}` };
    expect(await times(10, () => timed.callUs(text, headers))).toEqual(Array(10).fill(status));
    await timed.later(order, 0);
    expect(await timed.endOf(order)).toMatchObject({
      order: questions === 1 ? 'paid' : 'pending',
      releases: questions,
      wire: { initialize: 1, verify: questions },
    });
    await timed.heal(order);
    expect(await timed.endOf(order)).toMatchObject(PAID);
    await timed.check();
  });

  test('W8: the time of one and the signature of another', async () => {
    const order = await timed.checkout();
    const text = JSON.stringify(about(order));
    const nowSec = Math.floor(Date.now() / 1_000);
    const mac = createHmac('sha256', timed.sandbox.webhookSecret)
      .update(`${nowSec - 900}.${text}`)
      .digest('base64');
    const headers = { 'x-timestamp': String(nowSec), 'x-signature': `v1=${mac}` };
    expect(await timed.callUs(text, headers)).toBe(401);
    await timed.later(order, 0);
    expect(await timed.endOf(order)).toMatchObject(UNTOUCHED);
    await timed.check();
  });
});

test('W4: it comes while verify still says pending, and never again: the schedule finds the money', async () => {
  const order = await stage.checkout();
  stage.line.disturb('verify', withRecord({ status: 'PENDING' }), order.reference);
  await stage.decide(order, 'pay', { notify: true });
  await eventually(async () => (await keptAbout(order)).length === 1);
  await ask(order);
  expect(await stage.endOf(order)).toMatchObject({ order: 'pending', proofs: ['pending'], releases: 0 });
  await stage.heal(order);
  expect(await stage.endOf(order)).toMatchObject(PAID);
  await stage.check();
});
