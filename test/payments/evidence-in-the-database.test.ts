import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startProgram, type TestProgram } from '../support/program.ts';

/**
 * What PostgreSQL itself refuses, whoever writes: a shop's later edit, a script, an operator at the prompt.
 */
let shop: TestProgram;
let paid: { orderId: string; reference: string };
let open: { orderId: string; reference: string };

beforeAll(async () => {
  shop = await startProgram();
  paid = await shop.checkout();
  await shop.hand(`transactions/${paid.reference}/pay`);
  await fetch(`${shop.origin}/checkout/return/${paid.reference}`, { redirect: 'manual' });
  open = await shop.checkout();
});
afterAll(() => shop.close());

const sql = (text: string, values: unknown[] = []): Promise<object[]> =>
  shop.program.database.query(text, values);

test('the good case really is paid, so that the refusals below are about the rules', async () => {
  expect(await sql('SELECT status FROM orders WHERE id = $1', [paid.orderId])).toEqual([{ status: 'paid' }]);
});

describe('an order is not paid by hand', () => {
  test('by its status', async () => {
    await expect(sql(`UPDATE orders SET status = 'paid' WHERE id = $1`, [open.orderId])).rejects.toThrow(
      /paid_(needs_a_release|has_a_time)/,
    );
  });
  test('by its status and a time', async () => {
    const update = `UPDATE orders SET status = 'paid', paid_at = now() WHERE id = $1`;
    await expect(sql(update, [open.orderId])).rejects.toThrow(/paid_(needs_a_release|has_a_time)/);
  });
  test("by another order's release", async () => {
    const update = `UPDATE orders SET status = 'paid', paid_at = now(), release_id = (SELECT id FROM releases LIMIT 1) WHERE id = $1`;
    await expect(sql(update, [open.orderId])).rejects.toThrow('paid_by_its_release');
  });
  test('by inserting it as paid', async () => {
    const insert = `INSERT INTO orders (id, mode, email, amount, currency, status) VALUES (repeat('x', 24), 'test', 'a@b.co', 1, 'NGN', 'paid')`;
    await expect(sql(insert)).rejects.toThrow(/paid_(needs_a_release|has_a_time)/);
  });
});

describe('a payment is not paid by hand', () => {
  test.each([
    ['by its status', `UPDATE payments SET status = 'paid' WHERE reference = $1`],
    [
      'by inserting it as paid',
      `INSERT INTO payments (reference, order_id, mode, amount, currency, status)
       SELECT repeat('y', 24), order_id, mode, amount, currency, 'paid' FROM payments WHERE reference = $1`,
    ],
  ])('%s', async (_name, statement) => {
    await expect(sql(statement, [open.reference])).rejects.toThrow('it has no release');
  });
});

describe('a release needs evidence of its own payment', () => {
  // A verification of the open payment, with the given differences; then a release that leans on it.
  const release = async (evidence: Record<string, string>): Promise<unknown> => {
    const columns = {
      reference: 'reference',
      order_id: 'order_id',
      mode: 'mode',
      outcome: `'paid'`,
      amount: 'amount',
      currency: 'currency',
      ...evidence,
    };
    return sql(
      `WITH v AS (
         INSERT INTO verifications (reference, order_id, mode, outcome, amount, currency, http_status, body_sha256, cause)
         SELECT ${Object.values(columns).join(', ')}, 200, sha256(''), 'operator' FROM payments WHERE reference = $1 RETURNING id
       )
       INSERT INTO releases (id, order_id, reference, mode, amount, currency, verification_id, delivery)
       SELECT 'rel_x', p.order_id, p.reference, p.mode, p.amount, p.currency, v.id, 'unneeded' FROM payments p, v WHERE p.reference = $1`,
      [open.reference],
    );
  };
  test.each<[string, Record<string, string>]>([
    ['another amount', { amount: 'amount - 1' }],
    ['another currency', { currency: `'XOF'` }],
    ['another mode', { mode: `'live'` }],
    ['another order', { order_id: `(SELECT id FROM orders WHERE status = 'paid' LIMIT 1)` }],
    ['another reference', { reference: `(SELECT reference FROM releases LIMIT 1)` }],
    ['another outcome', { outcome: `'underpaid'` }],
  ])('not of %s', async (_name, difference) => {
    await expect(release(difference)).rejects.toThrow('released_on_evidence');
  });
  test('nor of none', async () => {
    const insert = `INSERT INTO releases (id, order_id, reference, mode, amount, currency, verification_id, delivery)
      SELECT 'rel_x', order_id, reference, mode, amount, currency, 999999, 'unneeded' FROM payments WHERE reference = $1`;
    await expect(sql(insert, [open.reference])).rejects.toThrow('released_on_evidence');
  });
  test('paid evidence without an amount does not exist', async () => {
    await expect(release({ amount: 'NULL' })).rejects.toThrow('paid_is_proven');
  });
});

