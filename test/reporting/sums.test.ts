import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openDatabase, type Database } from '../../src/platform/db.ts';
import { Secret } from '../../src/platform/secret.ts';
import { bookPages, bookTotals } from '../../src/reporting/books.ts';
import { explain, textOfStory, type Story } from '../../src/reporting/explain.ts';
import { exportCsv, type ExportName } from '../../src/reporting/export.ts';
import { proofPage } from '../../src/reporting/proof.ts';
import { asShop, buy, command, happens, saying, SHOP_TOKEN, stands } from '../money/support.ts';
import { LEDGERS } from '../support/ledgers.ts';
import { startShop, type Shop } from '../support/shop.ts';

// A day of a shop: all reports show the same sums.

const VIEW = { now: new Date(), timeZone: 'Africa/Lagos' };
const MONTH = new Date(VIEW.now.getTime() + 3_600_000).toISOString().slice(0, 7);
let shop: Shop;
let database: Database;
let orders: string[];
beforeAll(async () => {
  shop = await startShop({ env: { SHOP_API_TOKEN: SHOP_TOKEN } });
  database = openDatabase(new Secret(shop.database.url), { connections: 2 });
  orders = [
    (await buy(shop)).orderId,
    await refundedInPart('10.00'),
    await decidedAs('accept', { amount: 8000 }),
    await decidedAs('refund', { amount: 9000 }, 'RF-1'),
    await decidedAs('keep', { amount: 100 }),
    await takenBack('write-off'),
    // Nobody has decided about the last three.
    await takenBack(),
    (await buy(shop, { amount: 4000 })).orderId,
    (await shop.checkout()).orderId,
  ];
});
afterAll(async () => {
  await database.close();
  await shop.stop();
});

async function refundedInPart(amount: string): Promise<string> {
  const { orderId } = await buy(shop);
  const refund = { amount, reason: '<b>late</b>', externalId: '=1+1' };
  expect((await asShop(shop, `/orders/${orderId}/refunds`, refund)).status).toBe(201);
  return orderId;
}

async function decidedAs(as: string, payment: object, number?: string): Promise<string> {
  const { orderId } = await buy(shop, payment);
  await decide(orderId, as, number);
  return orderId;
}

async function decide(orderId: string, as: string, number?: string): Promise<void> {
  const [open] = await shop.database.query('SELECT id FROM cases WHERE order_id = $1 AND closed_at IS NULL', [orderId]);
  const numbered = number === undefined ? [] : ['--number', number];
  const done = await command(shop, 'cases', 'decide', String(open?.id), '--as', as, ...numbered);
  if (done.exit !== 0) throw new Error(done.said);
}

async function takenBack(as?: string): Promise<string> {
  const { orderId, reference } = await buy(shop);
  await happens(shop, reference, 'reverse');
  await stands(shop, orderId, 'paid', saying(/^reversed/));
  if (as !== undefined) await decide(orderId, as);
  return orderId;
}

async function told(orderId: string): Promise<Story> {
  const story = await explain(database.prisma, 'test', { orderId }, VIEW, true);
  if (story === null) throw new Error(`there is no order ${orderId}`);
  return story;
}

async function collect<Piece>(pieces: AsyncIterable<Piece>): Promise<Piece[]> {
  const all = [];
  for await (const piece of pieces) all.push(piece);
  return all;
}

const csv = async (name: ExportName) => (await collect(exportCsv(database.prisma, 'test', name, VIEW))).join('');
/** `NGN 8,490.00` and `8490.00` in minor units. */
const minor = (text = ''): number => Number(text.replace(/[^\d−-]/g, '').replace('−', '-'));
const sum = (numbers: number[]): number => numbers.reduce((all, one) => all + one, 0);

test('the ledger, the stories, the books, the cases and the CSV show the same sums', async () => {
  const [ledger] = await shop.database.query(`SELECT sum(ours) AS ours, sum(held) AS held FROM ${LEDGERS}`);
  const { ours, held } = { ours: Number(ledger?.ours), held: Number(ledger?.held) };
  expect({ ours, held }).toEqual({ ours: 850_000 + 849_000 + 800_000 + 850_000 + 10_000 + 0 + 0, held: 400_000 });

  const stories = await Promise.all(orders.map(told));
  const money = stories.flatMap((story) => story.money);
  expect([sum(money.map((one) => minor(one.ours))), sum(money.map((one) => minor(one.held)))]).toEqual([ours, held]);
  expect(stories.map(({ chain }) => chain.brokenAt)).toEqual(orders.map(() => null));

  const about = [database.prisma, 'test', MONTH, VIEW.timeZone] as const;
  const rows = (await collect(bookPages(...about))).flat();
  const [totals] = await bookTotals(...about);
  expect([sum(rows.map((row) => minor(row.earned))), minor(totals?.earned), minor(totals?.held)]).toEqual([
    ours,
    ours,
    held,
  ]);
  expect(sum(rows.map((row) => minor(row.held)))).toBe(held);
  expect(rows.map(({ type, earned, held, by, number }) => [type, earned, held, by, number ?? ''].join(' '))).toEqual([
    'paid 8500.00 0.00 service ',
    'paid 8500.00 0.00 service ',
    'refunded -10.00 0.00 shop =1+1',
    'held 0.00 8000.00 service ',
    'paid 8000.00 -8000.00 ada ',
    'held 0.00 9000.00 service ',
    'paid 8500.00 -8500.00 ada RF-1',
    'returned 0.00 -500.00 ada RF-1',
    'held 0.00 100.00 service ',
    'kept 100.00 -100.00 ada ',
    'paid 8500.00 0.00 service ',
    'reversed -8500.00 0.00 service ',
    'written off -8500.00 0.00 ada ',
    'reversed 8500.00 0.00 ada ',
    'paid 8500.00 0.00 service ',
    'reversed -8500.00 0.00 service ',
    'held 0.00 4000.00 service ',
  ]);

  const cells = (await csv('orders'))
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));
  expect([sum(cells.map((row) => minor(row[11]))), sum(cells.map((row) => minor(row[10])))]).toEqual([ours, held]);
  const [open] = await shop.database.query('SELECT sum(held) AS held FROM cases WHERE closed_at IS NULL');
  expect(Number(open?.held)).toBe(held);
});

