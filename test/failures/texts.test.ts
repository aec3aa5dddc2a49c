import { expect, test } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import { befall, callsOf, paymentsOf, tryCheckout, useShop } from '../support/failures.ts';
import { comeBack, statusOf, unschedule } from '../support/outside.ts';

// A text of 60 kB without a space, from outside, delays nobody.

const LONG = 'x'.repeat(60_000);
const GATEWAY_ADAPTER = fileURLToPath(new URL('../support/adapters/shouting.ts', import.meta.url));
const { shop } = useShop({ env: { GATEWAY_ADAPTER } });

/**
 * Checks all the while that the process answers.
 * @returns the answer, and the longest times in milliseconds
 */
async function whileAlive<Answer>(ask: () => Promise<Answer>) {
  const since = performance.now();
  const over = new AbortController();
  const answered = ask().finally(() => {
    over.abort();
  });
  let health = 0;
  do {
    const began = performance.now();
    expect((await shop.request('GET', '/healthz')).status).toBe(200);
    health = Math.max(health, performance.now() - began);
  } while (!over.signal.aborted);
  return { answer: await answered, health, whole: performance.now() - since };
}
function expectQuick({ health, whole }: { health: number; whole: number }): void {
  expect(health).toBeLessThan(2_000);
  expect(whole).toBeLessThan(3_000);
}

test.each<[string, string, object]>([
  ['a refusal of the service', 'refusal', { status: false, message: LONG }],
  ['an error that the adapter throws about the answer', 'throws', { status: true, shout: LONG }],
])('a checkout that fails with %s of 60 kB stops nothing else', async (_what, name, body) => {
  const email = `${name}@example.com`;
  await befall(shop, 'initialize', 'body', { body });
  const asked = await whileAlive(() => tryCheckout(shop, email));
  expect((await callsOf(shop, 'initialize')).length).toBeGreaterThan(0);
  expect(asked.answer?.status).not.toBe(201);
  expect(await paymentsOf(shop, 'email', email)).toMatchObject([{ checkout_url: null }]);
  expectQuick(asked);
});

test('a verification whose answer makes the adapter throw 60 kB stops nothing else', async () => {
  const { orderId, reference } = await shop.checkout();
  await unschedule(shop, reference);
  await befall(shop, 'verify', 'body', { reference, body: { status: true, data: { shout: LONG } } });
  const asked = await whileAlive(() => comeBack(shop, reference));
  expect(asked.answer.status).toBe(303);
  expect(await callsOf(shop, 'verify', reference)).toHaveLength(1);
  expect(await statusOf(shop, orderId)).toBe('pending');
  expectQuick(asked);
});
