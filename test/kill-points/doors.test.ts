import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { someOf } from '../support/extent.ts';
import { cleanUp } from '../support/process.ts';
import type { CheckoutAnswer } from '../support/program.ts';
import { createWorld, type Place, type World } from './world.ts';

// K7, K8: the server is killed while it takes a webhook. K13, K14: while it delivers a release. In both, one side
// repeats what was not acknowledged, and the other side knows it when it comes again.

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
beforeEach(() => world.start());
afterAll(async () => {
  await world.close();
  await cleanUp();
});

async function expectPaidOnce({ orderId }: CheckoutAnswer): Promise<void> {
  const [row] = await world.query(
    `SELECT o.status, (SELECT array_agg(r.delivery) FROM releases r WHERE r.order_id = o.id) AS releases
     FROM orders o WHERE o.id = $1`,
    orderId,
  );
  expect(row).toEqual({ status: 'paid', releases: ['delivered'] });
  expect(new Set(world.deliveries(orderId)).size).toBe(1);
}

const webhooksOf = (reference: string): Promise<{ deliveries: number }[]> =>
  world.query<{ deliveries: number }>('SELECT deliveries FROM webhooks WHERE reference = $1', reference);

const DOOR = 'POST /webhooks/payments';
const WEBHOOK_POINTS: [name: string, place: Omit<Place, 'about'>, isKept: boolean][] = [
  ['K7: it is read and no row is written', { on: 'database', what: 'store-webhook', point: 'asked' }, false],
  [
    'K7: its row is written and never committed',
    { on: 'database', what: 'store-webhook', point: 'uncommitted' },
    false,
  ],
  [
    'K8: its row is committed and the reply is lost',
    { on: 'database', what: 'store-webhook', point: 'answered' },
    true,
  ],
  ['K8: its row is committed and no 202 goes out', { on: 'shop', what: DOOR, point: 'answered' }, true],
];

describe('killed while it takes a webhook', () => {
  const points = someOf(WEBHOOK_POINTS, 1);
  test.each(points)('%s: the service repeats it, one row, paid once', async (_n, place, isKept) => {
    const order = await world.open();
    const death = world.diesAt({ ...place, about: order.reference });
    await Promise.all([death, world.hand(order.reference, 'pay')]);
    expect(await webhooksOf(order.reference)).toEqual(isKept ? [{ deliveries: 1 }] : []);
    await world.start();
    await world.acknowledged(order.reference);
    expect(await webhooksOf(order.reference)).toEqual([{ deliveries: isKept ? 2 : 1 }]);
    await world.settleDown();
    await expectPaidOnce(order);
    expect(await world.newViolations()).toEqual([]);
  });
});

const RELEASE_POINTS: [name: string, place: Omit<Place, 'about'>, isThere: boolean][] = [
  [
    'K13: it is leased and not sent',
    { on: 'database', what: 'lease-due-releases', point: 'answered' },
    false,
  ],
  ['K13: it is sent and does not arrive', { on: 'receiver', what: 'POST /', point: 'asked' }, false],
  [
    'K14: it has arrived and the receipt is lost',
    { on: 'receiver', what: 'POST /', point: 'answered' },
    true,
  ],
  [
    'K14: it has arrived and is not marked',
    { on: 'database', what: 'release-delivered', point: 'asked' },
    true,
  ],
  [
    'K14: it has arrived and its mark is never committed',
    { on: 'database', what: 'release-delivered', point: 'uncommitted' },
    true,
  ],
  [
    'after K14: it is marked and the reply is lost',
    { on: 'database', what: 'release-delivered', point: 'answered' },
    true,
  ],
];

describe('killed while it delivers a release', () => {
  test.each(someOf(RELEASE_POINTS, 1))(
    '%s: it arrives in the end, under one id',
    async (_name, { what, ...place }, isThere) => {
      const order = await world.open();
      // A release's mark names the release alone, so the statement is found by its name.
      const about = what === 'release-delivered' ? {} : { about: order.orderId };
      const death = world.diesAt({ what, ...place, ...about });
      await Promise.all([death, world.hand(order.reference, 'pay')]);
      const sentSoFar = world.deliveries(order.orderId).length;
      expect(sentSoFar > 0).toBe(isThere);
      await world.start();
      await world.settleDown();
      await expectPaidOnce(order);
      if (place.point !== 'answered' || !isThere || place.on === 'receiver')
        expect(world.deliveries(order.orderId).length).toBeGreaterThan(sentSoFar);
      expect(await world.newViolations()).toEqual([]);
    },
  );
});

const EVENT_POINTS: [name: string, place: Omit<Place, 'about'>, isThere: boolean][] = [
  [
    'its event is committed and the server dies at once',
    { on: 'database', what: 'record-confirmation', point: 'answered' },
    false,
  ],
  ['it has arrived and the receipt is lost', { on: 'receiver', what: 'POST /', point: 'answered' }, true],
  ['it is leased and not sent', { on: 'database', what: 'lease-due-events', point: 'answered' }, false],
];

describe('killed between an order that becomes one for review and the delivery of that event', () => {
  test.each(someOf(EVENT_POINTS, 1))(
    '%s: the next server delivers it, under one id, with the same bytes',
    async (_name, { what, ...place }, isThere) => {
      const order = await world.open();
      const about = what === 'record-confirmation' ? order.reference : order.orderId;
      const death = world.diesAt({ what, ...place, about });
      await Promise.all([death, world.hand(order.reference, 'pay', { notify: true, amount: '1.00' })]);
      const [atDeath] = await world.query<{ id: string; delivery: string }>(
        `SELECT id, delivery FROM events WHERE order_id = $1 AND type = 'order.review'`,
        order.orderId,
      );
      expect([atDeath?.delivery, world.events(order.orderId).length]).toEqual(['waiting', isThere ? 1 : 0]);
      await world.start();
      await world.settleDown();
      const told = world.events(order.orderId);
      expect(told).toHaveLength(isThere ? 2 : 1);
      expect([...new Set(told.map(({ id }) => id))]).toEqual([atDeath?.id]);
      expect(new Set(told.map(({ body }) => body)).size).toBe(1);
      expect(await world.newViolations()).toEqual([]);
    },
  );
});
