import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RequestListener } from 'node:http';
import { newId } from '../../src/platform/ids.ts';
import { aBasket, post, startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';
import { hangUp, json, startOddService, type OddService } from '../support/service.ts';

// An initialize call takes seconds. What becomes of its order meanwhile counts, and not what it was before.

const TOKEN = 'shop-token-for-tests';
const authorization = { authorization: `Bearer ${TOKEN}` };
let service: OddService;
let shop: TestProgram;
beforeAll(async () => {
  service = await startOddService();
  const env = { SHOP_API_TOKEN: TOKEN };
  shop = await startProgram({ slowTime: true, gatewayUrl: service.url.origin, env });
});
afterAll(async () => {
  await shop.close();
  await service.close();
});

const sql = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);
const statusOf = async (orderId: string): Promise<unknown> =>
  (await sql<{ status: string }>('SELECT status FROM orders WHERE id = $1', orderId))[0]?.status;
const comeBack = (reference: string): Promise<Response> =>
  fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
const cancel = (orderId: string): Promise<Response> =>
  post(`${shop.origin}/orders/${orderId}/cancel`, { reason: 'sold out' }, authorization);

async function newest(): Promise<{ orderId: string; reference: string }> {
  const [row] = await sql<{ orderId: string; reference: string }>(
    'SELECT order_id AS "orderId", reference FROM payments ORDER BY created_at DESC LIMIT 1',
  );
  return row ?? { orderId: '', reference: '' };
}

const opens: RequestListener = (req, res) => {
  json({ data: `https://pay.example.com/${newId()}` })(req, res);
};

/** Verify says this of every payment; initialize answers after `meanwhile`. @returns how often it was called */
function serve(status: string, meanwhile: (call: number) => Promise<unknown>, answer = opens): () => number {
  let calls = 0;
  service.answer = (req, res) => {
    if (req.method === 'GET') {
      json({ data: { reference: req.url?.split('/').at(-1), status, amount: 8500, currency: 'NGN' } })(
        req,
        res,
      );
      return;
    }
    calls += 1;
    void meanwhile(calls).then(() => {
      answer(req, res);
    });
  };
  return () => calls;
}
const nothing = (): Promise<void> => Promise.resolve();

/** A payment that could not be sent when it was written, five minutes ago. @returns its order */
async function unsent(body: object = aBasket): Promise<string> {
  serve('PENDING', nothing);
  const { orderId, reference } = await shop.checkout(body);
  await sql(
    `UPDATE payments SET status = 'created', reason = 'not-connected', checkout_url = NULL,
       created_at = now() - interval '5 min' WHERE reference = $1`,
    reference,
  );
  return orderId;
}

describe('no shopper gets the page of a payment whose order ended while it was opened', () => {
  test('cancelled', async () => {
    serve('PENDING', async () => cancel((await newest()).orderId));
    const answer = await post(`${shop.origin}/checkout`, aBasket, { 'idempotency-key': 'cancelled' });
    const problem = [409, { type: '/problems/order-cancelled' }];
    expect([answer.status, await answer.json()]).toMatchObject(problem);
    const again = await post(`${shop.origin}/checkout`, aBasket, { 'idempotency-key': 'cancelled' });
    expect([again.status, await again.json()]).toMatchObject(problem);
  });

  test('paid by its first payment', async () => {
    serve('FAILED', nothing);
    const { orderId, reference } = await shop.checkout();
    await comeBack(reference);
    expect(await statusOf(orderId)).toBe('failed');
    serve('SUCCESS', () => comeBack(reference));
    const answer = await post(`${shop.origin}/checkout`, { orderId });
    expect(await statusOf(orderId)).toBe('paid');
    expect([answer.status, await answer.json()]).toMatchObject([409, { type: '/problems/already-paid' }]);
  });

  const past = `UPDATE orders SET created_at = created_at - interval '2 hours', pay_by = now() WHERE id = $1`;
  const placed = async (): Promise<string> => {
    const body = {
      email: 'ada@example.com',
      currency: 'NGN',
      lines: [{ description: 'A seat', unitAmount: '25.00', quantity: 1 }],
      payBy: new Date(Date.now() + 3_600_000).toISOString(),
    };
    const answer = await post(`${shop.origin}/orders`, body, authorization);
    return ((await answer.json()) as { orderId: string }).orderId;
  };

  test.each([false, true])('its deadline passed (it could not be sent before: %s)', async (isUnsent) => {
    const orderId = await placed();
    if (isUnsent) await unsent({ orderId });
    serve('PENDING', () => sql(past, orderId));
    const answer = await post(`${shop.origin}/checkout`, { orderId });
    expect([answer.status, await answer.json()]).toMatchObject([409, { type: '/problems/order-expired' }]);
  });

  test('its deadline passed before it could be sent: it is not sent', async () => {
    const orderId = await unsent({ orderId: await placed() });
    await sql(past, orderId);
    const calls = serve('PENDING', nothing);
    expect((await post(`${shop.origin}/checkout`, { orderId })).status).toBe(409);
    expect(calls()).toBe(0);
  });

  test('its deadline passed while the first attempt ended in doubt: there is no second one', async () => {
    const orderId = await placed();
    const calls = serve('PENDING', () => sql(past, orderId), hangUp);
    expect((await post(`${shop.origin}/checkout`, { orderId })).status).toBe(503);
    expect(calls()).toBe(1);
  });
});

describe('before initialize has ended', () => {
  test.each([
    ['a payment', false],
    ['a payment that is sent long after it was written', true],
  ])('a hint at %s makes no second click open a second page', async (_what, isUnsent) => {
    const body = isUnsent ? { orderId: await unsent() } : aBasket;
    let click: Promise<Response> | undefined;
    const calls = serve('PENDING', async (call) => {
      if (call > 1) return;
      const [payment] = await sql<{ orderId: string; reference: string }>(
        `SELECT order_id AS "orderId", reference FROM payments WHERE status = 'sending'`,
      );
      await comeBack(payment?.reference ?? '');
      click = post(`${shop.origin}/checkout`, { orderId: payment?.orderId });
      await Promise.race([click, new Promise((resolve) => setTimeout(resolve, 100))]);
    });
    const first = (await (await post(`${shop.origin}/checkout`, body)).json()) as CheckoutAnswer;
    expect(await (await click)?.json()).toEqual(first);
    expect(calls()).toBe(1);
  });

  test('and the service does not know a payment that is sent late, its order is not cancelled', async () => {
    const orderId = await unsent();
    let cancelled: Response | undefined;
    service.answer = (req, res) => {
      if (req.method === 'GET') json({}, 404)(req, res);
      else
        void cancel(orderId).then((answer) => {
          cancelled = answer;
          opens(req, res);
        });
    };
    expect((await post(`${shop.origin}/checkout`, { orderId })).status).toBe(201);
    expect([cancelled?.status, await statusOf(orderId)]).toEqual([503, 'pending']);
  });
});
