import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readArguments } from '../../src/commands/arguments.ts';
import { dispute } from '../../src/commands/explain.ts';
import { startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';

let shop: TestProgram;
let order: CheckoutAnswer;
beforeAll(async () => {
  shop = await startProgram();
  const basket = [{ sku: 'ankara-tote', quantity: 1 }];
  order = await shop.checkout({ email: 'ada.l@example.com', items: basket });
  await shop.hand(`transactions/${order.reference}/pay`);
  await fetch(`${shop.origin}/checkout/return/${order.reference}`, { redirect: 'manual' });
  const hostile = `<script>alert(1)</script>\u202e ada@example.com ${order.reference}`;
  await shop.program.database.query(
    `INSERT INTO webhooks (body_sha256, body, mode, authenticity, outcome, reference)
     VALUES (sha256(convert_to($1, 'UTF8')), convert_to($1, 'UTF8'), 'test', 'signed', 'hinted', $2)`,
    [hostile, order.reference],
  );
});
afterAll(() => shop.close());

const pack = (...argv: string[]) => dispute(shop.program, readArguments([order.orderId, ...argv]));
type Pack = {
  order: { email: string; lines: unknown[]; contradictions: string[] };
  answers: { sha256: string; body: string; asked: string }[];
  release: { deliveredAt: string | null };
  journal: { hash: string; event: string }[];
};

test('is one file that loads and runs nothing: goods, evidence with digests, delivery, journal, verdict', async () => {
  const { text, exitCode } = await pack();
  expect(exitCode).toBe(0);
  for (const part of [
    /8,500\.00/,
    /Ankara/,
    /asked by return/,
    /SHA-256 <code>[0-9a-f]{64}/,
    /order-paid by/,
  ])
    expect(text).toMatch(part);
  expect(text).toContain('The journal is whole');
  expect(text).not.toMatch(/<script|<link|src=|@import|url\(|\u202e/);
  expect(text).toContain('&lt;script>alert(1)');
  expect(text).not.toContain('ada.l');
  expect(text).not.toContain('ada@');
});

test('names the customer only where somebody says so', async () => {
  expect((await pack('--with-customer')).text).toContain('ada.l@example.com');
  expect((JSON.parse((await pack('--json')).text) as Pack).order.email).toBe('•••@example.com');
});

test('as JSON holds the bytes whose digest it names', async () => {
  const { answers, journal, release } = JSON.parse((await pack('--json', '--with-customer')).text) as Pack;
  const last = answers.at(-1);
  expect(createHash('sha256').update(String(last?.body)).digest('hex')).toBe(last?.sha256);
  expect(journal.map(({ event }) => event)).toContain('order-paid');
  expect(release).toMatchObject({ delivery: 'unneeded', attempts: 0, deliveredAt: null });
});

test('says when the journal was rewritten, and knows no order that is not there', async () => {
  await shop.program.database.transaction(async (tx) => {
    await tx.query('SET LOCAL session_replication_role = replica');
    await tx.query(`UPDATE journal SET cause = 'schedule' WHERE order_id = $1 AND event = 'order-paid'`, [
      order.orderId,
    ]);
  });
  const { text, exitCode } = await pack();
  expect([exitCode, text]).toEqual([
    1,
    expect.stringMatching(/changed by other means.*journal entry \d was changed/s),
  ]);
  expect(await dispute(shop.program, readArguments(['nothing']))).toMatchObject({ exitCode: 1 });
});

test('hangs at the order page of /admin, as a file', async () => {
  const page = await (await fetch(`${shop.origin}/admin/orders/${order.orderId}`)).text();
  expect(page).toContain(`/admin/orders/${order.orderId}/dispute`);
  const file = await fetch(`${shop.origin}/admin/orders/${order.orderId}/dispute`);
  expect(file.headers.get('content-disposition')).toContain('attachment');
  expect(await file.text()).toContain('What the service answered');
});
