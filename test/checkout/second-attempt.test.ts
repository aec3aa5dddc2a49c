import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { RequestListener } from 'node:http';
import { createStartCheckout } from '../../src/checkout/start-checkout.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { newId, newReference } from '../../src/platform/ids.ts';
import { aBasket, post, startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';
import { hangUp, json, raw, startOddService, type OddService } from '../support/service.ts';

/** A service that takes one checkout in doubt: nobody knows whether it was opened. */
let service: OddService;
let shop: TestProgram;
beforeAll(async () => {
  service = await startOddService();
  shop = await startProgram({ slowTime: true, gatewayUrl: service.url.origin });
});
beforeEach(() => {
  service.requests.length = 0;
});
afterAll(async () => {
  await shop.close();
  await service.close();
});

const query = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);

const opens: RequestListener = (req, res) => {
  json({ data: `https://pay.example.com/${newId()}` })(req, res);
};

/** The service gives these answers, one after the other; the last one for ever. */
function answers(...script: RequestListener[]): void {
  let call = 0;
  service.answer = (req, res) => {
    const at = Math.min(call, script.length - 1);
    call += 1;
    script[at]?.(req, res);
  };
}

/** The references that the service was asked to open, in this order. */
const sent = (): string[] =>
  service.requests
    .filter(({ method }) => method === 'POST')
    .map(({ body }) => (JSON.parse(body) as { reference: string }).reference);

type PaymentRow = { reference: string; status: string; watched: boolean };
const paymentsOf = (orderId: string): Promise<PaymentRow[]> =>
  query<PaymentRow>(
    `SELECT reference, status, next_check_at IS NOT NULL AS watched FROM payments WHERE order_id = $1 ORDER BY created_at`,
    orderId,
  );
const buy = (headers: Record<string, string> = {}): Promise<Response> =>
  post(`${shop.origin}/checkout`, aBasket, headers);
const answerOf = async (answer: Response): Promise<CheckoutAnswer> => (await answer.json()) as CheckoutAnswer;

describe('a checkout that ended in doubt is tried once more, under a new reference', () => {
  test.each<[string, RequestListener]>([
    ['a 500', json({}, 500)],
    ['no answer at all', hangUp],
    ['a 200 with a page', raw('<html>', 200, { 'content-type': 'text/html' })],
  ])('%s: the shopper gets the second checkout, and the first stays watched', async (_name, doubt) => {
    answers(doubt, opens);
    const answer = await buy();
    expect(answer.status).toBe(201);
    const { orderId, reference } = await answerOf(answer);
    const [first, second] = sent();
    expect(sent()).toHaveLength(2);
    expect(first).not.toBe(second);
    expect(reference).toBe(second);
    expect(await paymentsOf(orderId)).toEqual([
      { reference: first, status: 'ambiguous', watched: true },
      { reference: second, status: 'open', watched: true },
    ]);
    const events = await query(
      'SELECT event, reference FROM journal WHERE order_id = $1 ORDER BY seq',
      orderId,
    );
    expect(events).toEqual([
      { event: 'order-placed', reference: first },
      { event: 'payment-ambiguous', reference: first },
      { event: 'payment-added', reference: second },
      { event: 'payment-open', reference: second },
    ]);
  });

  test('in doubt again: 503, and not a third time', async () => {
    answers(json({}, 500));
    const answer = await buy();
    expect(answer.status).toBe(503);
    const { orderId } = await answerOf(answer);
    expect(sent()).toHaveLength(2);
    expect((await paymentsOf(orderId)).map(({ status }) => status)).toEqual(['ambiguous', 'ambiguous']);
  });

  test('while the second is on its way it is written down, and a second click waits for it', async () => {
    let seen: PaymentRow[] = [];
    let click: Promise<Response> | undefined;
    const looksFirst: RequestListener = (req, res) => {
      void (async () => {
        const [order] = await query<{ id: string }>('SELECT id FROM orders ORDER BY created_at DESC LIMIT 1');
        seen = await paymentsOf(order?.id ?? '');
        click = post(`${shop.origin}/checkout`, { orderId: order?.id });
        opens(req, res);
      })();
    };
    answers(json({}, 500), looksFirst, opens);
    const first = await answerOf(await buy());
    expect(seen.map(({ status, watched }) => [status, watched])).toEqual([
      ['ambiguous', true],
      ['sending', true],
    ]);
    expect(await answerOf(await (click ?? buy()))).toEqual(first);
    expect(sent()).toHaveLength(2);
  });

  test('the first one is paid after all: the order is paid, and the second is a duplicate if it is paid, too', async () => {
    answers(json({}, 500), opens);
    const { orderId } = await answerOf(await buy());
    const [first, second] = sent();
    for (const reference of [first, second]) {
      service.answer = json({ data: { reference, status: 'SUCCESS', amount: 8500, currency: 'NGN' } });
      await query('UPDATE payments SET next_check_at = now() WHERE reference = $1', reference);
      await query(
        'UPDATE payments SET next_check_at = NULL WHERE order_id = $1 AND reference <> $2',
        orderId,
        reference,
      );
      await shop.program.duePayments.runOnce();
    }
    expect(await query('SELECT reference FROM releases WHERE order_id = $1', orderId)).toEqual([
      { reference: first },
    ]);
    expect(await query('SELECT class, reference FROM suspense_items WHERE order_id = $1', orderId)).toEqual([
      { class: 'duplicate_payment', reference: second },
    ]);
  });
});

