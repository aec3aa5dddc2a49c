import { afterAll, beforeAll, describe, expect, test as testOfBoth } from '@jest/globals';
import type { Urgency } from '../../src/gateway/traffic/rate-limiter.ts';
import { createConfirm } from '../../src/payments/confirm.ts';
import { IS_WHOLE } from '../support/extent.ts';
import { testOfFew as test } from '../support/test-of-all.ts';
import { asReference } from '../support/ids.ts';
import { eventually, startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';

let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram({ slowTime: true });
});
afterAll(() => shop.close());

const statusOf = async (orderId: string): Promise<string> =>
  ((await (await fetch(`${shop.origin}/orders/${orderId}`)).json()) as { status: string }).status;

const comeBack = (reference: string, query = ''): Promise<Response> =>
  fetch(`${shop.origin}/checkout/return/${reference}${query}`, { redirect: 'manual' });

const query = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);

/** Nobody waits for the schedule in a test: the payment is due now. */
async function makeDue({ reference }: CheckoutAnswer): Promise<void> {
  await query('UPDATE payments SET next_check_at = now() WHERE reference = $1', reference);
}

async function verifyCalls(reference: string): Promise<number> {
  const answer = await fetch(`${shop.sandbox.url}/sandbox/calls?reference=${reference}`);
  const { references } = (await answer.json()) as {
    references: Record<string, { initialize: number; verify: number }>;
  };
  return references[reference]?.verify ?? 0;
}

describe('an order is paid', () => {
  test('when the shopper comes back and the service confirms', async () => {
    const order = await shop.checkout();
    await shop.hand(`transactions/${order.reference}/pay`, { notify: false });
    const answer = await comeBack(order.reference);
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe(`/shop/orders/${order.orderId}`);
    expect(await statusOf(order.orderId)).toBe('paid');
  });

  test('when the service calls and then confirms', async () => {
    const order = await shop.checkout();
    await shop.hand(`transactions/${order.reference}/pay`);
    await eventually(
      async () => (await query(`SELECT FROM webhooks WHERE reference = $1`, order.reference)).length === 1,
    );
    expect(await statusOf(order.orderId)).toBe('pending');
    await shop.program.duePayments.runOnce();
    expect(await statusOf(order.orderId)).toBe('paid');
  });

  test('when redirect and webhook are both lost and the clock asks', async () => {
    const order = await shop.checkout();
    await shop.hand(`transactions/${order.reference}/pay`, { notify: false });
    await makeDue(order);
    await shop.program.duePayments.runOnce();
    expect(await statusOf(order.orderId)).toBe('paid');
  });

  test('with its evidence, its release and its story written in one', async () => {
    const order = await shop.checkout();
    await shop.hand(`transactions/${order.reference}/pay`, { notify: false });
    await comeBack(order.reference);
    const [release] = await query<{ id: string; verification_id: bigint }>(
      'SELECT * FROM releases WHERE order_id = $1',
      order.orderId,
    );
    const evidence = await query(
      'SELECT outcome, amount, currency, status_word, cause FROM verifications WHERE id = $1',
      release?.verification_id,
    );
    expect(evidence).toEqual([
      { outcome: 'paid', amount: 850_000n, currency: 'NGN', status_word: 'SUCCESS', cause: 'return' },
    ]);
    const events = await query(
      'SELECT event, cause FROM journal WHERE order_id = $1 ORDER BY seq',
      order.orderId,
    );
    expect(events).toEqual([
      { event: 'order-placed', cause: 'shopper' },
      { event: 'payment-open', cause: 'shopper' },
      { event: 'order-paid', cause: 'return' },
    ]);
  });
});

describe('an order is not paid', () => {
  test('by what the redirect says', async () => {
    const order = await shop.checkout();
    await comeBack(order.reference, '?status=success&reference=x&trxref=x');
    expect(await statusOf(order.orderId)).toBe('pending');
  });

  test.each([
    ['less', { amount: '8499.99' }, 'underpaid'],
    ['more', { amount: '8500.01' }, 'overpaid'],
    ['a hundredfold', { amount: '850000.00' }, 'unit_error'],
    ['a hundredth', { amount: '85.00' }, 'unit_error'],
    ['another currency', { amount: '8500', currency: 'XOF' }, 'currency_mismatch'],
  ])('by %s: it is held for a person, and the money stands in suspense', async (_name, payment, outcome) => {
    const order = await shop.checkout();
    await shop.hand(`transactions/${order.reference}/pay`, { ...payment, notify: false });
    await comeBack(order.reference);
    expect(await statusOf(order.orderId)).toBe('review');
    expect(await query('SELECT class FROM suspense_items WHERE order_id = $1', order.orderId)).toEqual([
      { class: outcome },
    ]);
    expect(await query('SELECT FROM releases WHERE order_id = $1', order.orderId)).toHaveLength(0);
    // An error of unit stops further checkouts until somebody has looked.
    await query(`UPDATE currency_stops SET released_at = now(), released_by = 'test'`);
  });
});

