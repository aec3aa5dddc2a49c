import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openSuspense, resolveSuspense } from '../../src/cases/suspense.sql.ts';
import { AFTER_RESTORE } from '../../src/commands/after-restore.ts';
import { brokenAfterALoss, type Lost } from '../support/after-a-loss.ts';
import { loadPayment } from '../../src/payments/confirm.sql.ts';
import type { Payment } from '../../src/payments/payment.ts';
import type { OrderId, Reference } from '../../src/platform/ids.ts';
import { startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';
import { startReleaseReceiver, type ReleaseReceiver } from '../support/release-receiver.ts';

// The drill for the day on which the database is gone and yesterday's backup is all there is.

const TOKEN = 'a-long-shop-token';
const losses: Lost[] = [];

let receiver: ReleaseReceiver;
let shop: TestProgram;
beforeAll(async () => {
  receiver = await startReleaseReceiver();
  shop = await startProgram({ env: { ...receiver.env, SHOP_API_TOKEN: TOKEN } });
});
afterAll(async () => {
  await shop.close();
  await asAdministrator(`DROP DATABASE IF EXISTS ${backupName()}`);
  await receiver.close();
});

/** An order of the shop's own number, not paid yet. */
async function place(externalId: string): Promise<OrderId> {
  const response = await fetch(`${shop.origin}/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify({
      externalId,
      email: 'ada@example.com',
      currency: 'NGN',
      lines: [{ description: 'Repair of a lamp', unitAmount: '1500.00', quantity: 1 }],
    }),
  });
  return ((await response.json()) as { orderId: OrderId }).orderId;
}

async function pay({ reference }: Pick<CheckoutAnswer, 'reference'>): Promise<void> {
  await shop.hand(`transactions/${reference}/pay`, { notify: false });
  await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
}

const statusOf = async ({ orderId }: Pick<CheckoutAnswer, 'orderId'>): Promise<unknown> => {
  const answer = await fetch(`${shop.origin}/orders/${orderId}`);
  return answer.ok ? ((await answer.json()) as { status: string }).status : answer.status;
};

const deliveriesOf = ({ orderId }: Pick<CheckoutAnswer, 'orderId'>): string[] =>
  receiver.deliveries.filter((each) => each.orderId === orderId).map(({ releaseId }) => releaseId);

test('yesterday’s backup, one reconciliation and the deliveries give back every paid state, and no value twice', async () => {
  expect(await AFTER_RESTORE.notice?.(shop.program, {})).toMatch(/^No money is in suspense[^]*there is none/);
  const paidBefore = await shop.checkout();
  await pay(paidBefore);
  await shop.program.dueReleases.runOnce();
  const paidAfter = [await shop.checkout(), await shop.checkout(), await shop.checkout()];
  const stillOpen = await shop.checkout();

  const from = new Date();
  await copyDatabase(databaseName(), backupName());

  for (const order of paidAfter) await pay(order);
  const bornAfter = await shop.checkout();
  await pay(bornAfter);
  await shop.program.dueReleases.runOnce();
  const told = new Set(receiver.deliveries.map(({ releaseId }) => releaseId));
  expect(told.size).toBe(5);

  losses.push({ from, to: new Date() });
  await copyDatabase(backupName(), databaseName());
  expect(await Promise.all(paidAfter.map(statusOf))).toEqual(['pending', 'pending', 'pending']);

  const report = await shop.program.reconcile({ dryRun: false });
  await shop.program.duePayments.runOnce();
  await shop.program.dueReleases.runOnce();

  expect(await Promise.all([paidBefore, ...paidAfter].map(statusOf))).toEqual([
    'paid',
    'paid',
    'paid',
    'paid',
  ]);
  expect(await statusOf(stillOpen)).toBe('pending');
  expect(report).toMatchObject({ complete: true, repaired: 3, identity: [{ difference: '0.00' }] });
  // The receiver heard of them a second time and under the ids it knew: nothing of it is new.
  for (const order of paidAfter) expect(deliveriesOf(order).length).toBeGreaterThan(1);
  expect(new Set(receiver.deliveries.map(({ releaseId }) => releaseId))).toEqual(told);
  for (const order of paidAfter) expect(new Set(deliveriesOf(order)).size).toBe(1);

  // No sweep can know what the shopper of an order that is in no backup has bought. Its money is named and held.
  expect(await statusOf(bornAfter)).toBe(404);
  expect(report.findings).toEqual({ unknown_reference: 1 });
  expect(await shop.program.database.query('SELECT reference, amount FROM suspense_items')).toMatchObject([
    { reference: bornAfter.reference, amount: 850_000n },
  ]);
});

test('a payment that the backup lacks is adopted: nothing ships twice, and no paid order stays unknown', async () => {
  const { program } = shop;
  const { database } = program;
  const older = await place('A-1');
  const short = await shop.checkout();
  await shop.hand(`transactions/${short.reference}/pay`, { amount: '10.00', notify: false });
  await program.confirm(await paymentOf(short.reference), 'schedule');
  const from = new Date();

  await copyDatabase(databaseName(), backupName());

  const lost = await shop.checkout({ orderId: older });
  await pay(lost);
  const forgotten = await place('A-2');
  const lostWithItsOrder = await shop.checkout({ orderId: forgotten });
  await pay(lostWithItsOrder);
  await program.dueReleases.runOnce();
  await makeDue();
  await program.dueReleases.runOnce();
  const shipped = new Set([older, forgotten].map((orderId) => deliveriesOf({ orderId })[0]));
  await decide(short.reference);

  losses.push({ from, to: new Date() });
  await copyDatabase(backupName(), databaseName());
  const since = from.toISOString();
  // A worker that runs writes its heartbeat, and moves no moment.
  await database.query(`INSERT INTO worker_heartbeats (mode, beaten_at) VALUES ('test', '2199-01-01')
    ON CONFLICT (mode) DO UPDATE SET beaten_at = excluded.beaten_at`);
  expect(await AFTER_RESTORE.notice?.(program, {})).toMatch(
    /^\nThe newest order, webhook or answer here is of 2(?!199)[^]*run npm run reconcile[^]*money first[^]*refunds/,
  );
  const began = new Date();
  await program.reconcile({ dryRun: false });
  const [, run = ''] =
    /reconciliation began (\S+)\.\n/.exec(String(await AFTER_RESTORE.notice?.(program, {}))) ?? [];
  expect(new Date(run).getTime()).toBeGreaterThan(began.getTime() - 1_000);

  // What was decided is open again, and only a person knows.
  const open = await openSuspense(database, 'test', { class: 'underpaid' });
  expect(open.map(({ reference }) => reference)).toEqual([short.reference]);
  const again = await place('A-2');
  const list = await AFTER_RESTORE.list(program, { since });
  const entryOf = ({ reference }: CheckoutAnswer) => list.find(({ cells }) => cells[0] === reference);
  for (const each of [lost, lostWithItsOrder])
    expect(entryOf(each)).toMatchObject({
      cells: [each.reference, 'NGN 1,500.00', expect.stringMatching(/^\d+$/)],
      below: [expect.stringMatching(/^may be of A-\d or A-\d$/)],
    });
  await expect(adopt(`${lost.reference} ${older}\nno-reference A-2\n`)).rejects.toThrow(
    /^line 2 .*never ours/,
  );
  const pairs = `${short.reference} ${older}\n${lost.reference} ${older}\n\n${lostWithItsOrder.reference}, A-2\n`;
  const released = (orderId: OrderId, from = orderId): string =>
    `Order ${orderId} is paid; its release is ${deliveriesOf({ orderId: from })[0] ?? ''}.`;
  expect(await adopt(pairs)).toEqual({
    isDone: false,
    told: [
      expect.stringMatching(/is a payment of order \S+ already\. Nothing was written\.$/),
      released(older),
      released(again, forgotten),
    ],
  });
  await makeDue();
  await program.dueReleases.runOnce();

  expect(await Promise.all([older, again].map((orderId) => statusOf({ orderId })))).toEqual(['paid', 'paid']);
  expect(new Set([older, again].flatMap((orderId) => deliveriesOf({ orderId })))).toEqual(shipped);
  const unknown = await openSuspense(database, 'test', { class: 'unknown_reference' });
  expect(unknown.map(({ reference }) => reference)).not.toContain(lost.reference);
  expect(await program.reconcile({ dryRun: false })).toMatchObject({ complete: true });
  const { deliveries } = receiver;
  expect(await brokenAfterALoss({ database, sandboxUrl: shop.sandbox.url, deliveries, losses })).toEqual([]);
});

/** As a person does it, with a file of lines. @returns what was said of each */
async function adopt(lines: string) {
  const folder = await mkdtemp(join(tmpdir(), 'adoptions-'));
  const id = join(folder, 'adoptions.txt');
  await writeFile(id, lines);
  const request = { id, by: 'Ngozi', note: 'in the mail of the service' };
  const answer = await AFTER_RESTORE.subcommands['adopt-all']?.perform(shop.program, request);
  await rm(folder, { recursive: true });
  return { isDone: answer?.isDone, told: answer?.told.split('\n') };
}

async function decide(reference: string): Promise<void> {
  const { database } = shop.program;
  const item = (await openSuspense(database, 'test')).find((each) => each.reference === reference);
  const refund = { by: 'Ada', note: 'given back', decision: 'refund', refundNote: 'RF-1' } as const;
  expect(await resolveSuspense(database, 'test', item?.id ?? 0n, refund)).toBe(true);
}

async function paymentOf(reference: Reference): Promise<Payment> {
  const payment = await loadPayment(shop.program.database, reference, 'test');
  if (payment === null) throw new Error(`there is no payment ${reference}`);
  return payment;
}

/** The receiver fails some deliveries at first. */
const makeDue = (): Promise<unknown> =>
  shop.program.database.query(`UPDATE releases SET next_check_at = now() WHERE delivery = 'waiting'`);

function databaseName(): string {
  return String(shop.program.database.pool.options.connectionString).split('/').at(-1) ?? '';
}

function backupName(): string {
  return `${databaseName()}_backup`;
}

/** Puts a copy of the one database in the place of the other, as a restore does; the program's connections break. */
async function copyDatabase(from: string, to: string): Promise<void> {
  await asAdministrator(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname IN ('${from}', '${to}')`,
    `DROP DATABASE IF EXISTS ${to} WITH (FORCE)`,
    `CREATE DATABASE ${to} TEMPLATE ${from}`,
  );
}

async function asAdministrator(...statements: string[]): Promise<void> {
  const url = Object.assign(new URL(process.env.TEST_TEMPLATE_URL ?? ''), { pathname: '/postgres' });
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
