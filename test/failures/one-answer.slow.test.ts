import { beforeEach, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import {
  befall,
  callsOf,
  healService,
  paymentsOf,
  sendNotification,
  tryCheckout,
  useShop,
} from '../support/failures.ts';
import { payInSilence, statusOf, unschedule } from '../support/outside.ts';
import type { Checkout } from '../support/shop.ts';

// One bad answer delays one payment only, whatever pause it asks for. A slow service still works.

const { shop } = useShop();
const AN_HOUR = { status: 503, headers: { 'retry-after': '3600' } };
const WITHIN_MS = 40_000;
/** The time to its first byte. */
const SLOW_MS = 9_000;

async function open(): Promise<Checkout> {
  const checkout = await shop.checkout();
  await unschedule(shop, checkout.reference);
  return checkout;
}
const becomesPaid = ({ orderId }: Checkout, withinMs?: number) =>
  eventually(async () => (await statusOf(shop, orderId)) === 'paid', withinMs);
const tried = (n: number) => tryCheckout(shop, `shopper-${n}@example.com`);
/** A restart ends the pauses of earlier tests. */
beforeEach(() => shop.restart());

test('a 503 of verify that asks for an hour delays other payments by less than a minute', async () => {
  const [one, other] = [await open(), await open()];
  for (const { reference } of [one, other]) await payInSilence(shop, reference);
  await befall(shop, 'verify', 'status', { ...AN_HOUR, reference: one.reference });
  await sendNotification(shop, one.reference);
  await eventually(async () => {
    expect(await callsOf(shop, 'verify', one.reference)).toMatchObject([{ status: 503 }]);
  });
  await sendNotification(shop, other.reference);
  await becomesPaid(other, WITHIN_MS);
  await becomesPaid(one, WITHIN_MS);
});

test('a 503 of initialize that asks for an hour delays shoppers by less than a minute', async () => {
  await befall(shop, 'initialize', 'status', AN_HOUR);
  const refused = await tried(0);
  expect(refused?.status).toBe(503);
  // The same shopper clicks again until the checkout opens.
  await eventually(async () => (await tried(0))?.status === 201, WITHIN_MS);
  expect((await tried(1))?.status).toBe(201);
});

test('a service with nine seconds to its first byte opens checkouts, confirms them and is reconciled', async () => {
  const settled = await open();
  await payInSilence(shop, settled.reference);
  await befall(shop, '*', 'delay', { delayMs: SLOW_MS, times: 0 });
  const opening = tried(2);
  await sendNotification(shop, settled.reference);
  expect(await opening).toMatchObject({ status: 201, body: { status: 'pending' } });
  await becomesPaid(settled, WITHIN_MS);
  const [payment] = await paymentsOf(shop, 'email', 'shopper-2@example.com');
  expect(payment).toMatchObject({ status: 'open' });
  // Verify was asked once, because its answer came.
  expect(await callsOf(shop, 'verify', settled.reference)).toMatchObject([{ status: 200 }]);
  const { exit, out, err } = await shop.command(['reconcile', '--json']);
  expect({ exit, err, report: JSON.parse(out) as object }).toMatchObject({
    exit: 0,
    report: { complete: true, verdict: 'agreed' },
  });
  await healService(shop);
});
