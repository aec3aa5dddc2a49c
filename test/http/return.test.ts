import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { comeBack, expectProblem, payInSilence, timesAsked } from '../support/outside.ts';
import { startShop, type RequestOptions, type Shop } from '../support/shop.ts';

const STORE = 'https://shop.example/thanks?from=pay';
const OTHER = 'https://other.example/done';

let shop: Shop;
beforeAll(async () => {
  shop = await startShop({ env: { STOREFRONT_RETURN_URL: `${STORE},${OTHER}` }, worker: false });
});
afterAll(async () => {
  await shop.stop();
});

const storeOf = (orderId: string, status: string) => `${STORE}&order=${orderId}&status=${status}`;
async function landing(path: string, method = 'GET', options?: RequestOptions) {
  const { status, headers } = await shop.request(method, `/checkout/return/${path}`, options);
  return [status, headers.get('location')];
}

const form = { form: { status: 'failed', tx_ref: 'x' }, headers: { origin: 'https://pay.example' } };
const inCapitals = (reference: string) => reference.toUpperCase();
test.each<[string, string, RequestOptions, (reference: string) => string]>([
  ['by GET', 'GET', {}, (reference) => reference],
  ['by POST, with a form and the Origin of the service', 'POST', form, (reference) => reference],
  ['in capitals', 'GET', {}, inCapitals],
  ['in capitals, by POST', 'POST', form, inCapitals],
  ['with a slash at the end', 'GET', {}, (reference) => `${reference}/`],
  ['with a query', 'GET', {}, (reference) => `${reference}?reference=other&status=failed`],
])('%s, the shopper lands on the paid order, and verify was asked once', async (_how, method, options, path) => {
  const { orderId, reference } = await shop.checkout();
  await payInSilence(shop, reference);
  for (let time = 0; time < 2; time += 1) {
    expect(await landing(path(reference), method, options)).toEqual([303, storeOf(orderId, 'paid')]);
    expect(await timesAsked(shop, 'verify', reference)).toBe(1);
  }
});

test('no query parameter of the return is believed', async () => {
  const { orderId, reference } = await shop.checkout();
  const path = `${reference}?status=success&paid=true&order=x`;
  expect(await landing(path)).toEqual([303, storeOf(orderId, 'pending')]);
});

test('repeated returns cause few verifications', async () => {
  const { orderId, reference } = await shop.checkout();
  for (let time = 0; time < 6; time += 1) expect(await landing(reference)).toEqual([303, storeOf(orderId, 'pending')]);
  // The first return found that it is pending; three more found nothing new.
  expect(await timesAsked(shop, 'verify', reference)).toBe(4);
});

test('a checkout may choose its landing page from the configured pages only', async () => {
  const { orderId, reference } = await shop.checkout({ returnUrl: OTHER });
  expect(await landing(reference)).toEqual([303, `${OTHER}?order=${orderId}&status=pending`]);
  const basket = { email: 'ada@example.com', items: [{ sku: 'djembe', quantity: 1 }] };
  for (const returnUrl of ['https://evil.example/', `${OTHER}/more`, 'javascript:alert(1)', '//evil.example', '/'])
    expectProblem(await shop.request('POST', '/checkout', { json: { ...basket, returnUrl } }), 422, 'invalid-input');
});

test.each([
  ['an unknown reference', 'x'.repeat(26)],
  ['a long reference', 'x'.repeat(3_000)],
  ['a reference with a path', '..%2f..%2forders'],
  ['a reference with a NUL', 'abc%00'],
  ['a reference with other letters', '%C3%A9'.repeat(10)],
])('%s is not found, and verify is not asked', async (_name, reference) => {
  const before = await timesAsked(shop, 'verify');
  expectProblem(await comeBack(shop, reference), 404, 'not-found');
  expectProblem(await shop.request('POST', `/checkout/return/${reference}`), 404, 'not-found');
  expect(await timesAsked(shop, 'verify')).toBe(before);
});

test('other methods are refused, and a HEAD waits for no verification', async () => {
  const { orderId, reference } = await shop.checkout();
  expectProblem(await shop.request('DELETE', `/checkout/return/${reference}`), 405, 'method-not-allowed');
  expect(await landing(reference, 'HEAD')).toEqual([303, storeOf(orderId, 'pending')]);
  expect(await timesAsked(shop, 'verify', reference)).toBe(0);
});

test('whatever verify does, the shopper waits six seconds at most, and lands on the order in its current state', async () => {
  const [hanging, failing, busy] = [await shop.checkout(), await shop.checkout(), await shop.checkout()];
  await shop.sandboxPost('/faults', { endpoint: 'verify', reference: hanging.reference, kind: 'hang' });
  await shop.sandboxPost('/faults', { endpoint: 'verify', reference: failing.reference, kind: 'status' });
  const lease = `UPDATE payments SET leased_until = now() + interval '1 hour' WHERE reference = $1`;
  await shop.database.query(lease, [busy.reference]);
  const began = performance.now();
  const all = [hanging, failing, busy];
  expect(await Promise.all(all.map(({ reference }) => landing(reference)))).toEqual(
    all.map(({ orderId }) => [303, storeOf(orderId, 'pending')]),
  );
  // A busy machine may be slow. The time limit of verify itself is ten seconds.
  expect(performance.now() - began).toBeLessThan(8_000);
});