describe('it is not tried again', () => {
  test.each<[string, RequestListener, number]>([
    ['after a refusal', json({}, 422), 502],
    ['when the service asks to be left alone', json({}, 429), 503],
    ['when it is away until a time it names', raw('{}', 503, { 'retry-after': '120' }), 503],
  ])('%s', async (_name, answer, status) => {
    answers(answer, opens);
    // What a service asks for binds the process that it was said to, and the other tests need theirs.
    const own = await startProgram({ gatewayUrl: service.url.origin });
    expect((await post(`${own.origin}/checkout`, aBasket)).status).toBe(status);
    expect(sent()).toHaveLength(1);
    await own.close();
  });

  test.each([
    [4_900, 1, 'unavailable'],
    [5_100, 2, 'opened'],
  ])('with %i ms of the shopper’s patience left: %i call(s)', async (leftMs, calls, outcome) => {
    let nowMs = 0;
    const { database: store, catalogue, logger } = shop.program;
    const startCheckout = createStartCheckout({
      store,
      catalogue,
      gateway: service.gateway,
      publicOrigin: () => shop.origin,
      onDue: () => undefined,
      clock: { now: () => new Date(), elapsedMs: () => nowMs },
      logger,
    });
    answers((req, res) => {
      nowMs = 15_000 - leftMs;
      json({}, 500)(req, res);
    }, opens);
    expect((await startCheckout(aBasket, null)).outcome).toBe(outcome);
    expect(sent()).toHaveLength(calls);
  });

  test('when the order has five open payments', async () => {
    answers(opens);
    const { orderId } = await answerOf(await buy());
    await query(`UPDATE payments SET status = 'ambiguous' WHERE order_id = $1`, orderId);
    answers(json({}, 500));
    for (const payments of [3, 5, 5]) {
      await post(`${shop.origin}/checkout`, { orderId });
      expect(await paymentsOf(orderId)).toHaveLength(payments);
    }
    // An even number, so that the fifth one is a first attempt.
    await query(
      `UPDATE payments SET status = 'expired' WHERE reference = (SELECT reference FROM payments WHERE order_id = $1 LIMIT 1)`,
      orderId,
    );
    service.requests.length = 0;
    expect((await post(`${shop.origin}/checkout`, { orderId })).status).toBe(503);
    expect(sent()).toHaveLength(1);
  });

  test('when the doubt was one too many, and the service is left alone', async () => {
    const failing = await startOddService();
    try {
      failing.answer = json({}, 500);
      const { database: store, catalogue, logger } = shop.program;
      const { gateway } = failing;
      const parts = { store, catalogue, gateway, publicOrigin: () => shop.origin, onDue: () => undefined };
      const startCheckout = createStartCheckout({ ...parts, clock: systemClock, logger });
      const money = { amount: 100n, currency: 'NGN' };
      const request = {
        email: 'ada@example.com',
        money,
        reference: newReference(),
        redirectUrl: shop.origin,
      };
      for (let call = 1; call < 20; call += 1) await gateway.initialize(request);
      const result = await startCheckout(aBasket, null);
      expect(result.outcome).toBe('unavailable');
      expect(await paymentsOf((result as { orderId: string }).orderId)).toHaveLength(1);
    } finally {
      await failing.close();
    }
  });

  test('when the order was paid meanwhile', async () => {
    answers((req, res) => {
      void (async () => {
        const [payment] = await query<{ reference: string }>(
          'SELECT reference FROM payments ORDER BY created_at DESC LIMIT 1',
        );
        const { reference } = payment ?? {};
        service.answer = json({ data: { reference, status: 'SUCCESS', amount: 8500, currency: 'NGN' } });
        await query('UPDATE payments SET next_check_at = now() WHERE reference = $1', reference);
        await shop.program.duePayments.runOnce();
        json({}, 500)(req, res);
      })();
    });
    const answer = await buy();
    expect(answer.status).toBe(503);
    const { orderId } = await answerOf(answer);
    expect(sent()).toHaveLength(1);
    expect((await paymentsOf(orderId)).map(({ status }) => status)).toEqual(['paid']);
  });
});

