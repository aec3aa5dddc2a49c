import { afterEach, expect, test } from '@jest/globals';
import type { AlertHook } from '../../src/alerts/alert.ts';
import { DEFAULTS, type Extensions } from '../../src/extensions.ts';
import { takeUntoldItems } from '../../src/cases/suspend-found-money.sql.ts';
import { beat } from '../../src/platform/heartbeat.sql.ts';
import { resumeAfterUnitError } from '../../src/payments/checkout-stops.sql.ts';
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

/** A worker's look, a minute after what was seen last. */
async function look(): Promise<void> {
  await shop.program.database.query(`UPDATE alert_states SET seen_at = seen_at - interval '1 minute'`);
  await shop.program.sendDueAlerts();
}

/** What has not been noted yet when a worker looks is seen at its next look. */
const lookedUntil = (count: number): Promise<unknown> =>
  eventually(async () => {
    await look();
    return alerts.length >= count;
  });

const arrived = (count: number): Promise<unknown> =>
  eventually(() => Promise.resolve(alerts.length >= count));

test('a release that is given up, with its time', async () => {
  const receiver = (): Promise<void> =>
    Promise.reject(new ReleaseRefused('no such customer', { isGone: true }));
  await start({ receiver });
  const before = Date.now();
  const reference = await buyAndPay();
  await shop.program.dueReleases.runOnce();
  expect(alerts).toEqual([]);
  await look();
  expect(alerts).toMatchObject([
    { event: 'release-given-up', mode: 'test', reference, reason: 'no such customer', attempts: 1 },
  ]);
  const at = alerts[0]?.at ?? '';
  expect(new Date(at).toISOString()).toBe(at);
  expect(Date.parse(at)).toBeGreaterThanOrEqual(before);
});

test('a key that the service refuses: told when it begins, however many calls it refuses', async () => {
  await start({});
  await shop.hand('keys/refuse', { refuse: true });
  for (let calls = 0; calls < 3; calls += 1) await buy();
  await arrived(1);
  expect(alerts.map(({ event, mode, over }) => [event, mode, over])).toEqual([
    ['key-refused', 'test', false],
  ]);
});

test('a receiver that fails by itself is told of at the first failure, and of its end when all was delivered', async () => {
  let fault: Error | null = Object.assign(new Error('EACCES: permission denied, open .data/out'), {
    code: 'EACCES',
  });
  let taken = 0;
  let takenAtEnd = 0;
  const receiver = (): Promise<void> => {
    if (fault !== null) return Promise.reject(fault);
    taken += 1;
    return Promise.resolve();
  };
  const onAlert: AlertHook = (alert) => {
    alerts.push(alert);
    if (alert.over) takenAtEnd = taken;
  };
  await start({ receiver, onAlert });
  const { database, dueReleases } = shop.program;
  for (let orders = 0; orders < 2; orders += 1) {
    await buyAndPay();
    await dueReleases.runOnce();
  }
  await arrived(1);
  fault = null;
  for (const told of [1, 2]) {
    await look();
    await database.query(
      `UPDATE releases SET next_check_at = now() WHERE id IN
         (SELECT id FROM releases WHERE delivery = 'waiting' ORDER BY id LIMIT 1)`,
    );
    await dueReleases.runOnce();
    await lookedUntil(told);
  }
  expect(alerts).toMatchObject([
    { event: 'release-failing', over: false, cause: 'EACCES: permission denied, open .data/out' },
    { event: 'release-failing', over: true, todo: expect.stringContaining('npm run releases') },
  ]);
  expect(takenAtEnd).toBe(2);
});

test('a checkout address on a host that is not allowed: told once, however many shoppers are turned away', async () => {
  await start({}, { CHECKOUT_HOSTS: 'pay.example.com' });
  await buy();
  await buy();
  expect(alerts).toMatchObject([
    { event: 'checkout-address-refused', reason: expect.stringContaining('CHECKOUT_HOSTS') },
  ]);
});

