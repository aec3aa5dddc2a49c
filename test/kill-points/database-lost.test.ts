import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '../../src/platform/ids.ts';
import { IS_WHOLE } from '../support/extent.ts';
import { cleanUp } from '../support/process.ts';
import type { CheckoutAnswer } from '../support/program.ts';
import { A_MINUTE, aBasketOf, createWorld, type Place, type World } from './world.ts';

// The server lives and its connection to PostgreSQL breaks: before a statement ran, or after it was committed and before
// the reply. The server cannot tell which, so it repeats nothing blindly: it says 503 or lets a lease run out.

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
beforeEach(() => world.start());
afterAll(async () => {
  await world.close();
  await cleanUp();
});

const POINTS = [
  ['before it ran', 'asked'],
  ['in its transaction', 'uncommitted'],
  ['after it was committed', 'answered'],
] as const;

/** Of this statement that point, and in `npm run test:all` the others. */
const at = (point: Place['point']) => POINTS.filter(([, one]) => (one === point) !== IS_WHOLE);

async function expectPaidOnce({ orderId }: Pick<CheckoutAnswer, 'orderId'>): Promise<void> {
  const [row] = await world.query(
    `SELECT o.status, (SELECT array_agg(r.delivery) FROM releases r WHERE r.order_id = o.id) AS releases,
       (SELECT count(*)::int FROM suspense_items s WHERE s.order_id = o.id) AS suspense
     FROM orders o WHERE o.id = $1`,
    orderId,
  );
  expect(row).toEqual({ status: 'paid', releases: ['delivered'], suspense: 0 });
  expect(new Set(world.deliveries(orderId)).size).toBe(1);
}

const cut = (what: string, point: Place['point'], about?: string): Promise<void> =>
  world.isCutAt({ on: 'database', what, point, ...(about !== undefined && { about }) });

/** What must be true of every story's end. */
async function expectSound(order: Pick<CheckoutAnswer, 'orderId'>): Promise<void> {
  await world.settleDown();
  await expectPaidOnce(order);
  expect(world.isRunning()).toBe(true);
  expect(await world.newViolations()).toEqual([]);
}

describe('the connection breaks while a checkout is written', () => {
  test.each(at('asked'))('%s: 503, and the same key ends at one order', async (_name, point) => {
    const [email, key] = [`${newId()}@example.com`, newId()];
    const [answer] = await Promise.all([
      world.checkout(aBasketOf(email), key),
      cut('place-order', point, email),
    ]);
    expect(answer?.http).toBe(503);
    expect(world.sent('POST', email)).toEqual([]);
    await world.letTimePass(A_MINUTE);
    const opened = (await world.checkout(aBasketOf(email), key)) as CheckoutAnswer;
    expect(await world.query('SELECT FROM orders WHERE email = $1', email)).toHaveLength(1);
    await world.hand(opened.reference, 'pay');
    await expectSound(opened);
  });
});

describe("the connection breaks while the service's answer is recorded", () => {
  test.each(at('answered'))('%s: 503, and the same key ends at one order', async (_name, point) => {
    const [email, key] = [`${newId()}@example.com`, newId()];
    const [answer] = await Promise.all([
      world.checkout(aBasketOf(email), key),
      cut('record-initialize', point),
    ]);
    expect(answer?.http).toBe(503);
    expect(world.sent('POST', email)).toHaveLength(1);
    if (point !== 'answered') await world.letTimePass(A_MINUTE);
    const opened = (await world.checkout(aBasketOf(email), key)) as CheckoutAnswer;
    const references = world.sent('POST', email).map(({ body }) => /"reference":"(\w+)"/.exec(body)?.[1]);
    expect(new Set(references).size).toBe(references.length);
    expect(references.at(-1)).toBe(opened.reference);
    expect(references).toHaveLength(point === 'answered' ? 1 : 2);
    expect(await world.query('SELECT FROM orders WHERE email = $1', email)).toHaveLength(1);
    await world.hand(opened.reference, 'pay');
    await expectSound(opened);
  });
});

describe('the connection breaks at the COMMIT of a further payment', () => {
  const points = at('answered').filter(([, point]) => point !== 'uncommitted');
  test.each(points)('%s: 503, and the same key ends at this order', async (_name, point) => {
    const { orderId, reference } = await world.open();
    await world.hand(reference, 'fail', { notify: false });
    expect(await world.comesBack(reference)).toBe(303);
    const key = newId();
    const [answer] = await Promise.all([world.checkout({ orderId }, key), cut('COMMIT', point, orderId)]);
    expect(answer?.http).toBe(503);
    const begun = await world.query('SELECT FROM payments WHERE order_id = $1', orderId);
    expect(begun).toHaveLength(point === 'answered' ? 2 : 1);
    await world.letTimePass(A_MINUTE);
    const opened = (await world.checkout({ orderId }, key)) as CheckoutAnswer;
    expect(opened.orderId).toBe(orderId);
    expect(world.sent('POST', opened.reference)).toHaveLength(1);
    await world.hand(opened.reference, 'pay');
    await expectSound(opened);
  });
});

describe('the connection breaks while a webhook is kept', () => {
  test.each(at('answered'))('%s: the service repeats it, one row', async (_name, point) => {
    const order = await world.open();
    await Promise.all([cut('store-webhook', point, order.reference), world.hand(order.reference, 'pay')]);
    await world.acknowledged(order.reference);
    const text = 'SELECT deliveries FROM webhooks WHERE reference = $1';
    expect(await world.query(text, order.reference)).toEqual([{ deliveries: point === 'answered' ? 2 : 1 }]);
    await expectSound(order);
  });
});

describe('the connection breaks while a confirmation is recorded', () => {
  test.each(at('uncommitted'))('%s, for a shopper: 503, paid once', async (_name, point) => {
    const order = await world.open();
    await world.hand(order.reference, 'pay', { notify: false });
    const [status] = await Promise.all([
      world.comesBack(order.reference),
      cut('record-confirmation', point, order.reference),
    ]);
    expect(status).toBe(503);
    await expectSound(order);
  });

  test.each(at('asked'))('%s, for a webhook: paid once', async (_name, point) => {
    const order = await world.open();
    await Promise.all([
      cut('record-confirmation', point, order.reference),
      world.hand(order.reference, 'pay'),
    ]);
    await expectSound(order);
  });
});

describe('the connection breaks while a delivered release is marked', () => {
  test.each(at('answered'))('%s: one id', async (_name, point) => {
    const order = await world.open();
    await Promise.all([cut('release-delivered', point), world.hand(order.reference, 'pay')]);
    await expectSound(order);
  });
});
