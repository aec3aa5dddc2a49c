import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { activity } from '../../src/commands/explain.ts';
import { ACTIVITY } from '../../src/reporting/activity.sql.ts';
import { resolveSuspense, openSuspense } from '../../src/cases/suspense.sql.ts';
import { addNote, assignItem, SUSPENSE } from '../../src/cases/work-lists.sql.ts';
import { startProgram, type TestProgram } from '../support/program.ts';
import { logIn, TOKEN } from './visitor.ts';

const [ZAINAB, ADA] = ['a-long-token-of-zainab', 'a-long-token-of-ada'];
let shop: TestProgram;
beforeAll(async () => {
  const OPERATORS = `Zainab:clerk:${ZAINAB},Ada:operator:${ADA}`;
  shop = await startProgram({ env: { ADMIN_TOKEN: TOKEN, OPERATORS } });
  const { database } = shop.program;
  const { reference, orderId } = await shop.checkout({
    email: 'chidi@example.com',
    items: [{ sku: 'ankara-tote', quantity: 1 }],
  });
  await shop.hand(`transactions/${reference}/pay`, { notify: false, amount: '12750' });
  await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
  const [item] = await openSuspense(database, 'test');
  const id = item?.id ?? 0n;
  const zainab = await logIn(shop, ZAINAB);
  await zainab.send('/admin/checks', [
    ['id', reference],
    ['note', 'she called'],
  ]);
  await assignItem(database, SUSPENSE, 'test', id, 'Zainab', 'Ada', {});
  await addNote(database, SUSPENSE, 'test', id, 'Zainab', 'two\u001b[31m charges');
  const decision = {
    by: 'Zainab',
    note: 'charged twice',
    decision: 'refund',
    refundNote: 'RF-1001',
  } as const;
  await resolveSuspense(database, 'test', id, decision);
  const ada = await logIn(shop, ADA);
  await ada.send('/admin/checkouts', [
    ['id', '*'],
    ['operation', 'stop'],
    ['note', 'a flood'],
  ]);
  await database.query(
    `INSERT INTO suspense_items (mode, class, reference, amount, currency, closed_at, closed_by, decision, note)
     VALUES ('test', 'unknown_reference', 'X-1', 500, 'NGN', now(), 'Ada', 'write_off', 'nobody asks for it')`,
  );
  await ada.send('/admin/books.csv', [
    ['month', '2026-01'],
    ['note', 'the audit'],
  ]);
  await database.query(
    `UPDATE events SET asked_again_at = now(), asked_again_by = 'Ada' WHERE order_id IS NULL AND reference = 'X-1'`,
  );
  expect(orderId).toHaveLength(24);
});
afterAll(() => shop.close());

const told = async (asked: object = {}): Promise<string[]> =>
  (await activity(shop.program, { json: false, ...asked }))
    .split('\n')
    .slice(1)
    .map((line) => line.slice(12));

test('each action of a person is one sentence, newest first', async () => {
  expect(await told()).toEqual([
    'Ada delivered again an event of reference X-1',
    'Ada took whole addresses in the books: ‘the audit’',
    'Ada resolved unknown reference NGN 5.00 of reference X-1: write off, ‘nobody asks for it’',
    'Ada stopped new checkouts in every currency: ‘a flood’',
    expect.stringMatching(
      /^Zainab resolved \w+ NGN [\d,.]+ of c•••@example\.com: refund RF-1001, ‘charged twice’$/,
    ),
    expect.stringMatching(/^Zainab wrote down about .* of c•••@example\.com: ‘two\?\[31m charges’$/),
    expect.stringMatching(/^Ada assigned .* of c•••@example\.com to Zainab$/),
    'Zainab asked the service about c•••@example.com: ‘she called’',
  ]);
});

test('of one person, of one day, and for programs', async () => {
  expect(await told({ by: 'Ada' })).toHaveLength(5);
  expect(await activity(shop.program, { json: false, until: '2020-01-01' })).toBe(
    'Nobody did anything then.',
  );
  const rows = JSON.parse(await activity(shop.program, { json: true, by: 'Zainab' })) as object[];
  expect(rows).toHaveLength(3);
  expect(rows[0]).toMatchObject({ by: 'Zainab', event: 'suspense-resolved' });
});

test('the page shows the same, and a page after it', async () => {
  const ada = await logIn(shop, ADA);
  expect(await ada.text('/admin/activity?by=Zainab')).toContain('refund RF-1001');
  expect(await ada.text('/admin/activity?by=Zainab')).not.toContain('stopped new checkouts');
  const { database } = shop.program;
  await database.query(
    `INSERT INTO suspense_notes (item_id, written_by, note)
     SELECT max(id), 'Eve', 'again ' || n FROM suspense_items, generate_series(1, 101) n GROUP BY n`,
  );
  const page = await ada.text('/admin/activity?by=Eve');
  const [, next = ''] = /href="(\/admin\/activity\?[^"]*before[^"]*)"/.exec(page) ?? [];
  const older = await ada.text(next.replaceAll('&amp;', '&'));
  expect([page.match(/again \d+/g)?.length, older.match(/again \d+/g)?.length]).toEqual([100, 1]);
});

test('reads the journal of people by its index', async () => {
  const plan = await shop.program.database.transaction(async (tx) => {
    await tx.query('SET LOCAL enable_seqscan = off');
    return tx.query(`EXPLAIN ${ACTIVITY}`, ['test', null, null, null, null, 100]);
  });
  expect(JSON.stringify(plan)).toContain('journal_by_people');
});
