import { afterAll, beforeAll, describe, expect, test as testOfBoth } from '@jest/globals';
import { connect } from 'node:net';
import { forgetOldKeys } from '../../src/checkout/idempotency.sql.ts';
import { newId } from '../../src/platform/ids.ts';
import { IS_WHOLE } from '../support/extent.ts';
import { testOfFew as test } from '../support/test-of-all.ts';
import { aBasket, post, startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';

let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram();
});
afterAll(() => shop.close());

const buy = (key: string, body: object = aBasket): Promise<Response> =>
  post(`${shop.origin}/checkout`, body, { 'idempotency-key': key });
const answerOf = async (answer: Response): Promise<CheckoutAnswer> => (await answer.json()) as CheckoutAnswer;
const query = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);

/** Puts a key back to where a process that died left it: its lock is over, and it has no answer. */
const forgetTheAnswer = (key: string): Promise<object[]> =>
  query(
    `UPDATE idempotency_keys SET reference = NULL, locked_until = now() - interval '1 s' WHERE key = $1`,
    key,
  );

describe('the same key with the same request', () => {
  test('gives the same checkout, and writes one order', async () => {
    const key = newId();
    const first = await buy(key);
    const again = await buy(`"${key}"`, { items: aBasket.items, email: aBasket.email });
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(await again.json()).toEqual(await first.json());
    expect(await query('SELECT FROM idempotency_keys WHERE key = $1', key)).toHaveLength(1);
  });

  test('a hundred times at once: one order, one initialize call', async () => {
    const key = newId();
    const [before] = await query<{ count: number }>('SELECT count(*)::int FROM orders');
    const answers = await Promise.all(Array.from({ length: 100 }, () => buy(key)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201).length).toBeGreaterThanOrEqual(1);
    // 503: it waited two seconds for its turn at the database, on a machine that is busy with something else.
    expect(statuses.filter((status) => ![201, 409, 503].includes(status))).toEqual([]);
    const { orderId } = await answerOf(await buy(key));
    expect(await query('SELECT FROM payments WHERE order_id = $1', orderId)).toHaveLength(1);
    expect(await query('SELECT count(*)::int - $1::int AS more FROM orders', before?.count)).toEqual([
      { more: 1 },
    ]);
  });

  test('still gives it when the product is no longer sold', async () => {
    const key = newId();
    const body = { email: 'ada@example.com', items: [{ sku: 'date-box', quantity: 1 }] };
    const first = await answerOf(await buy(key, body));
    await query(`UPDATE products SET active = false WHERE sku = 'date-box'`);
    expect(await answerOf(await buy(key, body))).toEqual(first);
    await query(`UPDATE products SET active = true WHERE sku = 'date-box'`);
  });

  test('resumes an order whose checkout could not be opened', async () => {
    const key = newId();
    await shop.hand('outage', { status: 503 });
    const failed = await buy(key);
    await shop.hand('outage', { status: null });
    expect(failed.status).toBe(503);
    const { orderId } = await answerOf(failed);
    const resumed = await buy(key);
    expect(resumed.status).toBe(201);
    expect(await answerOf(resumed)).toMatchObject({ orderId });
  });
});

describe('the same key after a crash', () => {
  test('between opening the checkout and answering: the same address', async () => {
    const key = newId();
    const first = await answerOf(await buy(key));
    await forgetTheAnswer(key);
    expect(await answerOf(await buy(key))).toEqual(first);
  });

  test('before the call: the same payment is sent', async () => {
    const key = newId();
    const { orderId, reference } = await answerOf(await buy(key));
    await query(
      `UPDATE payments SET status = 'created', checkout_url = NULL WHERE reference = $1`,
      reference,
    );
    await shop.hand('reset');
    await forgetTheAnswer(key);
    expect(await answerOf(await buy(key))).toMatchObject({ orderId, reference });
  });

  test('during the call: the order is kept, the old reference stays watched, a new one is sent', async () => {
    const key = newId();
    const { orderId, reference } = await answerOf(await buy(key));
    await query(
      `UPDATE payments SET status = 'sending', checkout_url = NULL, created_at = now() - interval '2 min' WHERE reference = $1`,
      reference,
    );
    await forgetTheAnswer(key);
    const again = await answerOf(await buy(key));
    expect(again.orderId).toBe(orderId);
    expect(again.reference).not.toBe(reference);
    expect(
      await query('SELECT FROM payments WHERE reference = $1 AND next_check_at IS NOT NULL', reference),
    ).toHaveLength(1);
  });
});