test('each order has the badge that follows from its ledger', async () => {
  const badges = (await Promise.all(orders.map(told))).map(({ words }) => words.badge);
  expect(badges).toEqual([
    ...['Paid', 'Part refunded', 'Paid', 'Paid', 'Closed', 'Reversed', 'Reversed', 'Paid too little', 'Waiting'],
  ]);
});

test('a story shows the events, and the digest of each stored answer', async () => {
  const [, refunded = ''] = orders;
  const text = textOfStory(await told(refunded), VIEW);
  expect(text).toMatch(/a\*\*\*@example.com/);
  expect(text).not.toContain('\nada@');
  expect(text).toMatch(
    /Order placed by the customer[^]*NGN 8,500.00 came[^]*paid[^]*NGN 10.00 refunded by your shop, number =1\+1/,
  );
  expect(textOfStory(await told(orders[3] ?? ''), VIEW)).toMatch(
    /Decided by ada \(refund\): “a test”[^]*NGN 500.00 refunded by ada, number RF-1\./,
  );
  const [stored] = await shop.database.query<{ sha: string }>(
    `SELECT encode(sha256(body), 'hex') AS sha FROM verifications v JOIN payments USING (reference) WHERE order_id = $1`,
    [refunded],
  );
  expect(text).toContain(`sha256 ${String(stored?.sha)}`);
});

test('the proof for a bank is one HTML page without scripts, and escapes what people typed', async () => {
  const page = (await proofPage(database.prisma, 'test', orders[1] ?? '', VIEW)) ?? '';
  expect(page).toMatch(/ada@example.com[^]*NGN 8,500.00[^]*&#60;b&#62;late[^]*The record is complete/);
  expect(page).not.toMatch(/<script|<b>|<link|src=/);
  expect(page).not.toMatch(/today|yesterday/);
});

test('an unmatched payment has a story under its reference', async () => {
  const reference = 'stranger0stranger0stranger';
  const payment = { create: true, email: 'eve@example.com', amount: 2000, currency: 'NGN', notify: false };
  await shop.sandboxPost(`/transactions/${reference}/pay`, payment);
  await shop.command(['reconcile']);
  const story = await explain(database.prisma, 'test', { reference }, VIEW);
  expect(story?.words.sentence).toBe('The payment service holds NGN 2,000.00 that belongs to no order of ours.');
  expect(story).toMatchObject({ orderId: null, money: [{ held: 'NGN 2,000.00', ours: 'NGN 0.00' }] });
  expect(story?.happened.map(({ text }) => text)).toEqual(['NGN 2,000.00 came.', 'To decide: Without an order.']);
  expect(await explain(database.prisma, 'live', { reference }, VIEW)).toBeNull();
});

test('a story reports a changed or a missing journal entry', async () => {
  const [first = '', second = ''] = orders;
  await shop.database.query('ALTER TABLE journal DISABLE TRIGGER journal_is_written_once');
  const change = `UPDATE journal SET amount = amount - 1 WHERE order_id = $1 AND counter = 'received' RETURNING id`;
  const [changed] = await shop.database.query<{ id: string }>(change, [first]);
  expect((await told(first)).chain.brokenAt).toBe(changed?.id);
  expect(textOfStory(await told(first), VIEW)).toContain(`The record was changed: entry ${String(changed?.id)}`);
  await shop.database.query(`DELETE FROM journal WHERE order_id = $1 AND counter = 'captured'`, [second]);
  expect((await told(second)).chain.brokenAt).not.toBeNull();
});

test('an export has pieces under one header, the oldest row first, and no formulas', async () => {
  await shop.database.query(`
    INSERT INTO orders (id, mode, external_id, email, amount, currency, created_at)
    SELECT lpad(n::text, 24, '0'), 'test', '=cmd' || n, '@a,b"@example.com', 100, 'XOF', now() + n * interval '1 minute'
    FROM generate_series(1, 500) n`);
  const pieces = await collect(exportCsv(database.prisma, 'test', 'orders', VIEW));
  expect(pieces.length).toBeGreaterThan(2);
  const lines = pieces.join('').trim().split('\n');
  expect(lines).toHaveLength(1 + orders.length + 500);
  expect(lines.filter((line) => line.startsWith('id,'))).toHaveLength(1);
  expect(lines.at(-1)).toMatch(/^0+500,'=cmd500,.*,"'@\*\*\*""@example.com",XOF,100,/);
});
