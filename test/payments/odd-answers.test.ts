import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type DuePayment } from '../../src/payments/checks.sql.ts';
import { loadPayment } from '../../src/payments/confirm.sql.ts';
import { newId } from '../../src/platform/ids.ts';
import { findKey } from '../support/invariants/leaks.ts';
import { asReference } from '../support/ids.ts';
import { post, startProgram, type TestProgram } from '../support/program.ts';
import { json, raw, startOddService, type OddService } from '../support/service.ts';

/**
 * A service that answers anything at all; whatever it says, no payment may get stuck and no order may be
 * lost.
 */
let service: OddService;
let shop: TestProgram;
beforeAll(async () => {
  service = await startOddService();
  shop = await startProgram({ slowTime: true, gatewayUrl: service.url.origin });
});
afterAll(async () => {
  await shop.close();
  await service.close();
});

const query = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);
const stateOf = async (orderId: string) =>
  (
    await query<{ payment: string; order: string; next: Date | null; leased: boolean }>(
      `SELECT p.status AS payment, o.status AS order, p.next_check_at AS next, p.leased_until IS NOT NULL AS leased
     FROM payments p JOIN orders o ON o.id = p.order_id WHERE o.id = $1`,
      orderId,
    )
  )[0];

async function anOrder(): Promise<{ orderId: string; reference: string }> {
  service.answer = json({ data: `https://pay.example.com/${newId()}` });
  return shop.checkout();
}

/** The clock looks once, and the service answers so. */
async function look({ reference }: { reference: string }, body: unknown, status = 200): Promise<void> {
  service.answer = typeof body === 'string' ? raw(body, status) : json(body, status);
  await query('UPDATE payments SET next_check_at = now() WHERE reference = $1', reference);
  await shop.program.duePayments.runOnce();
}

const record = (reference: string, change: object = {}) => ({
  data: { reference, status: 'SUCCESS', amount: 8500, currency: 'NGN', ...change },
});

describe('an answer that would poison a row is evidence like any other', () => {
  test('a status word with a NUL in it', async () => {
    const order = await anOrder();
    await look(order, record(order.reference, { status: 'PA\u0000ID' }));
    expect(await stateOf(order.orderId)).toMatchObject({ payment: 'held', order: 'review', leased: false });
  });

  test('an amount that no bigint holds', async () => {
    const order = await anOrder();
    await look(
      order,
      `{"data":{"reference":"${order.reference}","status":"SUCCESS","amount":999999999999999,"currency":"CLF"}}`,
    );
    expect(await stateOf(order.orderId)).toMatchObject({ payment: 'held', order: 'review', leased: false });
  });
});

describe('one odd answer is not for ever', () => {
  test.each<[string, (reference: string) => unknown]>([
    ["a neighbour's record", () => record(newId())],
    ['an unknown word', (reference) => record(reference, { status: 'COLLECTED' })],
    ['a record without an amount', (reference) => record(reference, { amount: undefined })],
  ])('%s, then a plain "pending": the order is pending again, and can be paid', async (_name, odd) => {
    const order = await anOrder();
    await look(order, odd(order.reference));
    expect(await stateOf(order.orderId)).toMatchObject({ payment: 'held', order: 'review' });
    await look(order, record(order.reference, { status: 'PENDING' }));
    expect(await stateOf(order.orderId)).toMatchObject({ payment: 'open', order: 'pending' });
    await look(order, record(order.reference));
    expect(await stateOf(order.orderId)).toMatchObject({ payment: 'paid', order: 'paid' });
  });

  test('an empty record says nothing at all', async () => {
    const order = await anOrder();
    await look(order, { status: false, data: {} });
    expect(await stateOf(order.orderId)).toMatchObject({ payment: 'open', order: 'pending' });
  });

  test('but money that came keeps the payment held', async () => {
    const order = await anOrder();
    await look(order, record(order.reference, { amount: 100 }));
    await look(order, record(order.reference, { status: 'PENDING' }));
    expect(await stateOf(order.orderId)).toMatchObject({ payment: 'held', order: 'review' });
  });
});

test.each([{ mode: 'live' }, { livemode: true }, { environment: 'production' }, { domain: 'live' }])(
  'a record of the other mode (%j) does not pay, and is held',
  async (mode) => {
    const order = await anOrder();
    await look(order, record(order.reference, mode));
    expect(await stateOf(order.orderId)).toMatchObject({ payment: 'held', order: 'review' });
    const outcomes = await query('SELECT outcome FROM verifications WHERE reference = $1', order.reference);
    expect(outcomes).toEqual([{ outcome: 'mode_mismatch' }]);
    await look(order, record(order.reference, { mode: 'test' }));
    expect(await stateOf(order.orderId)).toMatchObject({ payment: 'paid', order: 'paid' });
  },
);

