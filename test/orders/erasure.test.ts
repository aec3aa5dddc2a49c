import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { explain } from '../../src/reporting/explain.ts';
import { openSuspense, resolveSuspense } from '../../src/cases/suspense.sql.ts';
import { assignItem, SUSPENSE } from '../../src/cases/work-lists.sql.ts';
import { post, startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';

// A shopper asks to be forgotten: the address goes from every order, the books and their evidence stay.

let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram();
});
afterAll(() => shop.close());

const sql = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);
const erase = (email: string, by = 'Ngozi', why = 'asked by letter') =>
  sql<{ count: bigint }>('SELECT erase_email($1, $2, $3) AS count', email, by, why);
const addressOf = async (orderId: string) =>
  (await sql<{ email: string }>('SELECT email FROM orders WHERE id = $1', orderId))[0]?.email;

async function order(email: string, deed: 'pay' | 'fail' | null, amount?: string): Promise<CheckoutAnswer> {
  const placed = await shop.checkout({ email, items: [{ sku: 'ankara-tote', quantity: 1 }] });
  if (deed === null) return placed;
  await shop.hand(`transactions/${placed.reference}/${deed}`, { notify: false, ...(amount && { amount }) });
  await fetch(`${shop.origin}/checkout/return/${placed.reference}`, { redirect: 'manual' });
  return placed;
}

describe('an erased address', () => {
  test('is gone from paid and unpaid orders alike, however it was written, and the journal says who and why', async () => {
    const email = 'ada@example.com';
    const [paid, failed] = [await order(email, 'pay'), await order('Ada@Example.com', 'fail')];
    const other = await order('bola@example.com', 'pay');
    const before = await sql(
      'SELECT to_jsonb(o) - $2::text[] AS row FROM orders o WHERE id = $1',
      paid.orderId,
      ['email', 'email_salt'],
    );
    expect(await erase(email)).toEqual([{ count: 2n }]);
    for (const { orderId } of [paid, failed]) {
      expect(await addressOf(orderId)).toBe('erased');
      const told = await explain(shop.program.database, orderId);
      expect(told?.evidence).toContain('email-erased');
      expect(told?.evidence).toMatch(/operator:Ngozi.*asked by letter/);
      expect(told?.orderDetail.contradictions).toEqual([]);
    }
    expect(await addressOf(other.orderId)).toBe('bola@example.com');
    // All the rest of a paid order is as it was.
    expect(
      await sql('SELECT to_jsonb(o) - $2::text[] AS row FROM orders o WHERE id = $1', paid.orderId, [
        'email',
        'email_salt',
      ]),
    ).toEqual(before);
    expect(await erase(email)).toEqual([{ count: 0n }]);
  });

  test('is sent to nobody: the order cannot be paid any more', async () => {
    const { orderId } = await order('chidi@example.com', 'fail');
    await erase('chidi@example.com');
    const answer = await post(`${shop.origin}/checkout`, { orderId });
    expect(answer.status).toBe(422);
    expect(await answer.text()).toContain('there is no such order');
  });

  test('takes along what the shopper said beside it, and the messages that repeat that', async () => {
    const { orderId, reference } = await order('ebo@example.com', null);
    await sql(`UPDATE orders SET shopper_details = '{"phone": "+2348012345678"}' WHERE id = $1`, orderId);
    await shop.hand(`transactions/${reference}/pay`, { notify: false });
    await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
    await sql(
      `UPDATE releases SET message = '{"data": {"phone": "+2348012345678"}}' WHERE order_id = $1`,
      orderId,
    );
    await erase('ebo@example.com');
    expect(
      await sql(
        `SELECT shopper_details::text AS details, message FROM orders o JOIN releases r ON r.order_id = o.id
         WHERE o.id = $1`,
        orderId,
      ),
    ).toEqual([{ details: '{}', message: null }]);
  });

  test('comes back on no page: the order page stands as it did', async () => {
    const { orderId } = await order('dayo@example.com', 'pay');
    await erase('dayo@example.com');
    const page = await (await fetch(`${shop.origin}/shop/orders/${orderId}`)).text();
    expect(page).toContain('Thank you, your order is paid');
  });
});

describe('PostgreSQL refuses', () => {
  test('an address while its payment is on the way, or its money waits for a decision', async () => {
    const { orderId } = await order('efe@example.com', null);
    await expect(erase('efe@example.com')).rejects.toThrow(`order ${orderId} is still open`);
    const held = await order('femi@example.com', 'pay', '3');
    await expect(erase('femi@example.com')).rejects.toThrow(`order ${held.orderId} is still open`);
    const { database } = shop.program;
    const item = (await openSuspense(database, 'test')).find((one) => one.orderId === held.orderId);
    await assignItem(database, SUSPENSE, 'test', item?.id ?? 0n, 'Tunde', 'Ngozi');
    const how = { by: 'Tunde', note: 'sent back', decision: 'refund', refundNote: 'RF-1' } as const;
    await resolveSuspense(database, 'test', item?.id ?? 0n, how);
    expect(await erase('femi@example.com')).toEqual([{ count: 1n }]);
  });

  test.each([
    ['no name', ' ', 'asked'],
    ["the program's own name", 'confirmation', 'asked'],
    ['no reason', 'Ngozi', ' '],
  ])('%s', async (_name, by, why) => {
    await expect(erase('ada@example.com', by, why)).rejects.toThrow('by a person, with a reason');
  });

  test.each([
    [
      'an address erased without a word in the journal',
      `SET email = 'erased', email_salt = NULL`,
      'erase_email()',
    ],
    ['another address on a paid order', `SET email = 'eve@example.com'`, 'the order is paid'],
    [
      'anything else along with it',
      `SET email = 'erased', amount = amount + 1`,
      'an order costs what it was placed for',
    ],
    ['other details of the shopper', `SET shopper_details = '{"phone": "+1"}'`, 'the order is paid'],
    [
      'an address erased, and the details not',
      `SET email = 'erased', email_salt = NULL, shopper_details = '{"phone": "+1"}'`,
      'the order is paid',
    ],
    ['another time of paying', `SET email = 'erased', paid_at = now()`, 'the order is paid'],
  ])('%s', async (_name, change, why) => {
    const { orderId } = await order('gbenga@example.com', 'pay');
    await expect(sql(`UPDATE orders ${change} WHERE id = $1`, orderId)).rejects.toThrow(why);
    expect(await addressOf(orderId)).toBe('gbenga@example.com');
  });

  test('an erased address put back', async () => {
    const { orderId } = await order('halima@example.com', 'pay');
    await erase('halima@example.com');
    await expect(
      sql(`UPDATE orders SET email = 'halima@example.com' WHERE id = $1`, orderId),
    ).rejects.toThrow('the order is paid');
  });
});
