import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '../../src/platform/ids.ts';
import { IS_WHOLE, someOf } from '../support/extent.ts';
import { cleanUp } from '../support/process.ts';
import { A_MINUTE, aBasketOf, createWorld, type Answer, type Place, type World } from './world.ts';

// K1 to K6: the server is killed while it opens a checkout. K1 (order committed), K2 (payment committed) and K3 (about
// to be sent) are one point here, because order, payment and idempotency key are one statement, `place-order`.

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
beforeEach(() => world.start());
afterAll(async () => {
  await world.close();
  await cleanUp();
});

/** What is there when the server is dead: of ours (the payment's status), on the wire, and in the service's books. */
type Left = { payment: null | 'sending' | 'open'; wire: 0 | 1; there: 0 | 1 };

const INITIALIZE = 'POST /v1/transactions/initialize';
const POINTS: [name: string, place: Place, left: Left][] = [
  [
    'before K1: the order is about to be written',
    { on: 'database', what: 'place-order', point: 'asked' },
    { payment: null, wire: 0, there: 0 },
  ],
  [
    'before K1: the order is written and never committed',
    { on: 'database', what: 'place-order', point: 'uncommitted' },
    { payment: null, wire: 0, there: 0 },
  ],
  [
    'K1 to K3: order and payment are committed and nothing is sent',
    { on: 'database', what: 'place-order', point: 'answered' },
    { payment: 'sending', wire: 0, there: 0 },
  ],
  [
    'K4: initialize is sent and not applied',
    { on: 'service', what: INITIALIZE, point: 'asked' },
    { payment: 'sending', wire: 1, there: 0 },
  ],
  [
    'K4: initialize is sent and applied, and the answer is lost',
    { on: 'service', what: INITIALIZE, point: 'answered' },
    { payment: 'sending', wire: 1, there: 1 },
  ],
  [
    'K5: initialize is answered and nothing is recorded',
    { on: 'database', what: 'record-initialize', point: 'asked' },
    { payment: 'sending', wire: 1, there: 1 },
  ],
  [
    'K5: the answer is recorded and never committed',
    { on: 'database', what: 'record-initialize', point: 'uncommitted' },
    { payment: 'sending', wire: 1, there: 1 },
  ],
  [
    'K6: the answer is committed and the reply is lost',
    { on: 'database', what: 'record-initialize', point: 'answered' },
    { payment: 'open', wire: 1, there: 1 },
  ],
  [
    'K6: the checkout is open and the shopper is not told',
    { on: 'shop', what: 'POST /checkout', point: 'answered' },
    { payment: 'open', wire: 1, there: 1 },
  ],
];

// By what is left: nothing, not sent, not applied, not recorded, open.
const KINDS = [...new Map(POINTS.map((each) => [JSON.stringify(each[2]), each])).values()];
const AT = IS_WHOLE ? POINTS : someOf(KINDS, 2);
const IN_DOUBT = IS_WHOLE
  ? POINTS
  : KINDS.filter(([, , left]) => left.payment === 'sending' && left.wire === 1).slice(-1);

type PaymentRow = { orderId: string; reference: string; status: string; checkoutUrl: string | null };

const paymentsOf = (email: string): Promise<PaymentRow[]> =>
  world.query<PaymentRow>(
    `SELECT p.order_id AS "orderId", p.reference, p.status, p.checkout_url AS "checkoutUrl"
     FROM payments p JOIN orders o ON o.id = p.order_id WHERE o.email = $1 ORDER BY p.created_at`,
    email,
  );

const orderOf = async (orderId: string): Promise<object | undefined> =>
  (
    await world.query(
      `SELECT o.status, (SELECT count(*)::int FROM releases r WHERE r.order_id = o.id) AS releases,
         (SELECT r.reference FROM releases r WHERE r.order_id = o.id) AS "paidBy",
         (SELECT string_agg(s.class, ',') FROM suspense_items s WHERE s.order_id = o.id) AS suspense
       FROM orders o WHERE o.id = $1`,
      orderId,
    )
  )[0];

const UNPAID = { releases: 0, paidBy: null, suspense: null };

/** Kills the server there, and says what was left: the payment that was begun, or none. */
async function killAt(place: Place, left: Left, email: string, key?: string): Promise<PaymentRow | null> {
  const [answer] = await Promise.all([world.checkout(aBasketOf(email), key), world.diesAt(place)]);
  expect(answer).toBeNull();
  const [payment = null, ...more] = await paymentsOf(email);
  expect(more).toEqual([]);
  expect(payment?.status ?? null).toBe(left.payment);
  const wire = world.sent(INITIALIZE, email);
  expect(wire).toHaveLength(left.wire);
  if (left.wire === 1) expect(wire[0]?.body).toContain(payment?.reference);
  if (payment !== null) await expectKnown(payment.reference, left.there);
  return payment;
}

async function expectKnown(reference: string, there: 0 | 1): Promise<void> {
  const answer = await fetch(`${world.service}/sandbox/transactions/${reference}`);
  expect(answer.status).toBe(there === 1 ? 200 : 404);
}

/** The shopper's program repeats its request until it gets a checkout. */
async function repeat(body: object, key: string, left: Left): Promise<NonNullable<Answer>> {
  const first = await world.checkout(body, key);
  if (left.payment !== 'sending') return expectOpened(first);
  // The dead server's lock on the key outlives it.
  expect(first?.http).toBe(409);
  await world.letTimePass(A_MINUTE / 2 + 1);
  return expectOpened(await world.checkout(body, key));
}

