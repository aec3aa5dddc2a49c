import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import {
  befall,
  callsOf,
  expectPaidOnce,
  healService,
  letPass,
  paymentsOf,
  sendNotification,
  tryCheckout,
  useShop,
} from '../support/failures.ts';
import { payInSilence, statusOf } from '../support/outside.ts';
import type { Checkout } from '../support/shop.ts';

// The service refuses, fails and asks for pauses.

const JSON_403 = { status: 403, body: { status: false, message: 'forbidden' } };
const HTML_403 = { status: 403, contentType: 'text/html', body: '<html><h1>403 Forbidden</h1></html>' };
const { shop } = useShop();

const readiness = async () => {
  const { status, body } = await shop.request<{ gateway: string }>('GET', '/readyz');
  return { status, gateway: body.gateway };
};
const READY = { status: 200, gateway: 'ok' };
const keyAlerts = () => shop.logs().filter(({ alert }) => alert === 'key_refused');
const wasAsked = (reference: string) => eventually(async () => (await callsOf(shop, 'verify', reference)).length > 0);

test.each([
  ['a firewall page', HTML_403],
  ['JSON', JSON_403],
])(
  '403 with %s, for one payment or once at initialize, stops nobody else and does not mean a refused key',
  async (_, how) => {
    const [one, other] = [await shop.checkout(), await shop.checkout()];
    await befall(shop, 'verify', 'status', { ...how, reference: one.reference, times: 0 });
    await befall(shop, 'initialize', 'status', how);
    for (const { reference } of [one, other]) {
      await payInSilence(shop, reference);
      await sendNotification(shop, reference);
    }
    await wasAsked(one.reference);
    await expectPaidOnce(shop, other.orderId);
    const email = `${one.reference}@example.com`;
    const key = { 'idempotency-key': String(how.status) };
    const refused = await tryCheckout(shop, email, key);
    expect(refused).toMatchObject({ status: 503, body: { orderId: expect.any(String) } });
    expect(await readiness()).toEqual(READY);
    expect(keyAlerts()).toEqual([]);
    expect(await statusOf(shop, one.orderId)).toBe('pending');
    const opened = await tryCheckout(shop, email, key);
    expect(opened).toMatchObject({ status: 201, body: { orderId: refused?.body.orderId } });
    await healService(shop);
    await sendNotification(shop, one.reference);
    await expectPaidOnce(shop, one.orderId);
  },
);

test('a refused key is one alert and an unready server, marks nothing as failed, and everything recovers', async () => {
  const { orderId, reference } = await shop.checkout();
  await befall(shop, '*', 'status', { status: 401, times: 0 });
  await payInSilence(shop, reference);
  await sendNotification(shop, reference);
  await eventually(async () => (await readiness()).status === 503);
  expect(await readiness()).toEqual({ status: 503, gateway: 'refuses the secret key' });
  const email = 'refused-key@example.com';
  expect(await tryCheckout(shop, email)).toMatchObject({ status: 503 });
  expect(await tryCheckout(shop, email)).toMatchObject({ status: 503 });
  expect(keyAlerts()).toHaveLength(1);
  expect(await statusOf(shop, orderId)).toBe('pending');
  const orders = await paymentsOf(shop, 'email', email);
  for (const { order_id } of orders) expect(await statusOf(shop, order_id)).toBe('pending');
  await healService(shop);
  await letPass(shop.database, 60);
  await expectPaidOnce(shop, orderId);
  expect(await readiness()).toEqual(READY);
  expect(keyAlerts()).toHaveLength(1);
});

test('after a 429 of verify with Retry-After, no payment is verified before the pause is over', async () => {
  const [one, other] = [await shop.checkout(), await shop.checkout()];
  await befall(shop, 'verify', 'status', { status: 429, headers: { 'retry-after': '3' }, reference: one.reference });
  for (const { reference } of [one, other]) await payInSilence(shop, reference);
  await sendNotification(shop, one.reference);
  await wasAsked(one.reference);
  await eventually(async () => {
    // Notifications keep coming. Without the pause, each would be followed at once.
    for (const { reference } of [one, other]) await sendNotification(shop, reference);
    for (const { orderId } of [one, other]) expect(await statusOf(shop, orderId)).toBe('paid');
  });
  const calls = await callsOf(shop, 'verify');
  const limited = calls.findIndex(({ status }) => status === 429);
  const [asked = NaN, next = NaN] = calls.slice(limited, limited + 2).map(({ at }) => Date.parse(at));
  expect(next - asked).toBeGreaterThanOrEqual(2_990);
});

