import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { callsOf, expectPaidOnce, letPass, sendNotification, useShop } from '../support/failures.ts';
import { LEDGERS } from '../support/ledgers.ts';
import { payInSilence, statusOf } from '../support/outside.ts';
import type { Checkout } from '../support/shop.ts';

// Four processes on one database, each with the worker's tasks.

const TOKEN = 'a_token_of_the_shop_itself';
const { shop, receiver } = useShop({ processes: 4, env: { SHOP_API_TOKEN: TOKEN } });

/** Sends requests at once, in turn to each process. @returns the sorted statuses */
async function atOnce(times: number, act: (url: string, index: number) => Promise<{ status: number }>) {
  const deal = Array.from({ length: times }, (_, index) => act(shop.urls[index % shop.urls.length] ?? '', index));
  return (await Promise.all(deal)).map(({ status }) => status).sort();
}

const byShop = (url: string, path: string, json: object) =>
  shop.request('POST', url + path, { json, headers: { authorization: `Bearer ${TOKEN}` } });

const heldOf = (orderId: string) =>
  shop.database.query('SELECT class, held, closed_at FROM cases WHERE order_id = $1', [orderId]);

/** A counter of the ledgers equals the sum of its journal entries. */
async function expectSums(orderId: string, counter: 'captured' | 'received' | 'refunded'): Promise<number> {
  const [sums] = await shop.database.query<{ ledger: number; journal: number }>(
    `SELECT (SELECT sum(${counter})::int FROM ${LEDGERS} JOIN payments USING (reference) WHERE order_id = $1) AS ledger,
            (SELECT coalesce(sum(amount), 0)::int FROM journal WHERE order_id = $1 AND counter = $2) AS journal`,
    [orderId, counter],
  );
  expect(sums?.ledger).toBe(sums?.journal);
  return sums?.ledger ?? 0;
}

test('eighty identical webhooks at four processes are all accepted, with few verifications, one proof and one message', async () => {
  const { orderId, reference } = await shop.checkout({ email: 'flood@example.com' });
  await payInSilence(shop, reference);
  expect(new Set(await atOnce(80, (url) => sendNotification(shop, reference, url)))).toEqual(new Set([202]));
  await expectPaidOnce(shop, orderId);
  const stored = 'SELECT times FROM webhooks WHERE $1 = ANY(payment_references)';
  expect(await shop.database.query(stored, [reference])).toEqual([{ times: 80 }]);
  await eventually(async () => {
    const sql = `SELECT FROM payments WHERE reference = $1 AND leased_until IS NULL
      AND coalesce(next_check_at > now() + interval '2 seconds', true)`;
    expect(await shop.database.query(sql, [reference])).toHaveLength(1);
  });
  // The one that pays, those by notifications that bring nothing new, their follow-ups, and one
  // after a pause if the test takes that long.
  expect((await callsOf(shop, 'verify', reference)).length).toBeLessThanOrEqual(9);
  await eventually(() => receiver.messages.some(({ data }) => data.orderId === orderId));
  expect(receiver.messages.filter(({ data }) => data.orderId === orderId)).toHaveLength(1);
});

test('one order that is refunded, cancelled, returned to and notified about ten times at once keeps correct sums', async () => {
  const { orderId, reference } = await shop.checkout({ email: 'many@example.com' });
  await payInSilence(shop, reference);
  const cancels = atOnce(10, (url) => byShop(url, `/orders/${orderId}/cancel`, { reason: 'changed my mind' }));
  const returns = atOnce(10, (url) => shop.request('GET', `${url}/checkout/return/${reference}`));
  const notifications = atOnce(10, (url, index) => sendNotification(shop, reference, url, `success.${index}`));
  expect(await returns).toEqual(Array(10).fill(303));
  expect(await notifications).toEqual(Array(10).fill(202));
  // Each cancellation verifies first, and verify reports the order as paid.
  expect(await cancels).toEqual(Array(10).fill(409));
  await expectPaidOnce(shop, orderId);

  const refund = (amount: string, externalId?: string) => (url: string) =>
    byShop(url, `/orders/${orderId}/refunds`, { amount, reason: 'torn', externalId });
  const [same, others] = await Promise.all([
    atOnce(10, refund('500.00', 'one-and-the-same')),
    atOnce(10, refund('1000.00')),
    atOnce(10, (url, index) => sendNotification(shop, reference, url, `success.again.${index}`)),
    atOnce(10, (url) => shop.request('POST', `${url}/checkout/return/${reference}`)),
  ]);
  expect(same).toEqual(Array(10).fill(201));
  // 8,500.00 has room for 500.00 and eight of the ten.
  expect(others).toEqual([...Array<number>(8).fill(201), 409, 409]);
  expect(await expectSums(orderId, 'refunded')).toBe(850_000);
  expect(await expectSums(orderId, 'captured')).toBe(850_000);
  expect(await shop.database.query('SELECT FROM refunds WHERE order_id = $1', [orderId])).toHaveLength(9);
});

test('an order that is cancelled and paid at once ends as one of both, and its money is not lost', async () => {
  const { orderId, reference } = await shop.checkout({ email: 'torn@example.com' });
  const answers = await Promise.all([
    atOnce(5, (url) => byShop(url, `/orders/${orderId}/cancel`, { reason: 'changed my mind' })),
    payInSilence(shop, reference).then(() => atOnce(5, (url) => sendNotification(shop, reference, url))),
  ]);
  for (const status of answers.flat()) expect(status).not.toBe(500);
  await sendNotification(shop, reference);
  await eventually(async () => {
    expect(await expectSums(orderId, 'received')).toBe(850_000);
  });
  if ((await statusOf(shop, orderId)) === 'paid') await expectPaidOnce(shop, orderId);
  else expect(await heldOf(orderId)).toEqual([{ class: 'paid_after_end', held: '850000', closed_at: null }]);
});

test('when two payments of one order are both paid, the first proof pays and the other payment is held', async () => {
  const first = await shop.checkout({ email: 'tabs@example.com' });
  await letPass(shop.database, 3_700);
  const again = { json: { orderId: first.orderId } };
  const { body: second } = await shop.request<Checkout>('POST', '/checkout', again);
  expect(second).toMatchObject({ orderId: first.orderId, reference: expect.not.stringContaining(first.reference) });
  await Promise.all([payInSilence(shop, first.reference), payInSilence(shop, second.reference)]);
  await atOnce(8, (url, index) => sendNotification(shop, [first, second][index % 2]?.reference ?? '', url));
  const held = { class: 'duplicate_payment', held: '850000', closed_at: null };
  await eventually(async () => {
    expect(await heldOf(first.orderId)).toEqual([held]);
  });
  await expectPaidOnce(shop, first.orderId);
});
