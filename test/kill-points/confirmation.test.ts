import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { someOf } from '../support/extent.ts';
import { cleanUp } from '../support/process.ts';
import { eventually, type CheckoutAnswer } from '../support/program.ts';
import { A_MINUTE, createWorld, type Place, type World } from './world.ts';

// K9 to K12: the server is killed while it confirms. Whichever door asked, the payment is asked about again when the
// lease of the dead one ends, and what was written once is not written twice.

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
beforeEach(() => world.start());
afterAll(async () => {
  await world.close();
  await cleanUp();
});

type Door = {
  /** The statement by which the door takes the payment. */
  lease: string;
  asks(order: CheckoutAnswer, word: 'pay' | 'fail'): Promise<unknown>;
  /** What comes again by itself after the server is back; the clock comes anyway. */
  asksAgain(order: CheckoutAnswer): Promise<unknown>;
};

const DOORS = {
  return: {
    lease: 'hint-and-lease-payment',
    asks: async ({ reference }, word) => {
      await world.hand(reference, word, { notify: false });
      expect(await world.comesBack(reference)).toBeNull();
    },
    asksAgain: async ({ reference }) => {
      expect(await world.comesBack(reference)).toBe(303);
    },
  },
  webhook: {
    lease: 'store-webhook',
    asks: ({ reference }, word) => world.hand(reference, word),
    asksAgain: () => Promise.resolve(),
  },
  clock: {
    lease: 'lease-scheduled-payments',
    asks: async ({ reference }, word) => {
      await world.hand(reference, word, { notify: false });
      await world.letTimePass(2 * 3_600);
    },
    asksAgain: () => Promise.resolve(),
  },
} satisfies Record<string, Door>;

type Row = [name: string, where: (door: Door) => Omit<Place, 'about'>, isRecorded: boolean];

const VERIFY = 'GET /v1/transactions/verify/';
const POINTS: Row[] = [
  [
    'before K9: the payment is leased and nothing is asked',
    ({ lease }) => ({ on: 'database', what: lease, point: 'answered' }),
    false,
  ],
  [
    'before K9: verify is asked and not answered',
    () => ({ on: 'service', what: VERIFY, point: 'asked' }),
    false,
  ],
  [
    'K9: verify is answered and the answer is lost',
    () => ({ on: 'service', what: VERIFY, point: 'answered' }),
    false,
  ],
  [
    'K9: verify is answered and nothing is recorded',
    () => ({ on: 'database', what: 'record-confirmation', point: 'asked' }),
    false,
  ],
  [
    'K10: the confirmation has run and is never committed',
    () => ({ on: 'database', what: 'record-confirmation', point: 'uncommitted' }),
    false,
  ],
  [
    'K11: the confirmation is committed and the reply is lost',
    () => ({ on: 'database', what: 'record-confirmation', point: 'answered' }),
    true,
  ],
  [
    'K12: the reply has come and the server dies at once',
    () => ({ on: 'database', what: 'record-confirmation', point: 'heard' }),
    true,
  ],
];

/** The order and everything that there must be once. */
async function endOf({ orderId }: CheckoutAnswer): Promise<{ status: string } | undefined> {
  const [row] = await world.query<{ status: string }>(
    `SELECT o.status, (SELECT count(*)::int FROM releases r WHERE r.order_id = o.id) AS releases,
       (SELECT count(*)::int FROM journal j WHERE j.order_id = o.id AND j.event = 'order-paid') AS paid,
       (SELECT count(*)::int FROM suspense_items s WHERE s.order_id = o.id) AS suspense
     FROM orders o WHERE o.id = $1`,
    orderId,
  );
  return row;
}
const PAID_ONCE = { status: 'paid', releases: 1, paid: 1, suspense: 0 };
const UNPAID = { releases: 0, paid: 0, suspense: 0 };

async function killWhileConfirming(door: Door, place: Omit<Place, 'about'>, word: 'pay' | 'fail') {
  const order = await world.open();
  const death = world.diesAt({ ...place, about: order.reference });
  await Promise.all([death, door.asks(order, word)]);
  const atDeath = await endOf(order);
  await world.start();
  // The dead one's lease ends. Nobody need come again for the payment to be asked about within this minute.
  await world.letTimePass(A_MINUTE);
  const end = word === 'pay' ? 'paid' : 'failed';
  await eventually(async () => (await endOf(order))?.status === end);
  await door.asksAgain(order);
  await world.settleDown();
  return { order, atDeath };
}

const CASES = Object.entries<Door>(DOORS).flatMap(([name, door]) =>
  POINTS.map(([point, where, isRecorded]) => [name, point, door, where(door), isRecorded] as const),
);

// Of `npm test` one for each door, at another point.
test.each(someOf(CASES, 4))(
  'killed while the %s confirms a paid payment, %s: paid once in the end, one release',
  async (_door, _point, door, where, isRecorded) => {
    const { order, atDeath } = await killWhileConfirming(door, where, 'pay');
    expect(atDeath).toEqual(isRecorded ? PAID_ONCE : { ...UNPAID, status: 'pending' });
    expect(await endOf(order)).toEqual(PAID_ONCE);
    expect(new Set(world.deliveries(order.orderId)).size).toBe(1);
    expect(world.sent('POST /v1/transactions/initialize', order.reference)).toHaveLength(1);
    expect(await world.newViolations()).toEqual([]);
  },
);

test.each(someOf(POINTS.slice(-4).reverse(), 1))(
  'killed while the clock confirms a failed payment, %s: failed, nothing is released',
  async (_name, where, isRecorded) => {
    const { order, atDeath } = await killWhileConfirming(DOORS.clock, where(DOORS.clock), 'fail');
    expect(atDeath).toEqual({ ...UNPAID, status: isRecorded ? 'failed' : 'pending' });
    expect(await endOf(order)).toEqual({ ...UNPAID, status: 'failed' });
    expect(world.deliveries(order.orderId)).toEqual([]);
    expect(await world.newViolations()).toEqual([]);
  },
);
