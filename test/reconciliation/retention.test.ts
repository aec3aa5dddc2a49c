import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { sendNotification } from '../support/failures.ts';
import { expectProblem, settle, statusOf, unschedule } from '../support/outside.ts';
import type { Checkout } from '../support/shop.ts';
import { asShop, look, startDesk, type Desk } from './support.ts';

// Orders that ended without money are deleted after RETAIN_UNPAID_DAYS. Everything with money is
// kept.

type Made = { orderId: string; reference: string };

let desk: Desk;
/** The orders that are deleted and those that are kept, by reason. */
const going: Record<string, Made> = {};
const staying: Record<string, Made> = {};

const DAY_MS = 86_400_000;
function named(all: Record<string, Made>, why: string): Made {
  const made = all[why];
  if (made === undefined) throw new Error(`there is no order ${why}`);
  return made;
}
let last = 0;
const retention = (days: string) => desk.command(['retention'], { RETAIN_UNPAID_DAYS: days });
const sql = (text: string, ...values: unknown[]) => desk.database.query(text, values);

/** A basket with a key, so that each table has rows of it. */
async function open(): Promise<Made> {
  const json = { email: `shopper${(last += 1)}@example.com`, items: [{ sku: 'ankara-tote', quantity: 1 }] };
  const headers = { 'idempotency-key': `key-${last}` };
  const { status, body } = await desk.request<Checkout>('POST', '/checkout', { json, headers });
  expect(status).toBe(201);
  return body;
}
async function place(): Promise<Made> {
  const lines = [{ description: 'A drum', unitAmount: '25.00', quantity: 1 }];
  const { status, body } = await asShop(desk, '/orders', { email: 'ada@example.com', currency: 'NGN', lines });
  expect(status).toBe(201);
  return { orderId: (body as Checkout).orderId, reference: '' };
}
async function cancel(made: Made): Promise<Made> {
  expect((await asShop(desk, `/orders/${made.orderId}/cancel`, { reason: 'a test' })).status).toBe(200);
  return made;
}
const cancelled = async () => cancel(await open());
async function paid(more = {}): Promise<Made> {
  const made = await open();
  await settle(desk, made.reference, more);
  return made;
}
async function expired(): Promise<Made> {
  const made = await open();
  await grow(made, 30);
  await sql('UPDATE payments SET next_check_at = now() WHERE reference = $1', made.reference);
  await eventually(async () => (await statusOf(desk, made.orderId)) === 'expired');
  return made;
}
async function heldAfterItsEnd(): Promise<Made> {
  const made = await cancelled();
  await settle(desk, made.reference);
  return made;
}
const addCase = ({ orderId, reference }: Made, closedAt: Date | null) =>
  sql(
    `INSERT INTO cases (mode, reference, order_id, currency, class, evidence, digest, closed_at, closed_by)
     VALUES ('test', $1, $2, 'NGN', 'unclear', '{}', '', $3, $4)`,
    ...[reference, orderId, closedAt, closedAt && 'ada'],
  );
const addMessage = ({ orderId }: Made, nextTry: Date | null) =>
  sql(
    `INSERT INTO messages (id, mode, type, body, order_id, next_try_at, tries)
     VALUES ($1, 'test', 'order.cancelled', '{}', $2, $3, 3)`,
    ...[`msg_of_${orderId}`, orderId, nextTry],
  );
const setPayment = ({ reference }: Made, to: string) =>
  sql(`UPDATE payments SET ${to} WHERE reference = $1`, reference);
/** An order that ended long ago, and for which nothing is due. */
async function forgotten(): Promise<Made> {
  const made = await cancelled();
  await unschedule(desk, made.reference);
  await setPayment(made, 'next_check_at = NULL, notified_at = NULL, leased_until = NULL');
  await grow(made, 91);
  return made;
}
async function failedAndNotEnded(): Promise<Made> {
  const { orderId } = await place();
  const { reference } = (await desk.request<Checkout>('POST', '/checkout', { json: { orderId } })).body;
  await desk.sandboxPost(`/transactions/${reference}/fail`, { webhook: 'lost' });
  await desk.request('GET', `/checkout/return/${reference}`);
  expect(await statusOf(desk, orderId)).toBe('failed');
  return { orderId, reference };
}

/**
 * Moves all rows of an order this many days into the past, which the triggers would refuse.
 * @param but columns that stay unchanged
 */
async function grow({ orderId, reference }: Made, days: number, but: string[] = []): Promise<void> {
  const moved: [table: string, key: string, value: string, columns: string][] = [
    ['orders', 'id', orderId, 'created_at ended_at pay_by paid_at'],
    ['idempotency_keys', 'order_id', orderId, 'created_at'],
    ['journal', 'order_id', orderId, 'at'],
    ['proofs', 'order_id', orderId, 'at'],
    ['messages', 'order_id', orderId, 'created_at sent_at first_try_at'],
    ['cases', 'order_id', orderId, 'opened_at closed_at'],
    ['payments', 'order_id', orderId, 'created_at opened_at answered_at notified_at'],
    ['verifications', 'reference', reference, 'at asked_at'],
  ];
  const updates = moved.map(([table, key, value, columns]) => {
    const names = columns.split(' ').filter((name) => !but.includes(name));
    const back = names.map((name) => `${name} = ${name} - interval '${days} days'`).join();
    return `UPDATE ${table} SET ${back} WHERE ${key} = '${value}';`;
  });
  await sql(`BEGIN; SET LOCAL session_replication_role = replica; ${updates.join('\n')} COMMIT`);
}

