import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { asShop, startDesk, type Desk } from './reconciliation/support.ts';
import { databaseOfRoles, type RolesDatabase } from './support/database.ts';
import { eventually } from './support/eventually.ts';
import { settle, statusOf } from './support/outside.ts';
import { startProcess } from './support/process.ts';
import { TEST_KEY, type Checkout } from './support/shop.ts';

// The program runs as a role that owns nothing. Another role owns the database, which is empty
// before the first start.

let roles: RolesDatabase;
let desk: Desk;
let program: pg.Pool;
/** A paid order with a refund, and an order that waits for its payment. */
let paid: Checkout;
let waiting: Checkout;
beforeAll(async () => {
  roles = await databaseOfRoles();
  const { database, ownerUrl, programUrl } = roles;
  desk = await startDesk({ database, env: { DATABASE_URL: programUrl, DATABASE_DIRECT_URL: ownerUrl } });
  program = new pg.Pool({ connectionString: programUrl, max: 1 });
  [paid, waiting] = [await desk.checkout(), await desk.checkout()];
  await settle(desk, paid.reference);
});
afterAll(async () => {
  await program.end();
  await desk.stop();
});

/** A command of the program’s role, without the owner's URL. */
const runAlone = (words: string[], env: Record<string, string> = {}) =>
  desk.command(words, { DATABASE_URL: roles.programUrl, USER: 'ada', ...env });

test('the first start migrates as the owner, and the program’s role owns nothing', async () => {
  const owners = await desk.database.query(
    `SELECT DISTINCT relowner::regrole::text AS owner FROM pg_class WHERE relnamespace = 'public'::regnamespace`,
  );
  expect(owners).toEqual([{ owner: new URL(roles.ownerUrl).username }]);
});

test('a purchase becomes paid, and its refund is recorded', async () => {
  expect(await statusOf(desk, paid.orderId)).toBe('paid');
  const refund = { amount: '500.00', reason: 'a test' };
  expect((await asShop(desk, `/orders/${paid.orderId}/refunds`, refund)).status).toBe(201);
});

test('a whole reconciliation agrees, also without the owner’s URL', async () => {
  expect(await desk.reconcile()).toMatchObject({ exit: 0, report: { verdict: 'agreed' } });
  expect(await runAlone(['reconcile'])).toMatchObject({ exit: 0, out: expect.stringMatching(/^AGREED/) });
  const { out } = await runAlone(['doctor']);
  expect(out).toContain('Tables owned by its role: 0.');
});

test('a reconciliation without the owner’s URL still analyzes its rows, which only the owner may do', async () => {
  const count = async () => {
    const sql = `SELECT analyze_count::int AS count FROM pg_stat_user_tables WHERE relname = 'history_rows'`;
    return Number((await desk.database.query(sql))[0]?.count);
  };
  const before = await count();
  expect(await runAlone(['reconcile'])).toMatchObject({ exit: 0 });
  await eventually(async () => (await count()) > before);
});

test('retention deletes an unpaid order, empties old answers, and keeps the paid order', async () => {
  const { orderId, reference } = await desk.checkout();
  expect((await asShop(desk, `/orders/${orderId}/cancel`, { reason: 'a test' })).status).toBe(200);
  await desk.database.query(`SET session_replication_role = replica;
    UPDATE payments SET next_check_at = NULL, notified_at = NULL, leased_until = NULL WHERE reference = '${reference}';
    UPDATE orders SET ended_at = now() - interval '91 days' WHERE id = '${orderId}';
    UPDATE verifications SET at = now() - interval '31 days';
    SET session_replication_role = origin`);
  const { out } = await runAlone(['retention'], { RETAIN_BODIES_DAYS: '30', RETAIN_UNPAID_DAYS: '90' });
  expect(out).toMatch(/[1-9]\d* answers and [^]*\b1 orders deleted/);
  expect(await desk.database.query('SELECT id FROM orders ORDER BY created_at')).toEqual([
    { id: paid.orderId },
    { id: waiting.orderId },
  ]);
});