function expectOpened(answer: Answer): NonNullable<Answer> {
  if (answer?.http !== 201) throw new Error(`checkout answered ${answer?.http ?? 'nothing'}`);
  return answer;
}

async function expectSentOnce(email: string): Promise<void> {
  for (const { reference } of await paymentsOf(email))
    expect(world.sent(INITIALIZE, reference).length).toBeLessThanOrEqual(1);
}

describe('killed while it opens a checkout with an Idempotency-Key', () => {
  test.each(AT)('%s: the same key gives the same order, paid once', async (_name, place, left) => {
    const [email, key] = [`${newId()}@example.com`, newId()];
    const begun = await killAt(place, left, email, key);
    await world.start();

    const opened = await repeat(aBasketOf(email), key, left);
    if (begun !== null) expect(opened.orderId).toBe(begun.orderId);
    // What was recorded is the answer; what was on its way is never sent again, another payment takes its place.
    if (left.payment === 'open')
      expect(opened).toMatchObject({ reference: begun?.reference, checkoutUrl: begun?.checkoutUrl });
    else expect(opened.reference).not.toBe(begun?.reference);
    expect(await world.checkout(aBasketOf(email), key)).toEqual(opened);
    expect((await world.checkout(aBasketOf(`other-${email}`), key))?.http).toBe(422);

    await world.hand(opened.reference ?? '', 'pay');
    // A link that the service may have mailed: the lost checkout is paid, too.
    const isPaidTwice = left.there === 1 && left.payment === 'sending';
    if (isPaidTwice) await world.hand(begun?.reference ?? '', 'pay', { notify: false });
    await world.settleDown();
    const { status, ...rest } = (await orderOf(opened.orderId ?? '')) as { status: string; paidBy: string };
    expect(status).toBe('paid');
    expect(rest).toMatchObject({ releases: 1, suspense: isPaidTwice ? 'duplicate_payment' : null });
    if (!isPaidTwice) expect(rest.paidBy).toBe(opened.reference);
    expect(new Set(world.deliveries(opened.orderId ?? '')).size).toBe(1);
    // It is answered as the order stands now: never again with a page to pay at.
    expect(await world.checkout(aBasketOf(email), key)).toMatchObject({
      http: 409,
      type: '/problems/already-paid',
    });
    await expectSentOnce(email);
    expect(await world.newViolations()).toEqual([]);
  });
});

describe('killed while it opens a checkout without an Idempotency-Key', () => {
  test.each(IN_DOUBT)('%s: paid if the service says so, else expired', async (_name, place, left) => {
    const email = `${newId()}@example.com`;
    const begun = await killAt(place, left, email);
    await world.start();

    // Without a key the shopper's repetition is another order.
    const again = expectOpened(await world.checkout(aBasketOf(email)));
    expect(again.orderId).not.toBe(begun?.orderId);
    await world.hand(again.reference ?? '', 'fail', { notify: false });
    if (begun !== null && left.there === 1) await world.hand(begun.reference, 'pay', { notify: false });
    await world.settleDown();
    expect(await orderOf(again.orderId ?? '')).toEqual({ ...UNPAID, status: 'failed' });
    if (begun !== null) {
      const paid = { status: 'paid', releases: 1, paidBy: begun.reference, suspense: null };
      expect(await orderOf(begun.orderId)).toEqual(
        left.there === 1 ? paid : { ...UNPAID, status: 'expired' },
      );
      expect(new Set(world.deliveries(begun.orderId)).size).toBe(left.there);
    }
    await expectSentOnce(email);
    expect(await world.newViolations()).toEqual([]);
  });
});

/** A further payment is begun in a transaction of several statements: the last one is its COMMIT. */
const FURTHER: [name: string, place: Place, isBegun: boolean][] = [
  [
    'before K2: the payment is written and never committed',
    { on: 'database', what: 'COMMIT', point: 'asked' },
    false,
  ],
  [
    'K2 and K3: the payment is committed and nothing is sent',
    { on: 'database', what: 'COMMIT', point: 'answered' },
    true,
  ],
];

describe('killed while it begins a further payment of a failed order', () => {
  test.each(FURTHER.slice(IS_WHOLE ? 0 : 1))(
    '%s: the same key gives a checkout of this order, paid once',
    async (_name, place, isBegun) => {
      const { orderId, reference } = await world.open();
      await world.hand(reference, 'fail', { notify: false });
      expect(await world.comesBack(reference)).toBe(303);
      const key = newId();
      const [answer] = await Promise.all([
        world.checkout({ orderId }, key),
        world.diesAt({ ...place, about: orderId }),
      ]);
      expect(answer).toBeNull();
      const begun = await world.query('SELECT FROM payments WHERE order_id = $1', orderId);
      expect(begun).toHaveLength(isBegun ? 2 : 1);
      await world.start();

      const left: Left = { payment: isBegun ? 'sending' : null, wire: 0, there: 0 };
      const opened = isBegun
        ? await repeat({ orderId }, key, left)
        : expectOpened(await world.checkout({ orderId }, key));
      expect(opened.orderId).toBe(orderId);
      expect(await world.checkout({ orderId }, key)).toEqual(opened);
      await world.hand(opened.reference ?? '', 'pay');
      await world.settleDown();
      expect(await orderOf(orderId)).toEqual({
        status: 'paid',
        releases: 1,
        paidBy: opened.reference,
        suspense: null,
      });
      expect(new Set(world.deliveries(orderId)).size).toBe(1);
      expect(await world.newViolations()).toEqual([]);
    },
  );
});