/** The number of rows of an order in each table. */
async function rowsOf({ orderId, reference }: Made): Promise<Record<string, number> | undefined> {
  const count = (table: string, key: string) => `(SELECT count(*)::int FROM ${table} WHERE ${key}) AS ${table}`;
  const ofOrder = ['order_lines', 'payments', 'journal', 'idempotency_keys'].map((one) => count(one, 'order_id = $1'));
  const all = [count('orders', 'id = $1'), ...ofOrder, count('verifications', 'reference = $2')];
  const [row] = await desk.database.query<Record<string, number>>(`SELECT ${all.join()}`, [orderId, reference]);
  return row;
}

beforeAll(async () => {
  // The worker deletes nothing. Only the command does.
  desk = await startDesk({ env: { RETAIN_UNPAID_DAYS: '0' } });
  Object.assign(going, {
    'that expired': await expired(),
    'that was cancelled with a payment': await cancelled(),
    'that was cancelled without a payment': await cancel(await place()),
  });
  Object.assign(staying, {
    'with held money': await heldAfterItsEnd(),
    'with an open case': await cancelled(),
    'with a closed case': await cancelled(),
    'with a message that is not sent yet': await cancelled(),
    'with a message that was given up': await cancelled(),
    'that is paid': await paid(),
    'that is paid in part': await paid({ amount: 8000 }),
    'that waits for its first payment': await place(),
    'that failed and has not ended': await failedAndNotEnded(),
    'whose payment a notification has named': await cancelled(),
    'whose payment is being verified': await cancelled(),
    'whose payment is due later': await cancelled(),
    'whose payment has an unreadable answer': await cancelled(),
  });
  const made = [...Object.values(going), ...Object.values(staying)];
  for (const one of made) await grow(one, 91);
  // Each payment is verified for the last time, as it would have been in those days. Then the same
  // number of days passes again.
  await sql('UPDATE payments SET next_check_at = now()');
  await eventually(async () => {
    const waiting = `SELECT 1 FROM payments WHERE leased_until > now() OR (status <> 'paid' AND next_check_at IS NOT NULL)`;
    expect(await sql(waiting)).toEqual([]);
  });
  for (const one of made) await grow(one, 91);
  await addCase(named(staying, 'with an open case'), null);
  await addCase(named(staying, 'with a closed case'), new Date());
  await addMessage(named(staying, 'with a message that is not sent yet'), new Date(Date.now() + 10 * DAY_MS));
  await addMessage(named(staying, 'with a message that was given up'), null);
  await setPayment(named(staying, 'whose payment a notification has named'), `notified_at = now()`);
  await setPayment(named(staying, 'whose payment is being verified'), `leased_until = now() + interval '20 seconds'`);
  await setPayment(named(staying, 'whose payment is due later'), `next_check_at = now() + interval '10 days'`);
  await setPayment(named(staying, 'whose payment has an unreadable answer'), `unreadable_since = now()`);
  staying['that ended a moment ago'] = await cancelled();
  const lately = await cancelled();
  await grow(lately, 400, ['ended_at']);
  staying['that is old and ended a moment ago'] = lately;
});
afterAll(() => desk.stop());

/** The rows of each order when the tests began. */
let before: Record<string, Record<string, number>>;
test('with RETAIN_UNPAID_DAYS=0 everything is kept', async () => {
  const all = Object.entries({ ...going, ...staying });
  const seen = all.map(async ([why, made]) => [why, (await rowsOf(made)) ?? {}] as const);
  before = Object.fromEntries(await Promise.all(seen));
  // Each table has rows to delete.
  expect(Object.values(before['that was cancelled with a payment'] ?? {})).not.toContain(0);
  expect(await retention('0')).toMatchObject({ exit: 0 });
  for (const [why, made] of all) await expectAllOf(why, made);
});

/** The schedule may have verified again since the tests began, and so added rows. */
async function expectAllOf(why: string, made: Made): Promise<void> {
  const fewer = Object.entries((await rowsOf(made)) ?? {}).filter(
    ([table, rows]) => rows < (before[why]?.[table] ?? 0),
  );
  expect([why, fewer]).toEqual([why, []]);
}

test('orders are kept before their time is over', async () => {
  expect(await retention('183')).toMatchObject({ exit: 0 });
  for (const why of ['that was cancelled with a payment', 'that was cancelled without a payment'])
    await expectAllOf(why, named(going, why));
});