const NOT_ALLOWED = '42501';
const WRITTEN_ONCE = '23001';
test.each([
  [NOT_ALLOWED, `UPDATE journal SET "by" = 'nobody'`],
  [NOT_ALLOWED, 'UPDATE verifications SET balance = 1'],
  [NOT_ALLOWED, 'UPDATE proofs SET amount = 1'],
  [NOT_ALLOWED, 'DELETE FROM proofs'],
  [NOT_ALLOWED, 'UPDATE proof_payments SET amount = 1'],
  [NOT_ALLOWED, 'DELETE FROM proof_payments'],
  [NOT_ALLOWED, 'UPDATE refunds SET amount = 1'],
  [NOT_ALLOWED, 'DELETE FROM refunds'],
  [NOT_ALLOWED, 'UPDATE orders SET amount = 1'],
  [NOT_ALLOWED, 'DELETE FROM cases'],
  [NOT_ALLOWED, 'TRUNCATE journal'],
  [NOT_ALLOWED, 'DROP TABLE journal'],
  [NOT_ALLOWED, 'ALTER TABLE journal ADD COLUMN more text'],
  [NOT_ALLOWED, 'ALTER TABLE journal DISABLE TRIGGER journal_is_written_once'],
  [NOT_ALLOWED, 'DROP TRIGGER proofs_add_up ON proof_payments'],
  [NOT_ALLOWED, 'SET session_replication_role = replica'],
  [NOT_ALLOWED, `SELECT setval('refunds_id_seq', 1)`],
  [NOT_ALLOWED, 'UPDATE _prisma_migrations SET rolled_back_at = now()'],
  // Retention may change rows without money. Triggers refuse the same change for rows with money.
  [WRITTEN_ONCE, 'DELETE FROM journal'],
  [WRITTEN_ONCE, 'DELETE FROM verifications'],
  [WRITTEN_ONCE, `UPDATE verifications SET body = 'another'`],
  [WRITTEN_ONCE, 'DELETE FROM ledgers'],
  // Keys and CHECKs apply to this role as they do to the owner.
  ['refunds_of_order', `INSERT INTO refunds (order_id, amount, reason, by) VALUES ('none', 1, 'a test', 'ada')`],
  [
    'proofs_are_exact_or_accepted',
    `INSERT INTO proofs (order_id, mode, reference, price, currency, amount)
     SELECT order_id, mode, reference, amount, currency, 1 FROM payments`,
  ],
  ['orders_paid_name_their_payment', `UPDATE orders SET status = 'paid' WHERE paid_reference IS NULL`],
])('the program’s role is refused (%s): %s', async (refusedBy, sql) => {
  const refused = await program.query(sql).catch((error: unknown) => error);
  const { constraint, code } = refused as pg.DatabaseError;
  expect(constraint ?? code).toBe(refusedBy);
});

test('a role that may not migrate or lacks rights ends the start with advice, and no database URL is printed', async () => {
  const empty = await databaseOfRoles();
  try {
    const env = { GATEWAY_URL: desk.sandbox?.url ?? '', GATEWAY_SECRET_KEY: TEST_KEY, PORT: '0' };
    const started = startProcess('src/server.ts', { ...env, DATABASE_URL: empty.programUrl });
    expect(await started.end()).toBe(1);
    expect(started.stderr()).toMatch(
      /may not migrate .* DATABASE_DIRECT_URL to the address of the owner of the tables/,
    );
    expect(started.stderr()).not.toMatch(/postgres:|opens_a_test/);

    await desk.database.query(`REVOKE UPDATE (status) ON orders FROM ${new URL(roles.programUrl).username}`);
    const direct = `${roles.programUrl}?application_name=direct`;
    const lacking = await runAlone(['orders', 'list', 'today'], { DATABASE_DIRECT_URL: direct });
    expect(lacking).toMatchObject({ exit: 1, err: expect.stringMatching(/lacks rights .* DATABASE_DIRECT_URL/) });
    const granted = await runAlone(['migrate'], { DATABASE_DIRECT_URL: roles.ownerUrl });
    expect(granted).toMatchObject({ exit: 0 });
    expect(await runAlone(['orders', 'list', 'today'], { DATABASE_DIRECT_URL: direct })).toMatchObject({ exit: 0 });
  } finally {
    await empty.database.drop();
  }
});
