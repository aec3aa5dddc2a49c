import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startShop, type Checkout, type Shop } from '../support/shop.ts';
import { act, buy, json } from './support.ts';

let shop: Shop;
let paid: Checkout;
let waiting: Checkout;
beforeAll(async () => {
  shop = await startShop();
  paid = await buy(shop, { email: `o'ada+bags@example.com` });
  waiting = await shop.checkout({ email: 'eve@example.com' });
});
afterAll(() => shop.stop());

/** Changes rows that triggers protect. */
const forge = (sql: string) =>
  shop.database.query(`SET session_replication_role = replica; ${sql}; SET session_replication_role = origin`);
const webhook = (body: string) =>
  shop.database.query(
    `INSERT INTO webhooks (mode, digest, body, payment_references, signature) VALUES ('test', sha256($1), $1, '{}', 'signed')`,
    [Buffer.from(body)],
  );

test('reconcile exits with 0 when all agrees, 1 when something is open, 2 when the history cannot be read', async () => {
  const agreed = await shop.command(['reconcile']);
  expect(agreed).toMatchObject({ exit: 0, out: expect.stringMatching(/^AGREED\. [^]*NGN .* unexplained 0\.00/) });
  const away = await shop.command(['reconcile'], { GATEWAY_URL: 'http://127.0.0.1:9' });
  expect(away).toMatchObject({ exit: 2, out: expect.stringMatching(/^NOT COMPLETED/) });
  await buy(shop, { email: 'bob@example.com' }, { amount: 8000 }, 'review');
  const open = await shop.command(['reconcile', '--json']);
  expect([open.exit, JSON.parse(open.out)]).toMatchObject([1, { verdict: 'findings', findings: { underpaid: 1 } }]);
});

test('books, exports and the proof are written to standard output', async () => {
  const month = new Date().toISOString().slice(0, 7);
  const [books, totals, orders, cases, runs] = [
    await shop.command(['books', month]),
    await json<object[]>(shop, 'books', month, '--totals'),
    await shop.command(['export', 'orders']),
    await shop.command(['export', 'cases']),
    await shop.command(['export', 'runs']),
  ];
  expect(books.out).toMatch(/^date,time,type,[^]*,paid,/);
  expect(totals).toEqual([expect.objectContaining({ currency: 'NGN', earned: '8500.00', held: '8000.00' })]);
  expect(orders.out).toContain(paid.orderId);
  expect(cases.out).toMatch(/^id,[^]*,underpaid,/);
  expect(runs.out).toMatch(/^id,[^]*,findings,/);
  expect(books.out + orders.out + cases.out).not.toContain('ada+bags');
  const proof = await act(shop, 'proof', paid.reference);
  expect(proof).toMatchObject({ exit: 0, out: expect.stringMatching(/^<!doctype html>[^]*ada\+bags@example\.com/) });
});

test('explain exits with 1 when the record was changed', async () => {
  await forge(`UPDATE journal SET "by" = 'nobody' WHERE order_id = '${waiting.orderId}'`);
  expect(await shop.command(['explain', waiting.orderId])).toMatchObject({
    exit: 1,
    out: expect.stringMatching(/was changed/),
  });
});

test('an address is erased in every spelling that a webhook used, and erase reports what is left', async () => {
  const spellings = [
    String.raw`{"email":"O\u0027ADA\u002bbags@example.com"}`,
    'email=o%27ada%2Bbags%40example.com',
    String.raw`payload=%7B%22email%22%3A%22o%5Cu0027ada%5Cu002bbags%40example.com%22%7D`,
  ];
  for (const body of [...spellings, '{"email":"somebody@example.com"}']) await webhook(body);
  const before = await shop.database.query('SELECT 1 FROM webhooks WHERE body IS NULL');
  expect(before).toEqual([]);
  expect(await act(shop, 'erase', `O'Ada+Bags@example.com`)).toMatchObject({ exit: 0 });
  const kept = await shop.database.query(
    `SELECT convert_from(body, 'UTF8') AS body FROM webhooks WHERE body IS NOT NULL`,
  );
  expect(JSON.stringify(kept)).toContain('somebody@example.com');
  expect(JSON.stringify(kept)).not.toMatch(/bags/i);
  const [left] = await shop.database.query(
    `SELECT email, (SELECT count(body)::int FROM verifications WHERE reference = $2) AS bodies FROM orders WHERE id = $1`,
    [paid.orderId, paid.reference],
  );
  expect(left).toEqual({ email: 'erased@example.invalid', bodies: 0 });
  // An open order keeps its customer's address, and erase reports the order.
  const open = await act(shop, 'erase', 'eve@example.com');
  expect(open).toMatchObject({ exit: 1, out: expect.stringContaining(`the order ${waiting.orderId}, which is open`) });
});

test('retention empties and deletes what is old, and keeps everything that is open', async () => {
  expect((await shop.command(['retention'])).out).toMatch(/not set/);
  const more = await buy(shop, { email: 'old@example.com' });
  await forge(
    `UPDATE verifications SET at = at - interval '31 days'; UPDATE webhooks SET last_at = last_at - interval '31 days'`,
  );
  // Open payments keep their time, because the schedule would end them at any moment.
  await forge(`UPDATE payments SET created_at = created_at - interval '32 days' WHERE status <> 'open'`);
  // The schedule may have verified the payment before it was paid.
  const { length } = await shop.database.query(
    `SELECT 1 FROM verifications JOIN payments USING (reference) WHERE status = 'paid' AND body IS NOT NULL`,
  );
  const { exit, out } = await shop.command(['retention'], { RETAIN_BODIES_DAYS: '30' });
  expect(exit).toBe(0);
  expect(out).toContain(`Older than 30 days: ${length} answers and 0 messages emptied, `);
  const bodies = `SELECT p.status, count(v.body)::int AS bodies FROM payments p JOIN verifications v USING (reference)
    WHERE status <> 'open' GROUP BY 1 ORDER BY 1`;
  expect(await shop.database.query(bodies)).toEqual([
    { status: 'paid', bodies: 0 },
    { status: 'review', bodies: 1 },
  ]);
  const hooks = await shop.database.query('SELECT payment_references AS of FROM webhooks');
  expect(hooks.flatMap(({ of }) => of)).not.toContain(more.reference);
  expect(hooks).toHaveLength(1);
});