describe('what happened stays', () => {
  const refused = 'is refused';
  test.each([
    [
      'a second release',
      `INSERT INTO releases (id, order_id, reference, mode, amount, currency, verification_id, delivery)
       SELECT 'rel_2', order_id, reference, mode, amount, currency, verification_id, delivery FROM releases`,
      'duplicate key',
    ],
    [
      'a paid order going back',
      `UPDATE orders SET status = 'failed', release_id = NULL, paid_at = NULL WHERE status = 'paid'`,
      refused,
    ],
    ['a paid order getting cheaper', `UPDATE orders SET amount = 1 WHERE status = 'paid'`, refused],
    ['a release moved to another order', `UPDATE releases SET order_id = 'x'`, refused],
    ['a release taken back', 'DELETE FROM releases', refused],
    ['evidence rewritten', `UPDATE verifications SET outcome = 'failed'`, refused],
    ['evidence deleted', 'DELETE FROM verifications', refused],
    ['a journal entry edited', `UPDATE journal SET cause = 'operator:nobody'`, refused],
    ['a journal entry deleted', 'DELETE FROM journal', refused],
    ['the journal emptied', 'TRUNCATE journal', refused],
    ['a payment that differs from its order', `UPDATE payments SET amount = 1`, refused],
    [
      'an order and its payment getting cheaper at once',
      `WITH o AS (UPDATE orders SET amount = 1 WHERE status = 'pending' RETURNING id)
       UPDATE payments p SET amount = 1 FROM o WHERE p.order_id = o.id`,
      refused,
    ],
    ['an order under another release', `UPDATE orders SET planned_release_id = 'rel_2'`, refused],
    ['more of what was paid', `UPDATE order_lines SET quantity = 100`, refused],
    [
      'a line that nobody paid for',
      `INSERT INTO order_lines SELECT id, 9, 'gold', 'Gold', 1, 1 FROM orders WHERE status = 'paid'`,
      refused,
    ],
    ['a line taken away', 'DELETE FROM order_lines', refused],
    ['all lines taken away', 'TRUNCATE order_lines', refused],
    [
      'a payment of another order',
      `UPDATE payments SET order_id = repeat('x', 24) WHERE status = 'open'`,
      refused,
    ],
    ['a payment under another reference', `UPDATE payments SET reference = repeat('x', 24)`, refused],
    ['a payment deleted that may bring money', `DELETE FROM payments WHERE status = 'open'`, refused],
    ['all findings taken away', 'TRUNCATE findings CASCADE', refused],
    ['an order without its payments', `DELETE FROM orders`, 'violates foreign key'],
  ])('%s', async (_name, statement, why) => {
    await expect(sql(statement)).rejects.toThrow(why);
  });

  test('the journal numbers and chains its entries, whatever the writer claims', async () => {
    await sql(
      `INSERT INTO journal (order_id, seq, event, cause, previous_hash, hash) VALUES ($1, 77, 'note', 'operator:eve', 'x', 'x')`,
      [paid.orderId],
    );
    const rows = await sql(
      'SELECT seq, hash = journal_hash(j) AS fits FROM journal j WHERE order_id = $1 ORDER BY seq',
      [paid.orderId],
    );
    expect(rows).toEqual(rows.map((_row, at) => ({ seq: at + 1, fits: true })));
  });
});
