import { beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { befall, callsOf, sendNotification, startWorker, useShop } from '../support/failures.ts';
import { comeBack, payInSilence, statusOf, unschedule } from '../support/outside.ts';
import type { Running } from '../support/process.ts';

// A worker is stopped while it waits for an answer of verify. Meanwhile a server without a worker
// verifies the payment and stores a newer answer.

const used = useShop({ worker: false });
const { shop } = used;
let worker: Running;

beforeAll(async () => {
  worker = await startWorker(used, { LOG_LEVEL: 'debug' });
});

/**
 * The worker asks verify, and reads the answer only after `meanwhile` and a return of the shopper.
 */
async function standStill(reference: string, meanwhile: () => Promise<unknown>): Promise<void> {
  await unschedule(shop, reference);
  await befall(shop, 'verify', 'delay', { reference, delayMs: 3_000 });
  await sendNotification(shop, reference);
  await eventually(async () => (await callsOf(shop, 'verify', reference)).length === 1);
  process.kill(worker.pid, 'SIGSTOP');
  try {
    await shop.database.query('UPDATE payments SET leased_until = clock_timestamp() WHERE reference = $1', [reference]);
    await meanwhile();
    await comeBack(shop, reference);
    await eventually(async () => {
      expect(await callsOf(shop, 'verify', reference)).toMatchObject([{ status: 200 }, { status: 200 }]);
    });
  } finally {
    process.kill(worker.pid, 'SIGCONT');
  }
  await eventually(() => worker.lines().some((line) => line.msg === 'payment checked' && line.reference === reference));
}

test.each([
  ['a slow "pending" does not replace a newer "paid"', 'pay', 'paid', 1],
  ['a slow "paid" pays nothing after a newer "reversed"', 'reverse', 'failed', 0],
])('%s', async (_, act, status, proofs) => {
  const { orderId, reference } = await shop.checkout();
  if (act === 'reverse') await payInSilence(shop, reference);
  await standStill(reference, () => shop.sandboxPost(`/transactions/${reference}/${act}`, { notify: false }));
  expect(await statusOf(shop, orderId)).toBe(status);
  const sql = `SELECT (SELECT array_agg(outcome::text) FROM verifications WHERE reference = $1) AS outcomes,
    (SELECT count(*)::int FROM proofs WHERE reference = $1) AS proofs,
    (SELECT count(*)::int FROM cases WHERE reference = $1) AS cases`;
  const outcomes = [act === 'pay' ? 'paid' : 'reversed'];
  expect(await shop.database.query(sql, [reference])).toEqual([{ outcomes, proofs, cases: 0 }]);
});

test('verify is asked again when a newer answer was stored during the call', async () => {
  const { reference } = await shop.checkout();
  await standStill(reference, () => payInSilence(shop, reference));
  await eventually(async () => {
    expect((await callsOf(shop, 'verify', reference)).length).toBe(3);
  }, 5_000);
});