test('Retry-After of initialize counts as a date by the service’s own clock, five minutes behind ours', async () => {
  const theirs = Date.now() - 300_000;
  const headers = { date: new Date(theirs).toUTCString(), 'retry-after': new Date(theirs + 6_000).toUTCString() };
  await befall(shop, 'initialize', 'status', { status: 429, headers });
  const email = 'wait@example.com';
  const limited = await tryCheckout(shop, email);
  expect([limited?.status, limited?.headers.get('retry-after')]).toEqual([503, '6']);
  await eventually(async () => (await tryCheckout(shop, email))?.status === 201);
  const [asked = NaN, next = NaN] = (await callsOf(shop, 'initialize')).slice(-2).map(({ at }) => Date.parse(at));
  expect(next - asked).toBeGreaterThanOrEqual(5_990);
});

test('while initialize fails, it is tried once a second, verify continues, and one success ends the pause', async () => {
  const { orderId, reference } = await shop.checkout();
  await befall(shop, 'initialize', 'status', { status: 500, times: 0 });
  const callsMade = async () => (await callsOf(shop, 'initialize')).length;
  // Until a click is answered without a call.
  await eventually(async () => {
    const before = await callsMade();
    expect((await tryCheckout(shop, 'breaker@example.com'))?.status).toBe(503);
    return (await callsMade()) === before;
  });
  const [before, since] = [await callsMade(), performance.now()];
  await eventually(async () => {
    await tryCheckout(shop, 'breaker@example.com');
    expect(await callsMade()).toBe(before + 3);
  });
  expect(performance.now() - since).toBeGreaterThan(1_900);
  await shop.sandboxPost(`/transactions/${reference}/pay`);
  await expectPaidOnce(shop, orderId);
  await healService(shop);
  await eventually(async () => (await tryCheckout(shop, 'breaker@example.com'))?.status === 201);
  expect((await tryCheckout(shop, 'breaker@example.com'))?.status).toBe(201);
});

test.each([
  ['a script', 'javascript:alert(document.domain)'],
  ['another host with a URL without a scheme', '//evil.example/pay'],
  ['a host behind a user name', 'https://pay.example@evil.example/'],
  ['plain http', 'http://pay.example/abc'],
  ['the metadata service of a cloud', 'https://169.254.169.254/latest/meta-data'],
  ['a private network', 'https://10.0.0.1/'],
  ['a private address inside IPv6', 'https://[::ffff:192.168.0.1]/'],
  ['an address translated by NAT64', 'https://[64:ff9b::a9fe:a9fe]/'],
])('no shopper is sent to %s', async (_, address) => {
  const email = 'address@example.com';
  await befall(shop, 'initialize', 'body', { body: { status: true, data: address }, times: 2 });
  const json = await tryCheckout(shop, email);
  expect(json?.status).toBe(503);
  expect(json?.body).not.toHaveProperty('checkoutUrl');
  const form = { email, sku: 'ankara-tote', quantity: '1' };
  const posted = await shop.request('POST', '/checkout', { form });
  expect([posted.status, posted.headers.get('location')]).toEqual([503, null]);
  const payments = await paymentsOf(shop, 'email', email);
  expect(new Set(payments.map(({ checkout_url }) => checkout_url))).toEqual(new Set([null]));
});

test('a service that writes references in capitals, in verify, webhook and return, is understood', async () => {
  const { orderId, reference } = await shop.checkout();
  const capitals = reference.toUpperCase();
  await shop.sandboxPost(`/transactions/${reference}/record`, { reference: capitals });
  await payInSilence(shop, reference);
  expect((await sendNotification(shop, capitals)).status).toBe(202);
  await expectPaidOnce(shop, orderId);
  const back = await shop.request('GET', `/checkout/return/${capitals}`);
  expect([back.status, back.headers.get('location')]).toEqual([303, expect.stringContaining(orderId)]);
});

test('an expired page is not offered again, and money paid on it still counts', async () => {
  const { orderId, reference } = await shop.checkout();
  const again = async () => (await shop.request<Checkout>('POST', '/checkout', { json: { orderId } })).body.reference;
  await letPass(shop.database, 1_200);
  expect(await again()).toBe(reference);
  await letPass(shop.database, 3_700);
  expect(await again()).not.toBe(reference);
  await shop.sandboxPost(`/transactions/${reference}/pay`);
  await expectPaidOnce(shop, orderId);
});
