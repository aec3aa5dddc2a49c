import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openSuspense, resolveSuspense } from '../../src/cases/suspense.sql.ts';
import { addNote, assignItem, SUSPENSE } from '../../src/cases/work-lists.sql.ts';
import { readArguments, UsageError } from '../../src/commands/arguments.ts';
import { person } from '../../src/commands/person.ts';
import { explain } from '../../src/reporting/explain.ts';
import type { PersonData } from '../../src/reporting/person.sql.ts';
import { eventually, startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';

// A shopper asks what is kept about them, or to be forgotten. Their address is a canary: the whole database
// is searched.

let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram();
});
afterAll(() => shop.close());

const sql = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);
const ask = (...argv: string[]) => person(shop.program, readArguments([...argv, '--by', 'Ngozi']));
const show = async (email: string) => JSON.parse((await ask('show', email)).text) as PersonData;
const erase = (email: string, ...more: string[]) => ask('erase', email, '--note', 'asked by letter', ...more);

/** The tables in which the text stands, as a dump of the database would show it; bytes are read as text. */
async function tablesWith(text: string): Promise<string[]> {
  const tables = await sql<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await sql<{ row: string }>(`SELECT t::text AS row FROM "${name}" t`);
    const dump = rows
      .map(({ row }) =>
        row.replace(/\\+x((?:[0-9a-f]{2})+)/g, (_, hex: string) => Buffer.from(hex, 'hex').toString()),
      )
      .join('\n');
    if (dump.toLowerCase().includes(text.toLowerCase())) found.push(name);
  }
  return found;
}

async function order(email: string, deed: 'pay' | 'fail' | null, amount?: string): Promise<CheckoutAnswer> {
  const placed = await shop.checkout({ email, items: [{ sku: 'ankara-tote', quantity: 1 }] });
  if (deed === null) return placed;
  await shop.hand(`transactions/${placed.reference}/${deed}`, { ...(amount && { amount }) });
  await fetch(`${shop.origin}/checkout/return/${placed.reference}`, { redirect: 'manual' });
  // The webhook carries the address, too.
  await eventually(async () => (await tablesWith(placed.reference)).includes('webhooks'));
  return placed;
}

/** Held for too little money, and decided about by a person. */
async function decided(email: string, decide = true): Promise<bigint> {
  const { orderId } = await order(email, 'pay', '3');
  const { database } = shop.program;
  const item = (await openSuspense(database, 'test')).find((one) => one.orderId === orderId);
  const id = item?.id ?? 0n;
  if (!decide) return id;
  await assignItem(database, SUSPENSE, 'test', id, 'Tunde', 'Ngozi');
  const how = { by: 'Tunde', note: 'sent back', decision: 'refund', refundNote: 'RF-1' } as const;
  await resolveSuspense(database, 'test', id, how);
  return id;
}

/** A webhook about no payment of ours, with bytes that are no text. */
const stray = (body: string): Promise<object[]> =>
  sql(
    `INSERT INTO webhooks (body_sha256, body, mode, authenticity, outcome)
     VALUES (sha256(convert_to($1, 'UTF8')), '\\x00ff'::bytea || convert_to($1, 'UTF8'), 'test', 'unsigned', 'ignored')`,
    body,
  );

