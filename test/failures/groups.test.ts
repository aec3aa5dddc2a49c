import { expect, test } from '@jest/globals';
import {
  callsOf,
  expectPaidOnce,
  hold,
  release,
  sendNotification,
  tryCheckout,
  useShop,
  waitsForLock,
} from '../support/failures.ts';
import { eventually } from '../support/eventually.ts';
import { payInSilence, statusOf } from '../support/outside.ts';
import type { Checkout } from '../support/shop.ts';

// Orders that change at the same moment are written together. A failure of one must not affect the
// others.

const { shop } = useShop({ env: { CHECKOUTS_PER_MINUTE: '600' } });

/** Checkouts that begin at the same moment and are paid without a webhook. */
async function payMany(count: number, name: string): Promise<Checkout[]> {
  const opening = Array.from({ length: count }, (_, index) => shop.checkout({ email: `${name}${index}@example.com` }));
  const opened = await Promise.all(opening);
  await Promise.all(opened.map(({ reference }) => payInSilence(shop, reference)));
  return opened;
}

const tellAll = (orders: readonly Checkout[]) =>
  Promise.all(orders.map((one) => sendNotification(shop, one.reference)));

/**
 * The rows of one order by kind: answers that report it as paid, entries that mark it paid, and
 * messages.
 */
const rowsOf = (reference: string) =>
  shop.database.query(
    `SELECT (SELECT count(*)::int FROM verifications WHERE reference = $1 AND outcome = 'paid') AS answers,
            (SELECT count(*)::int FROM journal WHERE reference = $1 AND what = 'marked paid') AS paid,
            (SELECT count(*)::int FROM messages m JOIN payments p USING (order_id)
              WHERE reference = $1 AND type = 'order.paid') AS messages`,
    [reference],
  );

test('a locked order does not keep the 23 other orders of its group from being paid', async () => {
  const [locked, ...others] = await payMany(24, 'neighbour');
  const orderId = locked?.orderId ?? '';
  await hold(shop.database, `SELECT FROM orders WHERE id = '${orderId}' FOR UPDATE`);
  await tellAll([...(locked ? [locked] : []), ...others]);
  for (const one of others) await expectPaidOnce(shop, one.orderId);
  expect(await statusOf(shop, orderId)).toBe('pending');
  await release();
  await expectPaidOnce(shop, orderId);
});

test('an order that the database refuses to write fails alone, and is paid once the database accepts it', async () => {
  const orders = await payMany(12, 'poison');
  const [first, poisoned, ...more] = orders;
  const others = [...(first ? [first] : []), ...more];
  const reference = poisoned?.reference ?? '';
  await shop.database.query(`ALTER TABLE proofs ADD CONSTRAINT poison CHECK (reference <> '${reference}') NOT VALID`);
  // While the first write waits here, the others gather.
  await hold(shop.database, 'LOCK TABLE proofs IN SHARE MODE');
  await sendNotification(shop, first?.reference ?? '');
  await waitsForLock(shop.database, /^\s*WITH o AS/);
  await tellAll(orders.slice(1));
  for (const { reference } of orders)
    await eventually(async () => (await callsOf(shop, 'verify', reference)).length > 0);
  await release();
  for (const one of others) await expectPaidOnce(shop, one.orderId);
  expect(await rowsOf(reference)).toEqual([{ answers: 0, paid: 0, messages: 0 }]);
  const refused = shop.logs().filter(({ msg }) => msg === 'an answer could not be written');
  expect(new Set(refused.map((line) => line.reference))).toEqual(new Set([reference]));
  await shop.database.query('ALTER TABLE proofs DROP CONSTRAINT poison');
  await expectPaidOnce(shop, poisoned?.orderId ?? '');
  for (const one of orders) expect(await rowsOf(one.reference)).toEqual([{ answers: 1, paid: 1, messages: 1 }]);
});

test('twenty checkouts at one moment, two of them with the same key, make nineteen orders', async () => {
  const keys = ['same-key', 'same-key', ...Array.from({ length: 18 }, (_, index) => `key-${index}`)];
  const opening = keys.map((key) =>
    tryCheckout(shop, key === 'same-key' ? 'same@example.com' : `${key}@example.com`, { 'idempotency-key': key }),
  );
  const replies = await Promise.all(opening);
  expect(replies.map((reply) => reply?.status)).toEqual(Array(20).fill(201));
  const orderIds = replies.map((reply) => reply?.body.orderId ?? '');
  expect(new Set(orderIds).size).toBe(19);
  expect(orderIds[0]).toBe(orderIds[1]);
  const stored = await shop.database.query(
    `SELECT o.id, count(DISTINCT l.position)::int AS lines, count(DISTINCT p.reference)::int AS payments,
            count(DISTINCT j.id) FILTER (WHERE what = 'order placed')::int AS placed
     FROM orders o JOIN order_lines l ON l.order_id = o.id JOIN payments p ON p.order_id = o.id
       JOIN journal j ON j.order_id = o.id WHERE o.id = ANY($1) GROUP BY 1`,
    [orderIds],
  );
  expect(stored).toHaveLength(19);
  for (const { lines, payments, placed } of stored as Record<string, number>[])
    expect([lines, payments, placed]).toEqual([1, 1, 1]);
});