describe('with an Idempotency-Key', () => {
  const keyRow = async (key: string) =>
    (
      await query<{ reference: string | null; locked: boolean }>(
        `SELECT reference, coalesce(locked_until > now(), false) AS locked FROM idempotency_keys WHERE key = $1`,
        key,
      )
    )[0];

  test('the key is answered by the checkout that the shopper got', async () => {
    const key = newId();
    answers(json({}, 500), opens);
    const first = await answerOf(await buy({ 'idempotency-key': key }));
    expect(await keyRow(key)).toEqual({ reference: sent()[1], locked: false });
    expect(await answerOf(await buy({ 'idempotency-key': key }))).toEqual(first);
    expect(sent()).toHaveLength(2);
  });

  test('a process that dies between the two attempts: the same key goes on, with a third reference', async () => {
    const key = newId();
    let locked: boolean | undefined;
    answers(json({}, 500), (req, res) => {
      void keyRow(key).then((row) => {
        locked = row?.locked;
        opens(req, res);
      });
    });
    const { orderId, reference } = await answerOf(await buy({ 'idempotency-key': key }));
    expect(locked).toBe(true);
    // As the dead process left it.
    await query(
      `UPDATE payments SET status = 'sending', checkout_url = NULL, created_at = now() - interval '2 min' WHERE reference = $1`,
      reference,
    );
    await query(
      `UPDATE idempotency_keys SET reference = NULL, locked_until = now() - interval '1 s' WHERE key = $1`,
      key,
    );
    answers(opens);
    const again = await answerOf(await buy({ 'idempotency-key': key }));
    expect(again.orderId).toBe(orderId);
    expect(new Set(sent()).size).toBe(3);
    expect(await keyRow(key)).toEqual({ reference: again.reference, locked: false });
  });

  test('a key that has its answer keeps it when a process that was held up comes back', async () => {
    const key = newId();
    let heldUp: Promise<void> = Promise.resolve();
    let comesBack = (): void => undefined;
    answers((req, res) => {
      heldUp = new Promise((resolve) => {
        comesBack = () => {
          opens(req, res);
          resolve();
        };
      });
    }, opens);
    const slow = buy({ 'idempotency-key': key });
    while (sent().length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    // Its lock runs out, and its payment counts as lost.
    await query(`UPDATE idempotency_keys SET locked_until = now() - interval '1 s' WHERE key = $1`, key);
    await query(
      `UPDATE payments SET created_at = now() - interval '1 min', next_check_at = now() WHERE reference = $1`,
      sent()[0],
    );
    const { reference } = await answerOf(await buy({ 'idempotency-key': key }));
    comesBack();
    await heldUp;
    expect((await slow).status).toBe(201);
    expect(await keyRow(key)).toEqual({ reference, locked: false });
  });
});