test('two payments of one order: one release, the other money in suspense', async () => {
  const first = await shop.checkout();
  await shop.hand(`transactions/${first.reference}/fail`, { notify: false });
  await comeBack(first.reference);
  const second = await shop.checkout({ orderId: first.orderId });
  for (const { reference } of [first, second])
    await shop.hand(`transactions/${reference}/pay`, { notify: false });
  await comeBack(second.reference);
  await makeDue(first);
  await shop.program.duePayments.runOnce();
  expect(await statusOf(first.orderId)).toBe('paid');
  expect(await query('SELECT reference FROM releases WHERE order_id = $1', first.orderId)).toEqual([
    { reference: second.reference },
  ]);
  expect(
    await query('SELECT class, reference FROM suspense_items WHERE order_id = $1', first.orderId),
  ).toEqual([{ class: 'duplicate_payment', reference: first.reference }]);
});

test('return, webhook and clock at the same instant, ten times over: one release each time', async () => {
  for (let round = 0; round < 10; round += 1) {
    const order = await shop.checkout();
    await shop.hand(`transactions/${order.reference}/pay`, { notify: false });
    const [payment] = await query<{ hints: number }>(
      'SELECT hints FROM payments WHERE reference = $1',
      order.reference,
    );
    expect(payment?.hints).toBe(0);
    const [loaded] = await Promise.all([load(order.reference)]);
    const confirms = (['return', 'webhook', 'schedule', 'reconciliation'] as const).map((cause) =>
      shop.program.confirm(loaded, cause),
    );
    const results = await Promise.all(confirms);
    expect(results.filter(({ released }) => released)).toHaveLength(1);
    expect(await query('SELECT FROM releases WHERE order_id = $1', order.orderId)).toHaveLength(1);
  }
});

test.each([
  ['return', 'person-waits'],
  ['operator', 'person-waits'],
  ['webhook', 'webhook'],
  ['hint', 'hint'],
  ['schedule', 'background'],
] as const)('a check by %s is asked for as %s', async (cause, expected) => {
  const payment = await load((await shop.checkout()).reference);
  const asked: (Urgency | undefined)[] = [];
  const { database, gateway, logger } = shop.program;
  const confirm = createConfirm({
    database,
    logger,
    gateway: {
      ...gateway,
      verify: (reference, currency, urgency) => {
        asked.push(urgency);
        return gateway.verify(reference, currency, urgency);
      },
    },
    planRelease: () => ({ id: `rel_${payment.orderId}`, delivery: 'unneeded' }),
    onReleased: () => undefined,
  });
  await confirm(payment, cause);
  expect(asked).toEqual([expected]);
});

async function load(reference: string) {
  const { loadPayment } = await import('../../src/payments/confirm.sql.ts');
  const payment = await loadPayment(shop.program.database, asReference(reference), 'test');
  if (payment === null) throw new Error('no such payment');
  return payment;
}

testOfBoth(
  'confirming one payment while another of its order is opened: nobody waits for ever, nothing is lost',
  async () => {
    const round = async (): Promise<void> => {
      const first = await shop.checkout();
      await shop.hand(`transactions/${first.reference}/fail`, { notify: false });
      const old = `UPDATE payments SET created_at = now() - interval '2 h' WHERE reference = $1`;
      await query(old, first.reference);
      const [confirmed, second] = await Promise.all([
        shop.program.confirm(await load(first.reference), 'schedule'),
        shop.checkout({ orderId: first.orderId }),
        shop.checkout({ orderId: first.orderId }),
      ]);
      expect(confirmed.outcome).toBe('failed');
      expect(second.reference).not.toBe(first.reference);
      const journal = await query<{ seq: number }>(
        'SELECT seq FROM journal WHERE order_id = $1 ORDER BY seq',
        first.orderId,
      );
      expect(journal.map(({ seq }) => seq)).toEqual(journal.map((_row, at) => at + 1));
    };
    // A deadlock is a matter of chance.
    for (let batch = 0; batch < (IS_WHOLE ? 50 : 8); batch += 1)
      await Promise.all([round(), round(), round(), round()]);
  },
  180_000,
);

describe('hints', () => {
  test('a flood of returns costs the service a few questions', async () => {
    const order = await shop.checkout();
    for (let round = 0; round < 3; round += 1)
      await Promise.all(Array.from({ length: 5 }, () => comeBack(order.reference)));
    // The first answer is news; of three that say it again there is one pause of ten seconds.
    expect(await verifyCalls(order.reference)).toBeLessThanOrEqual(4);
  });

  test('one that arrives while a check is in flight is answered by another check', async () => {
    const order = await shop.checkout();
    const inFlight = await load(order.reference);
    const bump = 'UPDATE payments SET hints = hints + 1 WHERE reference = $1';
    await query(bump, order.reference);
    await shop.program.confirm(inFlight, 'schedule');
    const [row] = await query<{ waits: number }>(
      'SELECT extract(epoch FROM next_check_at - now())::float8 AS waits FROM payments WHERE reference = $1',
      order.reference,
    );
    // A shopper may be waiting for it.
    expect(row?.waits).toBeLessThanOrEqual(0);
  });
});