describe('an erased person', () => {
  test('is nowhere in the database, however the address was written: orders, answers, webhooks, held payments', async () => {
    const email = 'canary.one@example.com';
    const [paid, failed] = [await order('Canary.One@Example.COM', 'pay'), await order(email, 'fail')];
    await decided('CANARY.ONE@example.com');
    await stray('payer=Canary.One%40Example.com');
    await stray('{"payer":"canary.one\\u0040example.com"}');
    expect(await tablesWith(email)).toEqual(expect.arrayContaining(['orders', 'verifications', 'webhooks']));
    const { text, exitCode } = await erase(email);
    expect(text).toContain('Erased from 3 order(s)');
    expect([text.includes('No table names the address any more'), exitCode]).toEqual([true, 0]);
    for (const spelling of ['canary.one', 'canary.one%40', 'canary.one\\u0040'])
      expect(await tablesWith(spelling)).toEqual([]);
    for (const { orderId } of [paid, failed]) {
      const told = await explain(shop.program.database, orderId);
      expect(told?.evidence).toMatch(/email-erased.*operator:Ngozi.*asked by letter/);
      expect(told?.orderDetail.contradictions).toEqual([]);
    }
    expect(await erase(email)).toMatchObject({
      text: expect.stringContaining('Erased from 0 order(s)'),
      exitCode: 0,
    });
  });

  test('is not erased from what is open, unless somebody says so and is told what that ends', async () => {
    const email = 'canary.two@example.com';
    await decided(email, false);
    const refused = await erase(email);
    expect(refused.exitCode).toBe(1);
    expect(refused.text).toMatch(
      /Nothing was erased:\n order \w{24}: a payment is held and not decided about, money/,
    );
    expect(await tablesWith(email)).toContain('orders');
    const { text } = await erase(email, '--even-open');
    expect(text).toMatch(/Nobody can be written to any more about order/);
    expect(await tablesWith(email)).toEqual([]);
  });

  test.each(['waiting', 'dead'])(
    'is not erased while what was paid for is not delivered, its release being %s',
    async (delivery) => {
      const email = `canary.${delivery}@example.com`;
      const { orderId } = await order(email, 'pay');
      const become = (state: string) =>
        sql('UPDATE releases SET delivery = $2 WHERE order_id = $1', orderId, state);
      await become(delivery);
      expect(await erase(email)).toMatchObject({
        text: expect.stringContaining(
          `Nothing was erased:\n order ${orderId}: what was paid for is not delivered\n`,
        ),
        exitCode: 1,
      });
      const bySql = () => sql('SELECT erase_email($1, $2, $3)', email, 'Ngozi', 'asked by letter');
      await expect(bySql()).rejects.toThrow(`order ${orderId} is still open: what was paid for`);
      expect(await tablesWith(email)).toContain('orders');
      await become('delivered');
      expect((await erase(email)).text).toContain('Erased from 1 order(s)');
    },
  );

  test('waits for its orders before it touches anything of theirs, as everybody does', async () => {
    const email = 'canary.five@example.com';
    const { orderId, reference } = await order(email, 'pay');
    const waits = async (): Promise<boolean> =>
      (
        await sql(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        )
      ).length > 0;
    const erasing = await shop.program.database.transaction(async (tx) => {
      await tx.query('SELECT FROM orders WHERE id = $1 FOR NO KEY UPDATE', [orderId]);
      const erasing = erase(email);
      await eventually(waits);
      await tx.query('SELECT FROM verifications WHERE reference = $1 FOR UPDATE NOWAIT', [reference]);
      return { erasing };
    });
    expect((await erasing.erasing).exitCode).toBe(0);
  });

  test('leaves its neighbours alone', async () => {
    const others = ['another.canary@example.com', 'canary@example.com.ng'];
    for (const other of others) await order(other, 'pay');
    await order('canary@example.com', 'pay');
    await stray('{"to":"\u00abcanary@example.com\u00bb"}');
    await stray('<\\ncanary@example.com>');
    await stray('to=%3Ccanary%40example.com%3E');
    expect((await erase('canary@example.com')).text).toContain('4 webhook(s) deleted');
    for (const other of others)
      expect(await tablesWith(other)).toEqual(
        expect.arrayContaining(['orders', 'verifications', 'webhooks']),
      );
  });

  test('who stands in a note is reported: notes are kept', async () => {
    const email = 'canary.three@example.com';
    const id = await decided(email, false);
    await addNote(shop.program.database, SUSPENSE, 'test', id, 'Tunde', `wrote to ${email}`);
    const { text, exitCode } = await erase(email, '--even-open');
    expect(text).toMatch(/still stands in rows that are kept: 1 in suspense_notes/);
    expect(exitCode).toBe(1);
  });
});

describe('all that is kept about a person', () => {
  test('is one JSON: orders, lines, answers and webhooks with their bodies, and what names them elsewhere', async () => {
    const email = 'canary.four@example.com';
    const placed = await order('Canary.Four@example.com', 'pay');
    await stray(`from=${email}\u009b`);
    const data = await show(email);
    expect(data.orders).toMatchObject([
      { orderId: placed.orderId, email: 'Canary.Four@example.com', lines: [{ quantity: 1 }], payments: [{}] },
    ]);
    expect(data.orders[0]?.answers.at(-1)?.body).toContain('Canary.Four@example.com');
    expect(data.orders[0]?.webhooks[0]?.body).toContain(placed.reference);
    expect(data.elsewhere).toMatchObject([{ table: 'webhooks', body: expect.stringContaining(email) }]);
    expect((await ask('show', email)).text).not.toContain('\u009b');
    expect(data.orders[0]?.story.at(-1)).toMatchObject({ what: 'person-shown' });
  });

  test.each([
    ['nobody asks', ['show', 'a@example.com', '--by', ' ']],
    ['the program asks', ['show', 'a@example.com', '--by', 'confirmation']],
    ['no reason', ['erase', 'a@example.com', '--by', 'Ngozi']],
    [
      'the address in the reason',
      ['erase', 'a@example.com', '--by', 'Ngozi', '--note', 'A@example.com asked'],
    ],
    ['no address', ['erase', '--by', 'Ngozi', '--note', 'x']],
  ])('%s: refused', async (_name, argv) => {
    await expect(person(shop.program, readArguments(argv))).rejects.toThrow(UsageError);
  });
});
