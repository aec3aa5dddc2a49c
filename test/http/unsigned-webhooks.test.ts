import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import { eventually } from '../support/eventually.ts';
import { callsOf } from '../support/failures.ts';
import { payInSilence, statusOf, unschedule } from '../support/outside.ts';
import { startProcess } from '../support/process.ts';
import { startShop, TEST_KEY, WEBHOOK_SECRET, type Checkout, type Shop } from '../support/shop.ts';

// Without signatures anybody may send webhooks. They must cost little, and the honest ones must be
// followed.

const PATH = '/webhooks/payments';
const GATEWAY_ADAPTER = fileURLToPath(new URL('../support/adapters/unsigned.ts', import.meta.url));
/** The limit of the stored bytes of one body: about 2 kB and some overhead. */
const ABOUT_2_KB = 2_500;

let shop: Shop;
beforeAll(async () => {
  shop = await startShop({ env: { WEBHOOK_SECRETS: '', GATEWAY_ADAPTER } });
});
afterAll(() => shop.stop());

/** Each sender has an address of its own, so that the limits of one test do not affect another. */
let strangers = 0;
const stranger = () => `203.0.113.${(strangers += 1)}`;
const send = async (json: unknown, address: string): Promise<number> => {
  const headers = { 'x-forwarded-for': address };
  return (await shop.request('POST', PATH, { json, headers })).status;
};
/**
 * Sends no more in a second than an address may.
 * @param bodies each address sends ten of them
 */
async function sendAll(bodies: readonly unknown[]): Promise<void> {
  for (let from = 0; from < bodies.length; from += 10) {
    const address = stranger();
    const statuses = await Promise.all(bodies.slice(from, from + 10).map((body) => send(body, address)));
    expect(new Set(statuses)).toEqual(new Set([202]));
  }
}
const kept = () =>
  shop.database.query<{ id: string; bytes: number; references: string[] }>(
    `SELECT id, octet_length(body) AS bytes, payment_references AS references FROM webhooks ORDER BY id`,
  );
/** The rows that the webhooks of a function add. */
async function leaves(sent: () => Promise<unknown>) {
  const before = new Set((await kept()).map(({ id }) => id));
  await sent();
  return (await kept()).filter(({ id }) => !before.has(id));
}
const about = (reference: string, more = {}) => ({ event: 'charge', data: { reference, ...more } });
async function paidInSilence(): Promise<Checkout> {
  const checkout = await shop.checkout();
  await unschedule(shop, checkout.reference);
  await payInSilence(shop, checkout.reference);
  return checkout;
}
const becomesPaid = ({ orderId }: Checkout) => eventually(async () => (await statusOf(shop, orderId)) === 'paid');

let flooded: { reference: string; until: number };
test('sixty different unsigned bodies about one unpaid payment are accepted', async () => {
  const { reference } = await shop.checkout();
  await unschedule(shop, reference);
  await sendAll(Array.from({ length: 60 }, (_, n) => about(reference, { n })));
  flooded = { reference, until: Date.now() + 20_000 };
});

test('a body of 100 kB that names a payment is followed, and about 2 kB of it are kept', async () => {
  const checkout = await paidInSilence();
  const rows = await leaves(() => sendAll([about(checkout.reference, { note: 'x'.repeat(100_000) })]));
  expect(rows).toMatchObject([{ references: [checkout.reference] }]);
  expect(rows[0]?.bytes).toBeLessThan(ABOUT_2_KB);
  await becomesPaid(checkout);
});

test('of fifty different bodies about one payment within a minute, one row is kept', async () => {
  const checkout = await paidInSilence();
  const bodies = Array.from({ length: 50 }, (_, n) => about(checkout.reference, { n }));
  const rows = await leaves(() => sendAll(bodies));
  expect(rows.length).toBeGreaterThan(0);
  // The minute may change meanwhile.
  expect(rows.length).toBeLessThanOrEqual(2);
  await becomesPaid(checkout);
});

test('bodies about unknown references leave one row a minute', async () => {
  const bodies = Array.from({ length: 50 }, (_, n) => about(`nobody${n}`));
  const rows = await leaves(() => sendAll(bodies));
  expect(rows.length).toBeLessThanOrEqual(2);
  for (const { bytes } of rows) expect(bytes).toBeLessThan(ABOUT_2_KB);
});

test('a body that names a hundred payments makes three of them due', async () => {
  const email = 'many@example.com';
  await shop.database.query(`WITH o AS (
      INSERT INTO orders (id, mode, amount, currency, email)
      SELECT 'many' || n, 'test', 850000, 'NGN', '${email}' FROM generate_series(1, 100) AS n RETURNING id)
    INSERT INTO payments (reference, order_id, mode, amount, currency, status, next_check_at)
    SELECT substr(md5(id) || md5(id), 1, 26), id, 'test', 850000, 'NGN', 'open', now() + interval '1 day' FROM o`);
  const sql = `SELECT reference, notified_at FROM payments JOIN orders ON id = order_id WHERE email = '${email}'`;
  const payments = await shop.database.query<{ reference: string }>(sql);
  expect(payments).toHaveLength(100);
  await sendAll([{ events: payments.map(({ reference }) => about(reference)) }]);
  // A notification is cleared when it was followed. Then verify was asked.
  const asked = `SELECT count(*)::int AS count FROM payments JOIN orders ON id = order_id
    WHERE email = '${email}' AND (notified_at IS NOT NULL OR answered_at IS NOT NULL OR next_check_at < now() + interval '1 hour')`;
  const [row] = await shop.database.query<{ count: number }>(asked);
  expect(row?.count).toBeGreaterThan(0);
  expect(row?.count).toBeLessThanOrEqual(3);
});

test('more than twenty a second from one address get 429, and others can pay meanwhile', async () => {
  const [address, before] = [stranger(), await paidInSilence()];
  const flood = Promise.all(Array.from({ length: 200 }, (_, n) => send(about(`flood${n}`), address)));
  const checkout = await shop.checkout();
  await payInSilence(shop, checkout.reference);
  expect(await send(about(checkout.reference), stranger())).toBe(202);
  const statuses = await flood;
  expect(new Set(statuses)).toEqual(new Set([202, 429]));
  expect(await send(about(before.reference), stranger())).toBe(202);
  for (const one of [checkout, before]) await becomesPaid(one);
});

test('webhook secrets that the adapter does not check end the start with exit code 78', async () => {
  const places = { DATABASE_URL: shop.database.url, GATEWAY_URL: String(shop.sandbox?.url), PORT: '0' };
  const env = { ...places, GATEWAY_SECRET_KEY: TEST_KEY, GATEWAY_ADAPTER, WEBHOOK_SECRETS: WEBHOOK_SECRET };
  const started = startProcess('src/server.ts', env);
  const how = await eventually(() => started.ended() ?? (started.lines().some(({ msg }) => msg === 'ready') && 'up'));
  await started.kill('SIGKILL');
  expect(how).toBe(78);
  expect(started.stderr()).toContain('WEBHOOK_SECRETS');
  expect(started.stderr()).not.toContain(WEBHOOK_SECRET);
});

test('the sixty webhooks cause at most fifteen verifications in twenty seconds', async () => {
  const { reference, until } = flooded;
  await eventually(() => Date.now() > until);
  const calls = await callsOf(shop, 'verify', reference);
  const times = calls.filter(({ at }) => Date.parse(at) < until).length;
  expect(times).toBeGreaterThan(0);
  expect(times).toBeLessThanOrEqual(15);
});