test.each([{ status: false }, { status: 'error' }, { success: false }, { status: true, code: 500 }])(
  'a paid record inside a failed call (%j) moves nothing',
  async (flags) => {
    const order = await anOrder();
    await look(order, { ...flags, ...record(order.reference) });
    expect(await stateOf(order.orderId)).toMatchObject({ payment: 'open', order: 'pending' });
  },
);

test('an answer that echoes the key is stored without it', async () => {
  const order = await anOrder();
  const key = shop.sandbox.testKey;
  await look(
    order,
    record(order.reference, { status: 'COLLECTED', note: `${key} ${Buffer.from(key).toString('hex')}` }),
  );
  const [stored] = await query<{ body: Buffer }>(
    'SELECT body FROM verifications WHERE reference = $1',
    order.reference,
  );
  expect(stored?.body.toString()).toContain('COLLECTED');
  expect(findKey(stored?.body.toString() ?? key, key)).toEqual([]);
});

describe('an answer that changes its mind', () => {
  const words = (orderId: string) =>
    query(
      `SELECT event, detail ->> 'outcome' AS outcome FROM journal WHERE order_id = $1 AND seq > 2 ORDER BY seq`,
      orderId,
    );

  test('failed, pending, failed: it is asked on, and money that comes then pays the order', async () => {
    const order = await anOrder();
    for (const status of ['FAILED', 'PENDING', 'FAILED']) {
      await look(order, record(order.reference, { status }));
      const state = await stateOf(order.orderId);
      expect(state).toMatchObject({ payment: 'failed', order: 'failed' });
      expect(state?.next).not.toBeNull();
    }
    await look(order, record(order.reference));
    expect(await stateOf(order.orderId)).toMatchObject({ payment: 'paid', order: 'paid' });
  });

  test('paid, then something else: it stays paid, the journal says each change once, and the clock rests', async () => {
    const order = await anOrder();
    await look(order, record(order.reference));
    const paid = { payment: 'paid', order: 'paid', next: null, leased: false };
    const turns: [string, object][] = [
      ['pending', { status: 'PENDING' }],
      ['reversed', { status: 'REVERSED' }],
      ['underpaid', { amount: 100 }],
      ['pending', { status: 'PENDING' }],
      ['reversed', { status: 'REVERSED' }],
      ['paid', {}],
    ];
    for (const [, change] of turns) {
      await look(order, record(order.reference, change));
      expect(await stateOf(order.orderId)).toEqual(paid);
    }
    for (const answer of ['<html>', record(newId())]) {
      await look(order, answer);
      await look(order, answer);
    }
    expect(await stateOf(order.orderId)).toEqual(paid);
    expect(await words(order.orderId)).toEqual([
      { event: 'order-paid', outcome: 'paid' },
      { event: 'verification-contradicts', outcome: 'pending' },
      { event: 'verification-contradicts', outcome: 'reversed' },
      { event: 'verification-contradicts', outcome: 'underpaid' },
      { event: 'verification-contradicts', outcome: 'pending' },
      { event: 'verification-contradicts', outcome: 'reversed' },
      { event: 'verification-contradicts', outcome: 'unreadable' },
      { event: 'verification-contradicts', outcome: 'reference_mismatch' },
    ]);
    expect(await query('SELECT FROM releases WHERE order_id = $1', order.orderId)).toHaveLength(1);
    expect(await query('SELECT FROM suspense_items WHERE order_id = $1', order.orderId)).toHaveLength(0);
  });
});

describe('a payment whose process died while it was sent', () => {
  const orphan = async () => {
    const order = await anOrder();
    await query(
      `UPDATE payments SET status = 'sending', checkout_url = NULL, created_at = now() - interval '61 s' WHERE reference = $1`,
      order.reference,
    );
    return order;
  };

  test.each<[string, (reference: string) => unknown, number, string, string]>([
    ['not known', () => ({ message: 'not found' }), 404, 'ambiguous', 'pending'],
    ['pending', (reference) => record(reference, { status: 'PENDING' }), 200, 'ambiguous', 'pending'],
    ['unreadable', () => '<html>', 200, 'ambiguous', 'pending'],
    ['a 503', () => ({}), 503, 'ambiguous', 'pending'],
    ['failed', (reference) => record(reference, { status: 'FAILED' }), 200, 'failed', 'failed'],
    ['paid', (reference) => record(reference), 200, 'paid', 'paid'],
  ])(
    '%s: then it is in doubt or as the service says, and watched',
    async (_name, body, status, payment, ends) => {
      const order = await orphan();
      await look(order, body(order.reference), status);
      const state = await stateOf(order.orderId);
      expect(state).toMatchObject({ payment, order: ends });
      expect(state?.next === null).toBe(payment === 'paid');
      const [{ event } = { event: '' }] = await query<{ event: string }>(
        'SELECT event FROM journal WHERE order_id = $1 ORDER BY seq DESC LIMIT 1',
        order.orderId,
      );
      expect(event).toBe(payment === 'paid' ? 'order-paid' : `payment-${payment}`);
    },
  );
});

