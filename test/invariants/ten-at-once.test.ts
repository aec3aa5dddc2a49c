import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { IS_WHOLE } from '../support/extent.ts';
import { secondTruths } from '../support/order-life/one-truth.ts';
import { beginLife, passTime, PRICE, TOKEN, type Life } from '../support/order-life/steps.ts';
import { cleanUp } from '../support/process.ts';
import { post, startProgram, type TestProgram } from '../support/program.ts';
import { startShop, type ShopProcess } from '../support/shop-process.ts';

// Refunds, cancels and payments of one order at one moment, over several processes on one database.

const PROCESSES = IS_WHOLE ? 4 : 2;
const ROUNDS = IS_WHOLE ? 20 : 2;
const TEN = 10;

let shop: TestProgram;
let processes: ShopProcess[];
beforeAll(async () => {
  shop = await startProgram({ env: { SHOP_API_TOKEN: TOKEN, GATEWAY_CALLS_PER_SECOND: '0' } });
  const env = {
    DATABASE_URL: shop.program.database.pool.options.connectionString ?? '',
    GATEWAY_URL: shop.sandbox.url,
    GATEWAY_SECRET_KEY: shop.sandbox.testKey,
    SHOP_API_TOKEN: TOKEN,
    WORKER: 'off',
  };
  processes = await Promise.all(
    Array.from({ length: PROCESSES }, () => startShop({ service: shop.sandbox.url, env })),
  );
});
afterAll(async () => {
  await cleanUp();
  await shop.close();
});

const bearer = { authorization: `Bearer ${TOKEN}` };
const originOf = (at: number): string => processes[at % PROCESSES]?.origin ?? '';

async function paidThere(): Promise<Life & { reference: string }> {
  const life = await beginLife(shop, false);
  const { reference } = await shop.checkout({ orderId: life.orderId });
  await shop.hand(`transactions/${reference}/pay`, { notify: false });
  return { ...life, reference };
}

/** Ten times each, spread over the processes. @returns the HTTP statuses of each */
function tenEach(...deeds: ((origin: string, at: number) => Promise<Response>)[]): Promise<number[][]> {
  const statuses = (deed: (typeof deeds)[number]): Promise<number[]> =>
    Promise.all(Array.from({ length: TEN }, async (_none, at) => (await deed(originOf(at), at)).status));
  return Promise.all(deeds.map(statuses));
}

const cancel =
  ({ orderId }: Life) =>
  (origin: string) =>
    post(`${origin}/orders/${orderId}/cancel`, { reason: 'sold out' }, bearer);
const refund =
  ({ orderId }: Life) =>
  (origin: string, at: number) =>
    post(
      `${origin}/orders/${orderId}/refunds`,
      { amount: '4.20', reason: 'x', externalId: `R-${at}` },
      bearer,
    );
const comeBack = (reference: string) => (origin: string) =>
  fetch(`${origin}/checkout/return/${reference}`, { redirect: 'manual' });

async function rowsOf({ orderId }: Life): Promise<object | undefined> {
  const [row] = await shop.program.database.query(
    `SELECT status, (SELECT count(*)::int FROM releases WHERE order_id = o.id) AS releases,
       (SELECT count(*)::int FROM refunds WHERE order_id = o.id) AS refunds,
       (SELECT count(*)::int FROM events WHERE order_id = o.id AND type = 'order.cancelled') AS cancelled
     FROM orders o WHERE id = $1`,
    [orderId],
  );
  return row;
}

test(`ten refunds, cancels and returns of an order that was paid meanwhile, ${PROCESSES} processes: paid once, never cancelled, and no more goes back than came`, async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const life = await paidThere();
    const [refunds, cancels, returns] = await tenEach(refund(life), cancel(life), comeBack(life.reference));
    // A refund may come before the payment was seen; a cancel is refused, or could not ask.
    expect(refunds?.filter((status) => ![201, 409, 422].includes(status))).toEqual([]);
    expect(cancels?.filter((status) => ![409, 503].includes(status))).toEqual([]);
    expect(returns?.filter((status) => status >= 400)).toEqual([]);
    const [more] = await tenEach(refund(life));
    expect(more?.filter((status) => ![200, 201, 422].includes(status))).toEqual([]);
    // Three times 4.20 of 14.50.
    expect(await rowsOf(life)).toEqual({ status: 'paid', releases: 1, refunds: 3, cancelled: 0 });
    await passTime(life);
    expect(await secondTruths(shop, life.orderId)).toEqual([]);
  }
});

test('the money comes in the middle of ten cancels: paid, or cancelled and in suspense', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const life = await beginLife(shop, false);
    const { reference } = await shop.checkout({ orderId: life.orderId });
    const paying = shop.hand(`transactions/${reference}/pay`, { notify: false, amount: PRICE });
    await tenEach(cancel(life), comeBack(reference), refund(life));
    await paying;
    await passTime(life);
    const row = await rowsOf(life);
    const held = await shop.program.database.query(
      `SELECT class FROM suspense_items WHERE order_id = $1 AND closed_at IS NULL`,
      [life.orderId],
    );
    const isCancelled = { releases: 0, refunds: 0, status: 'cancelled', cancelled: 1 };
    if (held.length > 0) expect([row, held]).toEqual([isCancelled, [{ class: 'paid_after_cancel' }]]);
    else expect(row).toMatchObject({ status: 'paid', releases: 1, cancelled: 0 });
    expect(await secondTruths(shop, life.orderId)).toEqual([]);
  }
});