test('orders that ended without money are deleted after their time, with all their rows', async () => {
  expect(await retention('90')).toMatchObject({ exit: 0 });
  for (const [why, made] of Object.entries(going)) {
    const none = { orders: 0, order_lines: 0, payments: 0, journal: 0, idempotency_keys: 0, verifications: 0 };
    expect([why, await rowsOf(made)]).toEqual([why, none]);
    expectProblem(await desk.request('GET', `/orders/${made.orderId}`), 404, 'not-found');
  }
  // A second run has nothing left to do.
  expect(await retention('90')).toMatchObject({ exit: 0 });
});

test.each([
  'with held money',
  'with an open case',
  'with a closed case',
  'with a message that is not sent yet',
  'with a message that was given up',
  'that is paid',
  'that is paid in part',
  'that waits for its first payment',
  'that failed and has not ended',
  'whose payment a notification has named',
  'whose payment is being verified',
  'whose payment is due later',
  'whose payment has an unreadable answer',
  'that ended a moment ago',
  'that is old and ended a moment ago',
])('an order %s is kept with all its rows', async (why) => {
  await expectAllOf(why, named(staying, why));
});

test.each(['that is paid', 'that is paid in part', 'with held money'])(
  'a plain DELETE cannot remove the ledger of an order %s',
  async (why) => {
    const { reference } = named(staying, why);
    const ledger = 'SELECT 1 FROM ledgers WHERE reference = $1 AND verify_received > 0';
    const before = await sql(ledger, reference);
    expect(before).toHaveLength(1);
    await expect(sql('DELETE FROM ledgers WHERE reference = $1', reference)).rejects.toMatchObject({ code: '23001' });
    expect(await sql(ledger, reference)).toEqual(before);
  },
);

test('a plain DELETE cannot remove an answer or a journal entry of a paid order', async () => {
  const { orderId, reference } = named(staying, 'that is paid');
  const refused = { code: '23001' };
  await expect(sql('DELETE FROM verifications WHERE reference = $1', reference)).rejects.toMatchObject(refused);
  await expect(sql('DELETE FROM journal WHERE order_id = $1', orderId)).rejects.toMatchObject(refused);
});

test('an order that a shop’s own table refers to is kept, and does not stop other deletions', async () => {
  const [first, referredTo, last] = [await forgotten(), await forgotten(), await forgotten()];
  await sql('CREATE TABLE gifts (order_id text REFERENCES orders (id))');
  await sql('INSERT INTO gifts VALUES ($1)', referredTo.orderId);
  const whole = await rowsOf(referredTo);
  expect(await retention('90')).toMatchObject({ exit: 0 });
  expect(await rowsOf(referredTo)).toEqual(whole);
  for (const made of [first, last]) expect(await rowsOf(made)).toMatchObject({ orders: 0, payments: 0, journal: 0 });
  await sql('DROP TABLE gifts');
  expect(await retention('90')).toMatchObject({ exit: 0 });
  expect(await rowsOf(referredTo)).toMatchObject({ orders: 0 });
});

test('samples of unsigned and refused webhooks are deleted after thirty days, and signed ones are kept', async () => {
  await sql(`INSERT INTO webhooks (mode, digest, body, payment_references, signature, reason, received_at, last_at)
    SELECT 'test', sha256((signature || days)::bytea), '{}', '{}', signature,
      CASE WHEN signature = 'refused' THEN 'bad-signature' END, now() - interval '60 days', now() - make_interval(days => days)
    FROM unnest(ARRAY['unsigned', 'refused', 'signed']) AS signature, unnest(ARRAY[29, 31]) AS days`);
  expect(await retention('0')).toMatchObject({ exit: 0 });
  const left = `SELECT signature, (now()::date - last_at::date) AS days FROM webhooks
    WHERE last_at < now() - interval '20 days' ORDER BY signature, days`;
  expect(await sql(left)).toEqual([
    { signature: 'refused', days: 29 },
    { signature: 'signed', days: 29 },
    { signature: 'signed', days: 31 },
    { signature: 'unsigned', days: 29 },
  ]);
});

test('a webhook about a deleted payment is accepted and changes nothing', async () => {
  const { reference } = named(going, 'that was cancelled with a payment');
  expect(await rowsOf(named(going, 'that was cancelled with a payment'))).toMatchObject({ payments: 0 });
  expect(await sendNotification(desk, reference)).toMatchObject({ status: 202 });
  expect(await sql('SELECT 1 FROM payments WHERE reference = $1', reference)).toEqual([]);
  expectProblem(await desk.request('GET', `/checkout/return/${reference}`), 404, 'not-found');
});

test('money that the history shows for a deleted payment is a case', async () => {
  const { reference } = named(going, 'that was cancelled with a payment');
  expect(await rowsOf(named(going, 'that was cancelled with a payment'))).toMatchObject({ payments: 0 });
  await desk.sandboxPost(`/transactions/${reference}/pay`, { webhook: 'lost' });
  const { report } = await desk.reconcile();
  expect(report.complete).toBe(true);
  expect(await look(desk, reference)).toMatchObject({ order: null, cases: ['unknown_reference 850000 0 NGN'] });
});