describe('suspense follows the money', () => {
  const open = (reference: string) =>
    query(`SELECT class, amount FROM suspense_items WHERE reference = $1 AND closed_at IS NULL`, reference);

  test('more comes, then all of it: one item, and it ends when the order is paid', async () => {
    const order = await anOrder();
    await look(order, record(order.reference, { amount: 100 }));
    expect(await open(order.reference)).toEqual([{ class: 'underpaid', amount: 10_000n }]);
    await look(order, record(order.reference, { amount: 6000 }));
    expect(await open(order.reference)).toEqual([{ class: 'underpaid', amount: 600_000n }]);
    await look(order, record(order.reference, { amount: 9000 }));
    expect(await open(order.reference)).toEqual([{ class: 'overpaid', amount: 900_000n }]);
    await look(order, record(order.reference));
    expect(await open(order.reference)).toEqual([]);
    expect(await stateOf(order.orderId)).toMatchObject({ order: 'paid' });
  });

  test('what somebody has dealt with is not raised again, what comes on top is', async () => {
    const order = await anOrder();
    await look(order, record(order.reference, { amount: 100 }));
    await query(
      `UPDATE suspense_items SET closed_at = now(), closed_by = 'ada', decision = 'refund', refund_note = 'RF-1' WHERE reference = $1`,
      order.reference,
    );
    await look(order, record(order.reference, { amount: 100 }));
    expect(await open(order.reference)).toEqual([]);
    await look(order, record(order.reference, { amount: 200 }));
    expect(await open(order.reference)).toEqual([{ class: 'underpaid', amount: 10_000n }]);
  });
});

describe('at the horizon', () => {
  const age = (reference: string, days: number) =>
    query(
      `UPDATE payments SET created_at = now() - make_interval(days => $2) WHERE reference = $1`,
      reference,
      days,
    );

  test('an unreadable answer expires nothing, and after some days of them a person is asked', async () => {
    const order = await anOrder();
    await age(order.reference, 9);
    await look(order, '<html>maintenance</html>');
    const state = await stateOf(order.orderId);
    expect(state).toMatchObject({ payment: 'open', order: 'pending' });
    expect(state?.next).not.toBeNull();
    await age(order.reference, 12);
    await look(order, '<html>maintenance</html>');
    expect(await stateOf(order.orderId)).toMatchObject({ payment: 'held', order: 'review', next: null });
  });
});

test('until the time that the service asked for, nobody asks it, whoever comes back', async () => {
  const order = await anOrder();
  service.answer = raw('', 429, { 'retry-after': '1800' });
  await query('UPDATE payments SET next_check_at = now() WHERE reference = $1', order.reference);
  await shop.program.duePayments.runOnce();
  const asked = (): number => service.requests.filter(({ url }) => url.endsWith(order.reference)).length;
  const before = asked();
  await query(`UPDATE orders SET status = 'failed' WHERE id = $1`, order.orderId);
  await fetch(`${shop.origin}/checkout/return/${order.reference}`, { redirect: 'manual' });
  await shop.program.duePayments.runOnce();
  expect(asked()).toBe(before);
});

describe('the mode wall', () => {
  test('a payment of the other mode is unknown at the return, and confirmation refuses it', async () => {
    const order = await anOrder();
    // A live order in a database that a test key is pointed at.
    const live = { orderId: newId(), reference: newId() };
    await query(
      `INSERT INTO orders (id, mode, email, amount, currency) VALUES ($1, 'live', 'a@b.co', 850000, 'NGN')`,
      live.orderId,
    );
    await query(
      `INSERT INTO payments (reference, order_id, mode, amount, currency, status, checkout_url, next_check_at)
       VALUES ($1, $2, 'live', 850000, 'NGN', 'open', 'https://pay.example.com/x', now())`,
      live.reference,
      live.orderId,
    );
    service.answer = json(record(live.reference));
    const answer = await fetch(`${shop.origin}/checkout/return/${live.reference}`, { redirect: 'manual' });
    expect(answer.status).toBe(404);
    await shop.program.duePayments.runOnce();
    const payment = await loadPayment(shop.program.database, asReference(live.reference), 'live');
    await expect(shop.program.confirm(payment as DuePayment, 'operator')).rejects.toThrow('other mode');
    expect(await stateOf(live.orderId)).toMatchObject({ payment: 'open', order: 'pending' });
    expect(await stateOf(order.orderId)).toMatchObject({ order: 'pending' });
  });
});

test('the shopper is told when the service may be asked again', async () => {
  const order = await anOrder();
  service.answer = raw('', 503, { 'retry-after': '1200' });
  const buy = () => post(`${shop.origin}/checkout`, { orderId: order.orderId });
  await query(`UPDATE payments SET status = 'expired' WHERE reference = $1`, order.reference);
  const [first, second] = [await buy(), await buy()];
  expect([first.status, second.status]).toEqual([503, 503]);
  expect(Number(first.headers.get('retry-after'))).toBe(1_200);
  expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(1_190);
});
