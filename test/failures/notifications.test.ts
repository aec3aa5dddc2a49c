import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { befall, callsOf, sendNotification, useShop } from '../support/failures.ts';
import { comeBack, payInSilence, unschedule } from '../support/outside.ts';
import type { Checkout } from '../support/shop.ts';

// A notification causes a verification, and a second one later, because a service may notify before
// verify shows the payment.

const { shop } = useShop({ env: { GATEWAY_CALLS_PER_SECOND: '20', CHECKOUTS_PER_MINUTE: '20' } });

/** The limit of one address: five times its checkouts. */
const RETURNS_PER_MINUTE = 100;

const FLOOD = 60;
const LATER_MS = 20_000;

let shoppers = 0;
/** A checkout of twenty minutes ago, which only a notification makes due. */
async function open(): Promise<Checkout> {
  const checkout = await shop.checkout({ email: `shopper${(shoppers += 1)}@example.com` });
  await unschedule(shop, checkout.reference);
  await shop.database.query(
    `UPDATE payments SET created_at = created_at - interval '20 minutes', opened_at = opened_at - interval '20 minutes'
     WHERE reference = $1`,
    [checkout.reference],
  );
  return checkout;
}
const questions = async ({ reference }: Checkout) => (await callsOf(shop, 'verify', reference)).length;
const becomesPaid = ({ orderId }: Checkout, withinMs = LATER_MS) =>
  // Reads by HTTP would use up the limit of reads of the address.
  eventually(async () => {
    const paid = `SELECT 1 FROM orders WHERE id = $1 AND status = 'paid'`;
    expect(await shop.database.query(paid, [orderId])).toHaveLength(1);
  }, withinMs);

let flooded: { checkout: Checkout; since: number };
test('sixty identical signed webhooks about an unpaid payment are accepted', async () => {
  const checkout = await open();
  const since = Date.now();
  const statuses = new Set<number>();
  for (let sent = 0; sent < FLOOD; sent += 1) statuses.add((await sendNotification(shop, checkout.reference)).status);
  expect(statuses).toEqual(new Set([202]));
  flooded = { checkout, since };
});

const PENDING = { body: { status: true, data: { status: 'PENDING' } } };
const HTML = { body: '<html><h1>Please wait</h1></html>', contentType: 'text/html' };
test('a payment of twenty minutes ago is paid soon after its notification, although verify first returns PENDING or HTML twice', async () => {
  const notifications = { webhook: (one: Checkout) => sendNotification(shop, one.reference), return: comeBackOf };
  const waiting: Promise<unknown>[] = [];
  for (const says of [PENDING, HTML])
    for (const [name, notification] of Object.entries(notifications)) {
      const checkout = await open();
      const { reference } = checkout;
      await payInSilence(shop, reference);
      // The return verifies at once and has one follow-up, so it gets one fault. The webhook's
      // follow-up after ten seconds is its second one.
      await befall(shop, 'verify', 'body', { ...says, reference, times: name === 'webhook' ? 2 : 1 });
      waiting.push(notification(checkout).then(() => becomesPaid(checkout)));
    }
  await Promise.all(waiting);
});
function comeBackOf({ reference }: Checkout) {
  return comeBack(shop, reference);
}

test('a new signed webhook is followed at once, however many earlier ones brought nothing new', async () => {
  const checkout = await open();
  const { reference } = checkout;
  for (let sent = 0; sent < 6; sent += 1) {
    const before = await questions(checkout);
    await sendNotification(shop, reference, shop.url, `pending.${sent}`);
    await eventually(async () => (await questions(checkout)) > before);
    // Removes the follow-up, so that only the next webhook causes a verification.
    await unschedule(shop, reference);
  }
  await payInSilence(shop, reference);
  await sendNotification(shop, reference);
  await becomesPaid(checkout);
});

const notificationOf = async ({ reference }: Checkout) => {
  const sql = `SELECT notified_at, next_check_at > now() + interval '1 hour' AS waits FROM payments WHERE reference = $1`;
  return (await shop.database.query(sql, [reference]))[0];
};
const returnFrom = async (address: string, reference: string, method = 'GET') => {
  const headers = { 'x-forwarded-for': address };
  return (await shop.request(method, `/checkout/return/${reference}`, { headers })).status;
};

