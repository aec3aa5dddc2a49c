import { afterEach, expect, test } from '@jest/globals';
import type { AlertHook } from '../../src/cases/alert.ts';
import { DEFAULTS, type Extensions } from '../../src/extensions.ts';
import { ReleaseRefused } from '../../src/fulfilment/release.ts';
import { aBasket, eventually, post, startProgram, type TestProgram } from '../support/program.ts';

// Whatever a person should be woken for reaches the one hook, once when it begins, with the time at which it was raised.

type Told = Parameters<AlertHook>[0];
let alerts: Told[] = [];
let shop: TestProgram;
afterEach(async () => {
  await shop.close();
  alerts = [];
});

async function start(extensions: Partial<Extensions>, env: Record<string, string> = {}): Promise<void> {
  const onAlert: AlertHook = (alert) => void alerts.push(alert);
  shop = await startProgram({ env, extensions: { ...DEFAULTS, onAlert, ...extensions } });
}

const buy = (): Promise<Response> => post(`${shop.origin}/checkout`, aBasket);

async function buyAndPay(amount?: string): Promise<string> {
  const { reference } = await shop.checkout();
  await shop.hand(`transactions/${reference}/pay`, { notify: false, ...(amount && { amount }) });
  await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
  return reference;
}

const arrived = (count: number): Promise<unknown> =>
  eventually(() => Promise.resolve(alerts.length >= count));

test('a release that is given up, with its time', async () => {
  const receiver = (): Promise<void> =>
    Promise.reject(new ReleaseRefused('no such customer', { isGone: true }));
  await start({ receiver });
  const before = Date.now();
  const reference = await buyAndPay();
  await shop.program.dueReleases.runOnce();
  await arrived(1);
  expect(alerts).toMatchObject([
    { event: 'release-given-up', mode: 'test', reference, reason: 'no such customer', attempts: 1 },
  ]);
  const at = alerts[0]?.at ?? '';
  expect(new Date(at).toISOString()).toBe(at);
  expect(Date.parse(at)).toBeGreaterThanOrEqual(before);
});

test('a key that the service refuses: told when it begins, and when it begins again', async () => {
  await start({});
  for (const refuse of [true, false, true]) {
    await shop.hand('keys/refuse', { refuse });
    await buy();
    await buy();
  }
  expect(alerts.map(({ event, mode }) => [event, mode])).toEqual([
    ['key-refused', 'test'],
    ['key-refused', 'test'],
  ]);
});

test('a checkout address on a host that is not allowed: told once, however many shoppers are turned away', async () => {
  await start({}, { CHECKOUT_HOSTS: 'pay.example.com' });
  await buy();
  await buy();
  expect(alerts).toMatchObject([
    { event: 'checkout-address-refused', reason: expect.stringContaining('CHECKOUT_HOSTS') },
  ]);
});

test('a currency that is stopped, by the payment that stopped it', async () => {
  await start({});
  await buyAndPay('850000.00');
  const reference = await buyAndPay('850000.00');
  await arrived(3);
  expect(alerts.map(({ event }) => event)).toEqual(['unit-error', 'unit-error', 'currency-stopped']);
  expect(alerts[2]).toMatchObject({ reference, currency: 'NGN' });
});

test('a worker that is missing: told when it begins', async () => {
  await start({}, { WORKER: 'off' });
  const { database, workerWatch } = shop.program;
  await database.query(
    `INSERT INTO worker_heartbeats (mode, beaten_at) VALUES ('test', now() - interval '2 minutes')`,
  );
  await workerWatch.look();
  await workerWatch.look();
  expect(alerts.map(({ event }) => event)).toEqual(['worker-missing']);
});
