import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Queryable } from '../../src/platform/database/database.ts';
import { aBasket, post, startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';
import { someOf } from '../support/extent.ts';
import { checkInvariants, violationsIn, type Observed } from '../support/invariants.ts';
import { readServiceBooks } from '../support/invariants/observed.ts';
import { PLANTS, type Orders } from '../support/invariants/plants.ts';
import { PLANTS_IN_TRAFFIC } from '../support/invariants/plants-in-traffic.ts';

// A check that never fails proves nothing. Each violation is planted in a transaction without triggers and foreign
// keys, looked at from inside, and rolled back: the next one starts from the same honest day.

let shop: TestProgram;
let orders: Orders;
beforeAll(async () => {
  shop = await startProgram();
  orders = await anHonestDay();
});
afterAll(() => shop.close());

const silently = { notify: false };
/** The honest day makes failed payments due once. */
const PASSES = 1;

async function visit({ reference }: CheckoutAnswer): Promise<void> {
  await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
}

/** What strangers and shoppers do beside buying: repeat a request, read pages, ask for what is not there. */
async function lookAround({ orderId }: CheckoutAnswer): Promise<void> {
  const key = { 'idempotency-key': 'an-honest-day' };
  const other = { ...aBasket, items: [{ sku: 'bissap', quantity: 1 }] };
  for (const basket of [aBasket, aBasket, other]) await post(`${shop.origin}/checkout`, basket, key);
  for (const id of ['x'.repeat(24), 'nobody', orderId])
    for (const route of ['/orders/', '/shop/orders/'])
      await (await fetch(`${shop.origin}${route}${id}`)).text();
  for (const path of ['/shop', '/nothing', '/checkout/return/nobody'])
    await (await fetch(`${shop.origin}${path}`)).text();
}

async function anHonestDay(): Promise<Orders> {
  const [paid, other, held, failed, open, first] = [
    await shop.checkout(),
    await shop.checkout(),
    await shop.checkout(),
    await shop.checkout(),
    await shop.checkout(),
    await shop.checkout(),
  ];
  for (const { reference } of [paid, other]) await shop.hand(`transactions/${reference}/pay`, silently);
  await shop.hand(`transactions/${held.reference}/pay`, { ...silently, amount: '8000.00' });
  for (const { reference } of [failed, first]) await shop.hand(`transactions/${reference}/fail`);
  for (const order of [paid, other, held, failed, open, first]) await visit(order);
  const second = await shop.checkout({ orderId: first.orderId });
  for (const { reference } of [second, first]) await shop.hand(`transactions/${reference}/pay`, silently);
  await visit(second);
  await shop.program.database.query('UPDATE payments SET next_check_at = now() WHERE status = $1', [
    'failed',
  ]);
  await shop.program.duePayments.runOnce();
  await lookAround(paid);
  return { paid, other, held, failed, open, duplicate: first };
}

class RolledBack extends Error {}

async function planted(plant: (db: Queryable, observed: Observed) => Promise<unknown>): Promise<string[]> {
  let lines: string[] = [];
  const service = structuredClone(await readServiceBooks(shop.sandbox.url));
  const work = shop.program.database.transaction(async (database) => {
    await database.query('SET LOCAL session_replication_role = replica');
    const observed: Observed = {
      database,
      service,
      passes: PASSES,
      key: shop.sandbox.testKey,
      traffic: structuredClone(shop.traffic()),
    };
    await plant(database, observed);
    lines = await violationsIn(observed);
    throw new RolledBack();
  });
  await expect(work).rejects.toBeInstanceOf(RolledBack);
  return lines;
}

const namesIn = (lines: readonly string[]): string[] => [
  ...new Set(lines.map((line) => line.slice(0, line.indexOf(':')))),
];

test('an honest day breaks no invariant', async () => {
  const { program, sandbox } = shop;
  expect(
    await checkInvariants({
      database: program.database,
      sandboxUrl: sandbox.url,
      passes: PASSES,
      traffic: shop.traffic(),
      key: shop.sandbox.testKey,
    }),
  ).toEqual([]);
});

test('the recorder saw the honest day', () => {
  const { exchanges, calls, sockets, mayConnectTo } = shop.traffic();
  expect(exchanges.filter(({ endedMs }) => endedMs !== null).length).toBeGreaterThan(20);
  expect(calls.filter(({ endedMs, status }) => endedMs !== null && status !== null).length).toBeGreaterThan(
    10,
  );
  expect(sockets.some(({ to, carriesKey }) => to === mayConnectTo[2] && carriesKey)).toBe(true);
  expect(sockets.some(({ to }) => to === mayConnectTo[3])).toBe(true);
});

test.each([...someOf(PLANTS, 8), ...someOf(PLANTS_IN_TRAFFIC, 4)])(
  '$violation: $breaks',
  async ({ breaks, plant }) => {
    const lines = await planted((db, observed) => plant(db, orders, observed));
    expect(namesIn(lines).sort()).toEqual([...breaks].sort());
  },
);

test('after all that, the honest day is untouched', async () => {
  const { program, sandbox } = shop;
  expect(
    await checkInvariants({
      database: program.database,
      sandboxUrl: sandbox.url,
      passes: PASSES,
      traffic: shop.traffic(),
      key: shop.sandbox.testKey,
    }),
  ).toEqual([]);
});