describe('a key that cannot be used', () => {
  test.each([
    ['another basket', { ...aBasket, items: [{ sku: 'ankara-tote', quantity: 2 }] }],
    ["somebody else's e-mail", { ...aBasket, email: 'eve@example.com' }],
  ])('for %s: 422, and nothing is written', async (_name, body) => {
    const key = newId();
    await buy(key);
    const [before] = await query('SELECT count(*) FROM orders');
    const answer = await buy(key, body);
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ type: '/problems/idempotency-key-reused' });
    expect(await query('SELECT count(*) FROM orders')).toEqual([before]);
  });

  test('while its request is in flight: 409', async () => {
    const key = newId();
    await buy(key);
    await query(
      `UPDATE idempotency_keys SET reference = NULL, locked_until = now() + interval '1 min' WHERE key = $1`,
      key,
    );
    const answer = await buy(key);
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({ type: '/problems/request-in-flight' });
  });

  test.each([
    ['nothing', ''],
    ['nothing in quotes', '""'],
    ['300 characters', 'x'.repeat(300)],
    ['10 kB', 'x'.repeat(10_240)],
    ['a quote', 'a"b'],
    ['a letter outside of ASCII', 'caf\u00e9'],
  ])('%s: 400, and nothing is written', async (_name, key) => {
    const [before] = await query('SELECT count(*) FROM orders');
    expect((await buy(key)).status).toBe(400);
    expect(await query('SELECT count(*) FROM orders')).toEqual([before]);
  });

  test('broken over two lines: 400, and nothing is written', async () => {
    const [before] = await query('SELECT count(*) FROM orders');
    const body = JSON.stringify(aBasket);
    const head = [
      'POST /checkout HTTP/1.1',
      'Host: x',
      'Content-Type: application/json',
      'Connection: close',
    ];
    const lines = [...head, `Content-Length: ${body.length}`, 'Idempotency-Key: a', ' b', '', body];
    const socket = connect(Number(new URL(shop.origin).port), '127.0.0.1');
    socket.end(lines.join('\r\n'));
    let answer = '';
    for await (const chunk of socket) answer += String(chunk);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(await query('SELECT count(*) FROM orders')).toEqual([before]);
  });
});

describe('a service that takes its time', () => {
  let slow: TestProgram;
  beforeAll(async () => {
    slow = await startProgram({ latencyMs: 300 });
  });
  afterAll(() => slow.close());

  test('a second click on an order waits for the first one and gets the same checkout', async () => {
    const { orderId, reference } = await slow.checkout();
    await slow.program.database.query(`UPDATE payments SET status = 'failed' WHERE reference = $1`, [
      reference,
    ]);
    const [one, two] = await Promise.all([slow.checkout({ orderId }), slow.checkout({ orderId })]);
    expect(one).toEqual(two);
    expect(one.reference).not.toBe(reference);
  });

  test('a payment that is sent long after it was written is waited for, too, and its page resumed', async () => {
    const { orderId, reference } = await slow.checkout();
    await slow.program.database.query(
      `UPDATE payments SET status = 'created', checkout_url = NULL, created_at = now() - interval '2 h' WHERE reference = $1`,
      [reference],
    );
    await slow.hand('reset');
    const [one, two] = await Promise.all([slow.checkout({ orderId }), slow.checkout({ orderId })]);
    expect([one.reference, two.reference]).toEqual([reference, reference]);
    expect(await slow.checkout({ orderId })).toEqual(one);
  });
});

describe('many starts of one order', () => {
  const start = async (orderId: string): Promise<Set<string>> => {
    const said = new Set<string>();
    for (let batch = 0; batch < (IS_WHOLE ? 50 : 5); batch += 1) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => post(`${shop.origin}/checkout`, { orderId })),
      );
      for (const answer of answers) {
        const { checkoutUrl, type } = (await answer.json()) as { checkoutUrl?: string; type?: string };
        said.add(checkoutUrl ?? `${answer.status} ${type ?? ''}`);
      }
    }
    return said;
  };

  testOfBoth('that has an open checkout: all get it, and there is one payment', async () => {
    const { orderId, checkoutUrl } = await shop.checkout();
    expect(await start(orderId)).toEqual(new Set([checkoutUrl]));
    expect(await query('SELECT FROM payments WHERE order_id = $1', orderId)).toHaveLength(1);
  });

  testOfBoth('while the service fails: five payments, and then no more', async () => {
    const { orderId } = await shop.checkout();
    await query(`UPDATE payments SET status = 'ambiguous' WHERE order_id = $1`, orderId);
    await shop.hand('outage', { status: 500 });
    const said = await start(orderId);
    await shop.hand('outage', { status: null });
    expect(said).toContain('429 /problems/too-many-open-payments');
    expect(await query('SELECT FROM payments WHERE order_id = $1', orderId)).toHaveLength(5);
  });
});

test('at most five payments of one order within an hour, and an outage is forgotten after it', async () => {
  const { orderId } = await shop.checkout();
  await query(`UPDATE payments SET status = 'ambiguous' WHERE order_id = $1`, orderId);
  await shop.hand('outage', { status: 503 });
  for (let click = 0; click < 4; click += 1) await post(`${shop.origin}/checkout`, { orderId });
  expect((await post(`${shop.origin}/checkout`, { orderId })).status).toBe(429);
  await shop.hand('outage', { status: null });
  await query(`UPDATE payments SET created_at = now() - interval '2 h' WHERE order_id = $1`, orderId);
  expect(await shop.checkout({ orderId })).toMatchObject({ orderId });
});

test('keys are forgotten after three days', async () => {
  const [old, young] = [newId(), newId()];
  await buy(old);
  await buy(young);
  await query(`UPDATE idempotency_keys SET created_at = now() - interval '73 h' WHERE key = $1`, old);
  expect(await forgetOldKeys(shop.program.database)).toBe(1);
  expect(await query('SELECT FROM idempotency_keys WHERE key = $1', young)).toHaveLength(1);
});