describe('when the service cannot be asked, nothing changes', () => {
  test.each([
    ['an outage', () => shop.hand('outage', { status: 503 }), () => shop.hand('outage', { status: null })],
    [
      'a refused key',
      () => shop.hand('keys/refuse', { refuse: true }),
      () => shop.hand('keys/refuse', { refuse: false }),
    ],
  ])('%s', async (_name, begin, end) => {
    const order = await shop.checkout();
    await shop.hand(`transactions/${order.reference}/pay`, { notify: false });
    await begin();
    await makeDue(order);
    await shop.program.duePayments.runOnce();
    const answer = await comeBack(order.reference);
    await end();
    expect(answer.status).toBe(303);
    expect(await statusOf(order.orderId)).toBe('pending');
    expect(await query('SELECT FROM verifications WHERE reference = $1', order.reference)).toHaveLength(0);
    await makeDue(order);
    await shop.program.duePayments.runOnce();
    expect(await statusOf(order.orderId)).toBe('paid');
  });
});

test('a service that does not know the payment yet: nothing changes, and it is asked again', async () => {
  const order = await shop.checkout();
  await shop.hand('reset');
  await comeBack(order.reference);
  expect(await statusOf(order.orderId)).toBe('pending');
  expect(await query('SELECT outcome FROM verifications WHERE reference = $1', order.reference)).toEqual([
    { outcome: 'not_found' },
  ]);
  expect(
    await query('SELECT FROM payments WHERE reference = $1 AND next_check_at > now()', order.reference),
  ).toHaveLength(1);
});

describe('time', () => {
  const age = (reference: string, days: number): Promise<object[]> =>
    query(
      `UPDATE payments SET created_at = now() - make_interval(days => $2), next_check_at = now() WHERE reference = $1`,
      reference,
      days,
    );

  test('a payment that nobody made expires after eight days, by a last question', async () => {
    const order = await shop.checkout();
    await age(order.reference, 9);
    await shop.program.duePayments.runOnce();
    expect(await verifyCalls(order.reference)).toBe(1);
    expect(await statusOf(order.orderId)).toBe('expired');
    expect(await query('SELECT next_check_at FROM payments WHERE reference = $1', order.reference)).toEqual([
      { next_check_at: null },
    ]);
  });

  test('money that comes after that still pays the order', async () => {
    const order = await shop.checkout();
    await age(order.reference, 9);
    await shop.program.duePayments.runOnce();
    await shop.hand(`transactions/${order.reference}/pay`);
    await eventually(
      async () => (await query('SELECT FROM webhooks WHERE reference = $1', order.reference)).length === 1,
    );
    // The pause between two hinted checks is over.
    await query('UPDATE payments SET next_check_at = now() WHERE reference = $1', order.reference);
    await shop.program.duePayments.runOnce();
    expect(await statusOf(order.orderId)).toBe('paid');
    expect(await query('SELECT status FROM payments WHERE reference = $1', order.reference)).toEqual([
      { status: 'paid' },
    ]);
  });

  test('a payment whose process died before it was answered is watched', async () => {
    const order = await shop.checkout();
    await query(
      `UPDATE payments SET status = 'sending', checkout_url = NULL, next_check_at = now() WHERE reference = $1`,
      order.reference,
    );
    await shop.hand(`transactions/${order.reference}/pay`, { notify: false });
    await shop.program.duePayments.runOnce();
    expect(await statusOf(order.orderId)).toBe('paid');
  });

  test("a dead worker's payment comes back when its lease ends", async () => {
    const order = await shop.checkout();
    await query(
      `UPDATE payments SET next_check_at = now(), leased_until = now() + interval '30 s' WHERE reference = $1`,
      order.reference,
    );
    await shop.program.duePayments.runOnce();
    expect(await verifyCalls(order.reference)).toBe(0);
    await query(
      `UPDATE payments SET leased_until = now() - interval '1 s' WHERE reference = $1`,
      order.reference,
    );
    await shop.program.duePayments.runOnce();
    expect(await verifyCalls(order.reference)).toBe(1);
  });
});

test('a return with an unknown or malformed reference is nothing, and costs no question', async () => {
  for (const reference of ['x'.repeat(24), '..', 'a%2fb', '%00']) {
    expect((await comeBack(reference)).status).toBe(404);
  }
  expect(await verifyCalls('x'.repeat(24))).toBe(0);
});
