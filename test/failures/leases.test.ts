import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { befall, callsOf, sendNotification, useShop } from '../support/failures.ts';
import { comeBack, payInSilence, statusOf, unschedule } from '../support/outside.ts';

// Two verifications of one payment run at once, because the database's clock was set back by an
// hour between them. The answer to the newer call counts, whichever arrives last.

const { shop } = useShop();

/** Longer than the second call takes, and shorter than the first call waits. */
const SLOW_MS = 6_000;
const HOUR = `interval '1 hour'`;
const change = (reference: string, to: string) =>
  shop.database.query(`UPDATE payments SET ${to} WHERE reference = $1`, [reference]);

test.each([
  ['FAILED', 'fail'],
  ['REVERSED', 'reverse'],
])('a slow SUCCESS of an older call pays nothing after a newer call returned %s', async (word, act) => {
  const { orderId, reference } = await shop.checkout();
  await unschedule(shop, reference);
  await payInSilence(shop, reference);
  const data = { id: 'A-1', reference, status: 'SUCCESS', amount: 8500, currency: 'NGN' };
  await befall(shop, 'verify', 'body', { reference, body: { status: true, data }, delayMs: SLOW_MS });
  const asked = (await callsOf(shop, 'verify', reference)).length;
  await sendNotification(shop, reference);
  await eventually(async () => (await callsOf(shop, 'verify', reference)).length > asked);
  await change(reference, `leased_until = leased_until + ${HOUR}`);

  await shop.sandboxPost(`/transactions/${reference}/${act}`, { webhook: 'lost' });
  await comeBack(shop, reference);
  const answers = `SELECT word FROM verifications WHERE reference = $1 ORDER BY id DESC LIMIT 1`;
  expect(await shop.database.query(answers, [reference])).toEqual([{ word }]);
  // By the clock that was set back, the second call is an hour older than the first. No third call
  // is due.
  await change(reference, `answered_at = answered_at - ${HOUR}, next_check_at = now() + interval '1 day'`);
  const slow = async () => (await callsOf(shop, 'verify', reference))[asked]?.status ?? null;
  expect(await slow()).toBeNull();
  const before = (await callsOf(shop, 'verify', reference)).length;

  expect(await eventually(slow)).toBe(200);
  // The answer is not stored, and verify is asked again.
  await eventually(async () => (await callsOf(shop, 'verify', reference)).length > before);
  await eventually(async () => {
    const settled = 'SELECT 1 FROM payments WHERE reference = $1 AND leased_until IS NULL AND answered_at > now() - ';
    expect(await shop.database.query(`${settled} ${HOUR}`, [reference])).toHaveLength(1);
  });
  const written = `SELECT 1 FROM verifications WHERE reference = $1 AND word = 'SUCCESS'`;
  expect(await shop.database.query(written, [reference])).toEqual([]);
  expect(await statusOf(shop, orderId)).not.toBe('paid');
  expect(await shop.database.query('SELECT 1 FROM proofs WHERE order_id = $1', [orderId])).toEqual([]);
});
