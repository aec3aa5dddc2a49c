import { createServer, type Server } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test as testOfBoth } from '@jest/globals';
import { someOfEach } from '../support/extent.ts';
import { testOfFew as test } from '../support/test-of-all.ts';
import type { Fault } from '../support/line.ts';
import { answers, applied, hangUp, rewritten, silence, withRecord } from '../support/line-faults.ts';
import type { CheckoutAnswer } from '../support/program.ts';
import { startStage, type Stage } from '../support/stage.ts';

// Answers that look right at first sight, and a fault that passes while the shopper waits.

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.close());

type Row = { id: string; name: string; fault: Fault };
const inEnvelope = (fields: object): Fault =>
  rewritten((text) => JSON.stringify({ ...(JSON.parse(text) as object), ...fields }));
const asPage = rewritten((text) => text, { 'content-type': 'text/html' });

const NOT_ITS_WORD: readonly (Row & { proof: string; order: string })[] = [
  ...[{ status: false }, { success: false }, { status: 'error' }, { error: 'try again' }].map((fields) => ({
    id: 'S13',
    name: `a paid record inside ${JSON.stringify(fields)}`,
    fault: inEnvelope(fields),
    proof: 'unreadable',
    order: 'pending',
  })),
  ...[{ mode: 'live' }, { environment: 'production' }, { livemode: true }].map((fields) => ({
    id: 'S17',
    name: `a record that says ${JSON.stringify(fields)}`,
    fault: withRecord(fields),
    proof: 'mode_mismatch',
    order: 'review',
  })),
  { id: 'S26', name: 'the true answer, called a page', fault: asPage, proof: 'unreadable', order: 'pending' },
];

describe('verify: not paid by it, and paid when the answer is whole', () => {
  const some = someOfEach(NOT_ITS_WORD, 2, ({ id }) => id);
  testOfBoth.each(some)('$id: $name', async ({ fault, proof, order: status }) => {
    const order = await stage.checkout();
    await stage.decide(order, 'pay');
    stage.line.disturb('verify', fault, order.reference);
    expect(await stage.comeBack(order)).toBe(303);
    expect(await stage.endOf(order)).toMatchObject({
      order: status,
      proofs: [proof],
      suspense: [],
      releases: 0,
    });
    await stage.heal(order);
    expect(await stage.endOf(order)).toMatchObject({ order: 'paid', releases: 1 });
    await stage.check();
  });
});

/** Nobody wants to wait for silence twice. */
const kindOf = ({ id }: Row): string => (id === 'S2' ? 'S1' : id);

const IN_DOUBT: readonly (Row & { isApplied?: true })[] = [
  { id: 'S1', name: 'unanswered, not carried out', fault: silence },
  { id: 'S2', name: 'unanswered, carried out', fault: applied(silence), isApplied: true },
  { id: 'S4', name: 'HTTP 500, not carried out', fault: answers(500, {}) },
  { id: 'S4', name: 'HTTP 503, carried out', fault: applied(answers(503, {})), isApplied: true },
  { id: 'S26', name: 'the true answer, called a page', fault: asPage, isApplied: true },
  { id: 'S31', name: 'cut off, carried out', fault: applied(hangUp), isApplied: true },
];

describe('initialize: one fault that passes costs the shopper nothing, and the old reference stays watched', () => {
  testOfBoth.each(someOfEach(IN_DOUBT, 1, kindOf))('$id: $name', async ({ fault, isApplied = false }) => {
    stage.line.disturb('initialize', [fault]);
    const answer = await stage.buy();
    expect(answer.status).toBe(201);
    const order = (await answer.json()) as CheckoutAnswer;
    expect(await stage.endOf(order)).toMatchObject({
      order: 'pending',
      payments: ['ambiguous', 'open'],
      wire: { initialize: 2, verify: 0 },
    });
    const [first] = await stage.program.database.query<{ reference: string }>(
      'SELECT reference FROM payments WHERE order_id = $1 ORDER BY created_at LIMIT 1',
      [order.orderId],
    );
    expect(first?.reference).not.toBe(order.reference);
    if (isApplied) await stage.decide({ reference: first?.reference ?? '' }, 'pay');
    await stage.decide(order, 'pay');
    await stage.comeBack(order);
    await stage.heal(order);
    expect(await stage.endOf(order)).toMatchObject({
      order: 'paid',
      payments: [isApplied ? 'held' : 'ambiguous', 'paid'],
      suspense: isApplied ? ['duplicate_payment 850000'] : [],
      releases: 1,
    });
    await stage.check();
  });
});

describe('S29: who should speak TLS', () => {
  let welcome: (socket: Socket) => void;
  let server: Server;
  let own: Stage;
  beforeAll(async () => {
    server = createServer((socket) => {
      socket
        .on('error', () => undefined)
        .once('data', () => {
          welcome(socket);
        });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    own = await startStage({ gatewayUrl: `https://127.0.0.1:${port}` });
  });
  afterAll(async () => {
    await own.close();
    await new Promise((resolve) => server.close(resolve));
  });

  test.each<[string, (socket: Socket) => void]>([
    ['hangs up', (socket) => socket.destroy()],
    ['is reset', (socket) => socket.resetAndDestroy()],
    ['speaks plain HTTP', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ])('%s in the handshake: not sent, and sent later', async (_name, how) => {
    welcome = how;
    const answer = await own.buy();
    expect(answer.status).toBe(503);
    const order = (await answer.json()) as CheckoutAnswer;
    expect(await own.endOf(order)).toMatchObject({ order: 'pending', payments: ['created'] });
    await own.check();
  });
});

test('S15: two payments in other units stop new checkouts of its currency, and of no other', async () => {
  const own = await startStage();
  try {
    const orders = [await own.checkout(), await own.checkout()];
    for (const order of orders) {
      expect((await own.buy()).status).toBe(201);
      await own.decide(order, 'pay', { amount: '850000.00' });
      await own.comeBack(order);
      expect(await own.endOf(order)).toMatchObject({ order: 'review', proofs: ['unit_error'] });
    }
    expect((await own.buy()).status).toBe(503);
    const francs = { email: 'ada@example.com', items: [{ sku: 'bissap', quantity: 1 }] };
    expect((await own.buy(francs)).status).toBe(201);
    await own.check();
  } finally {
    await own.close();
  }
});