test('a HEAD of the return URL is redirected, and makes nothing due', async () => {
  const checkout = await open();
  const asked = await questions(checkout);
  expect(await returnFrom('203.0.113.1', checkout.reference, 'HEAD')).toBe(303);
  expect(await notificationOf(checkout)).toEqual({ notified_at: null, waits: true });
  expect(await questions(checkout)).toBe(asked);
});

test('returns of one address beyond its limit are redirected and make nothing due, and other addresses still verify', async () => {
  const [checkout, { reference: nobodys }] = [await open(), { reference: 'nobodys0000000000000000000' }];
  const asked = await questions(checkout);
  const returns = Array.from({ length: RETURNS_PER_MINUTE }, () => returnFrom('203.0.113.2', nobodys));
  expect(new Set(await Promise.all(returns))).toEqual(new Set([404]));
  for (let times = 0; times < 3; times += 1) expect(await returnFrom('203.0.113.2', checkout.reference)).toBe(303);
  expect(await notificationOf(checkout)).toEqual({ notified_at: null, waits: true });
  expect(await questions(checkout)).toBe(asked);
  expect(await returnFrom('203.0.113.3', checkout.reference)).toBe(303);
  expect(await questions(checkout)).toBe(asked + 1);
});

test('the sixty webhooks cause at most fifteen verifications in twenty seconds', async () => {
  const { checkout, since } = flooded;
  await eventually(() => Date.now() > since + LATER_MS);
  const calls = await callsOf(shop, 'verify', checkout.reference);
  const times = calls.filter(({ at }) => Date.parse(at) <= since + LATER_MS).length;
  expect(times).toBeGreaterThan(0);
  expect(times).toBeLessThanOrEqual(15);
});

test('a payment that a webhook names is verified before four hundred abandoned payments that are due', async () => {
  const checkout = await open();
  await shop.database.query(`WITH o AS (
      INSERT INTO orders (id, mode, amount, currency, email, created_at)
      SELECT 'left' || n, 'test', 850000, 'NGN', 'left@example.com', now() - interval '2 days'
      FROM generate_series(1, 400) AS n RETURNING *)
    INSERT INTO payments (reference, order_id, mode, amount, currency, status, created_at, opened_at, next_check_at)
    SELECT substr(md5(id) || md5(id), 1, 26), id, mode, amount, currency, 'open', created_at, created_at,
      now() - interval '1 hour' FROM o`);
  await payInSilence(shop, checkout.reference);
  await sendNotification(shop, checkout.reference);
  await becomesPaid(checkout, 10_000);
  const left = `SELECT count(*)::int AS count FROM payments WHERE next_check_at < now() - interval '1 minute'`;
  expect((await shop.database.query<{ count: number }>(left))[0]?.count).toBeGreaterThan(100);
});

test('a signed webhook is followed within five seconds, although notifications about three hundred other payments wait', async () => {
  const checkout = await open();
  await payInSilence(shop, checkout.reference);
  await shop.database.query(`WITH o AS (
      INSERT INTO orders (id, mode, amount, currency, email)
      SELECT 'pointed' || n, 'test', 850000, 'NGN', 'stranger@example.com' FROM generate_series(1, 300) AS n RETURNING *)
    INSERT INTO payments (reference, order_id, mode, amount, currency, status, opened_at, notified_at, next_check_at)
    SELECT substr(md5(id) || md5(id), 1, 26), id, mode, amount, currency, 'open', created_at, now(), now() FROM o`);
  await sendNotification(shop, checkout.reference);
  await becomesPaid(checkout, 5_000);
  const left = `SELECT count(*)::int AS count FROM payments WHERE order_id LIKE 'pointed%' AND answered_at IS NULL`;
  expect((await shop.database.query<{ count: number }>(left))[0]?.count).toBeGreaterThan(100);
});