test('a currency that is stopped, by the payment that stopped it, until it is released', async () => {
  await start({});
  await buyAndPay('850000.00');
  const reference = await buyAndPay('850000.00');
  await arrived(3);
  expect(alerts.map(({ event }) => event)).toEqual(['unit-error', 'unit-error', 'currency-stopped']);
  expect(alerts[2]).toMatchObject({ reference, currency: 'NGN' });
  await look();
  expect(alerts).toHaveLength(3);
  await resumeAfterUnitError(shop.program.database, 'test', { currency: 'NGN', by: 'Ngozi', note: 'mended' });
  await lookedUntil(4);
  expect(alerts[3]).toMatchObject({ event: 'currency-stopped', over: true, currency: 'NGN' });
});

test('money in suspense: each item once, a hundred together, and none is lost with the process that put it there', async () => {
  await start({});
  const { database } = shop.program;
  const reference = await buyAndPay('3.00');
  expect(alerts).toEqual([]);
  await look();
  expect(alerts).toMatchObject([
    { event: 'suspense-opened', cause: '1 underpaid', items: { first: [{ class: 'underpaid', reference }] } },
  ]);
  await database.query(
    `INSERT INTO suspense_items (mode, class, reference, amount, currency)
     SELECT 'test', 'unknown_reference', 'many' || i, 1, 'NGN' FROM generate_series(1, 100) i`,
  );
  await look();
  expect(alerts).toHaveLength(1);
  await database.query(`UPDATE alert_states SET news_at = news_at - interval '5 minutes'`);
  await Promise.all([look(), look()]);
  await look();
  expect(alerts.map(({ cause }) => cause)).toEqual(['1 underpaid', '100 unknown_reference']);
  // While one process takes, what comes meanwhile is not another one's alert.
  const come = (name: string) =>
    database.query(
      `INSERT INTO suspense_items (mode, class, reference, amount, currency)
       VALUES ('test', 'unknown_reference', $1, 1, 'NGN')`,
      [name],
    );
  await database.query(`UPDATE alert_states SET news_at = news_at - interval '5 minutes'`);
  await come('first');
  await database.transaction(async (tx) => {
    expect(await takeUntoldItems(tx, 'test', 9)).toMatchObject({ first: [{ reference: 'first' }] });
    await come('second');
    expect(await database.transaction((other) => takeUntoldItems(other, 'test', 9))).toBeNull();
  });
});

test('a unit error and its stop, which a process committed and did not live to tell', async () => {
  await start({});
  await buyAndPay('850000.00');
  await buyAndPay('850000.00');
  await arrived(3);
  await shop.program.database.query('DELETE FROM alert_states');
  await look();
  await look();
  const names = alerts.slice(3).map(({ event }) => event);
  expect(names.sort()).toEqual(['currency-stopped', 'unit-error', 'unit-error']);
});

test('a worker that is missing: told once with the last that was seen, and when one runs again', async () => {
  await start({}, { WORKER: 'off' });
  const { database, workerWatch } = shop.program;
  await database.query(
    `INSERT INTO worker_heartbeats VALUES ('test', now() - interval '2 minutes', 'host-1, process 7')`,
  );
  await workerWatch.look();
  await workerWatch.look();
  await arrived(1);
  await look();
  expect(alerts).toHaveLength(1);
  await beat(database, 'test', 'host-2, process 9');
  await workerWatch.look();
  await lookedUntil(2);
  expect(alerts).toMatchObject([
    { event: 'worker-missing', over: false, cause: expect.stringMatching(/Z \(host-1, process 7\)$/) },
    { event: 'worker-missing', over: true },
  ]);
});

test("a check of the shop's own: told when it holds, and when it holds no longer", async () => {
  let reason: string | null = null;
  const declined = (): Promise<string | null> => Promise.resolve(reason);
  const broken = (): Promise<never> => Promise.reject(new Error('no such table'));
  await start({
    alertChecks: [
      { name: 'broken', everyMinutes: 0, holds: broken },
      { name: 'declined', everyMinutes: 0, holds: declined },
      { name: 'later', everyMinutes: 60, holds: declined },
    ],
  });
  await look();
  expect(alerts).toEqual([]);
  for (const now of ['6 were declined', '7 were declined', null]) {
    reason = now;
    await look();
  }
  expect(alerts).toMatchObject([
    { event: 'own-check', name: 'declined', cause: '6 were declined', over: false },
    { event: 'own-check', name: 'declined', over: true },
  ]);
});
