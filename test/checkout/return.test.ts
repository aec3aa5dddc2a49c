import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MAX_WAIT_MS } from '../../src/gateway/traffic/guarded-client.ts';
import { PERSON_WAIT_MS, INTERACTIVE_DEADLINE } from '../../src/gateway/verify.ts';
import { createReturnFromCheckout } from '../../src/checkout/return-from-checkout.ts';
import { GatewayUnavailable } from '../../src/gateway/errors.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { asReference } from '../support/ids.ts';
import { keepLines } from '../support/lines.ts';
import { eventually, startProgram, type TestProgram } from '../support/program.ts';

const LIMIT = 4;
let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram({ slowTime: true, env: { CHECKOUTS_PER_MINUTE: String(LIMIT * 100) } });
});
afterAll(() => shop.close());

const query = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);
const lease = (reference: string, forSec: number): Promise<object[]> =>
  query(
    `UPDATE payments SET next_check_at = now(), leased_until = now() + make_interval(secs => $2) WHERE reference = $1`,
    reference,
    forSec,
  );

describe('a shopper who comes back while somebody else asks', () => {
  /** A return whose clock moves by `stepMs` at each reading; it must not ask the service itself. */
  const patient = (stepMs: number, onReading: () => void = () => undefined) => {
    let nowMs = 0;
    return createReturnFromCheckout({
      database: shop.program.database,
      mode: 'test',
      confirm: () => Promise.reject(new Error('asked although somebody asks')),
      clock: {
        now: () => new Date(),
        elapsedMs: () => {
          onReading();
          return (nowMs += stepMs);
        },
      },
      logger: createLogger('silent'),
    });
  };

  test('its own check is over in six seconds, too: a turn and the call', () => {
    expect(MAX_WAIT_MS['person-waits'] + INTERACTIVE_DEADLINE.totalMs).toBe(PERSON_WAIT_MS);
    expect(PERSON_WAIT_MS).toBeLessThanOrEqual(6_000);
  });

  test('waits for six seconds, then sees the order as it stands', async () => {
    const { orderId, reference } = await shop.checkout();
    await lease(reference, 60);
    let readings = 0;
    const comeBack = patient(1_500, () => (readings += 1));
    expect(await comeBack(reference, true, '')).toEqual({ orderId, status: 'pending' });
    // One at the beginning, then one before each look: 1.5, 3, 4.5, and 6 s is the end.
    expect(readings).toBe(5);
  });

  test('sees the result when it comes in time', async () => {
    const { orderId, reference } = await shop.checkout();
    await shop.hand(`transactions/${reference}/pay`, { notify: false });
    await lease(reference, 60);
    let confirmed: Promise<unknown> | undefined;
    const comeBack = patient(1, () => {
      confirmed ??= (async () => {
        const { loadPayment } = await import('../../src/payments/confirm.sql.ts');
        const payment = await loadPayment(shop.program.database, reference, 'test');
        if (payment !== null) await shop.program.confirm(payment, 'webhook');
      })();
    });
    expect(await comeBack(reference, true, '')).toEqual({ orderId, status: 'paid' });
    await confirmed;
  });

  test('does not wait for a check whose lease is over', async () => {
    const { orderId, reference } = await shop.checkout();
    await lease(reference, 60);
    let readings = 0;
    const comeBack = patient(1, () => {
      readings += 1;
      if (readings === 3) void lease(reference, -1);
    });
    expect(await comeBack(reference, true, '')).toEqual({ orderId, status: 'pending' });
  });
});

describe('B1: the shopper’s wait', () => {
  test('back too early, then the webhook: it is asked about at once', async () => {
    const { orderId, reference } = await shop.checkout();
    const back = (): Promise<Response> =>
      fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
    await back();
    expect(await query('SELECT outcome FROM verifications WHERE reference = $1', reference)).toEqual([
      { outcome: 'pending' },
    ]);
    await shop.hand(`transactions/${reference}/pay`, { notify: false });
    // The same for who comes back twice: no clock runs here.
    await back();
    expect(await (await fetch(`${shop.origin}/orders/${orderId}`)).json()).toMatchObject({ status: 'paid' });
  });

  test('two shoppers of one address have the service asked at once; the clock answers the third', async () => {
    const orders = [
      await shop.checkout(),
      await shop.checkout(),
      await shop.checkout(),
      await shop.checkout(),
    ];
    const asked: string[] = [];
    let letGo: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const comeBack = createReturnFromCheckout({
      database: shop.program.database,
      mode: 'test',
      confirm: async ({ reference }) => {
        asked.push(reference);
        await gate;
        return { outcome: 'pending', status: 'open', released: false, contradicts: false };
      },
      clock: systemClock,
      logger: createLogger('silent'),
    });
    const [first, second, third, elsewhere] = orders.map(({ reference }) => reference);
    const waiting = [first, second].map((reference) =>
      comeBack(asReference(reference ?? ''), true, '198.51.100.1'),
    );
    await eventually(() => Promise.resolve(asked.length === 2));
    await comeBack(asReference(third ?? ''), true, '198.51.100.1');
    waiting.push(comeBack(asReference(elsewhere ?? ''), true, '203.0.113.9'));
    await eventually(() => Promise.resolve(asked.length === 3));
    expect(asked).toEqual([first, second, elsewhere]);
    expect(
      await query('SELECT hints FROM payments WHERE reference = $1 AND next_check_at <= now()', third),
    ).toEqual([{ hints: 1 }]);
    letGo();
    await Promise.all(waiting);
    await comeBack(asReference(third ?? ''), true, '198.51.100.1');
    expect(asked.at(-1)).toBe(third);
  });
});

