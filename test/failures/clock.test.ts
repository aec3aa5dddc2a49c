import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { callsOf, expectPaidOnce, sendNotification, useShop } from '../support/failures.ts';
import { payInSilence, settle, unschedule } from '../support/outside.ts';
import type { Checkout } from '../support/shop.ts';

// The database's clock steps back by an hour, so that its earlier timestamps lie in the future.

const { shop, receiver } = useShop();
const HOUR = `interval '1 hour'`;

/**
 * A payment that was verified, notified and leased before the step, and paid since without a
 * webhook.
 */
async function paidAfterStep(): Promise<Checkout> {
  const checkout = await shop.checkout();
  await unschedule(shop, checkout.reference);
  await payInSilence(shop, checkout.reference);
  await shop.database.query(
    `UPDATE payments SET answered_at = now() + ${HOUR}, notified_at = now() + ${HOUR}, leased_until = now() + ${HOUR}
     WHERE reference = $1`,
    [checkout.reference],
  );
  return checkout;
}

test('a webhook makes its payment paid within seconds', async () => {
  const { orderId, reference } = await paidAfterStep();
  await sendNotification(shop, reference);
  await expectPaidOnce(shop, orderId);
});

test('the next checkout of the order verifies the payment again', async () => {
  const { orderId, reference } = await paidAfterStep();
  await shop.request('POST', '/checkout', { json: { orderId } });
  expect((await callsOf(shop, 'verify', reference)).length).toBeGreaterThan(0);
  await expectPaidOnce(shop, orderId);
});

test.each([
  ['that was never sent', `tries = 0, first_try_at = NULL, last_error = NULL, next_try_at = now() + ${HOUR}`],
  ['that was refused and waits for its next try', `next_try_at = now() + interval '1 day'`],
  ['that another process was sending', `next_try_at = now(), leased_until = now() + ${HOUR}`],
])('an order.paid %s is sent within seconds', async (_which, left) => {
  const { orderId, reference } = await shop.checkout();
  receiver.answer(500);
  await settle(shop, reference);
  const step = `UPDATE messages SET ${left} WHERE order_id = $1 AND tries > 0 AND leased_until IS NULL RETURNING 1`;
  await eventually(async () => (await shop.database.query(step, [orderId])).length === 1);
  receiver.answer(204);
  await eventually(async () => {
    const sent = 'SELECT 1 FROM messages WHERE order_id = $1 AND sent_at IS NOT NULL';
    expect(await shop.database.query(sent, [orderId])).toHaveLength(1);
  });
});