test('a service that cannot be asked is told once, with the payment and the reason', async () => {
  const { orderId, reference } = await shop.checkout();
  const { logger, lines } = keepLines();
  const { database } = shop.program;
  const confirm = () => Promise.reject(new GatewayUnavailable('no answer: ECONNRESET', 60));
  const comeBack = createReturnFromCheckout({ database, mode: 'test', confirm, clock: systemClock, logger });
  expect(await comeBack(reference, true, '')).toEqual({ orderId, status: 'pending' });
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({
      msg: 'check postponed',
      reference,
      orderId,
      reason: 'no answer: ECONNRESET',
      notBeforeSec: 60,
    }),
  ]);
});

test('a service that asked to wait is asked by nobody before that, whoever comes; then it is', async () => {
  const { orderId, reference } = await shop.checkout();
  const { database, duePayments } = shop.program;
  // Told so was another process: this one knows it from the database alone.
  const confirm = () => Promise.reject(new GatewayUnavailable('the service answered HTTP 429', 30));
  const logger = createLogger('silent');
  await createReturnFromCheckout({ database, mode: 'test', confirm, clock: systemClock, logger })(
    reference,
    true,
    '',
  );
  const comeBackAfter = async (seconds: number): Promise<unknown> => {
    await query(
      `UPDATE payments SET next_check_at = next_check_at - i, silent_until = silent_until - i, last_hinted_at = last_hinted_at - i
       FROM make_interval(secs => $2) AS i WHERE reference = $1`,
      reference,
      seconds,
    );
    await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
    return (await fetch(`${shop.origin}/orders/${orderId}`)).json();
  };
  // Later than the pause between two hints.
  await comeBackAfter(20);
  await shop.hand(`transactions/${reference}/pay`);
  await eventually(
    async () => (await query(`SELECT FROM webhooks WHERE reference = $1`, reference)).length === 1,
  );
  await duePayments.runOnce();
  expect(await query('SELECT cause FROM verifications WHERE reference = $1', reference)).toEqual([]);
  expect(await comeBackAfter(11)).toMatchObject({ status: 'paid' });
});

test('an address that comes back too often is shown its order, and the service is not asked', async () => {
  const few = await startProgram({ slowTime: true, env: { CHECKOUTS_PER_MINUTE: String(LIMIT) } });
  try {
    const { orderId, reference } = await few.checkout({
      email: 'ada@example.com',
      items: [{ sku: 'bissap', quantity: 1 }],
    });
    const comeBack = async (): Promise<void> => {
      const answer = await fetch(`${few.origin}/checkout/return/${reference}`, { redirect: 'manual' });
      expect(answer.status).toBe(303);
      expect(answer.headers.get('location')).toBe(`/shop/orders/${orderId}`);
    };
    const counted = () =>
      few.program.database.query<{ points: number }>(
        `SELECT points FROM rate_limits WHERE key LIKE 'return-address:%'`,
      );
    const hints = async () =>
      (
        await few.program.database.query<{ hints: number }>(
          'SELECT hints FROM payments WHERE reference = $1',
          [reference],
        )
      )[0]?.hints;
    for (let visit = 0; visit < LIMIT; visit += 1) await comeBack();
    // Ordinary shoppers cost no query of the limiter's.
    expect(await counted()).toEqual([]);
    for (let visit = 0; visit < 5 * LIMIT; visit += 1) await comeBack();
    expect(await hints()).toBe(6 * LIMIT);
    for (let visit = 0; visit < 10; visit += 1) await comeBack();
    expect(await hints()).toBe(6 * LIMIT);
    // Nor does the one that is over the limit, after it has been told so.
    expect(await counted()).toEqual([{ points: 5 * LIMIT + 1 }]);
    await few.hand(`transactions/${reference}/pay`, { notify: false });
    await few.program.database.query('UPDATE payments SET next_check_at = now() WHERE reference = $1', [
      reference,
    ]);
    await few.program.duePayments.runOnce();
    const order = await fetch(`${few.origin}/orders/${orderId}`);
    expect(await order.json()).toMatchObject({ status: 'paid' });
  } finally {
    await few.close();
  }
});
