import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import { booked, openBooks, rowOf, type Books, type Paid, type Row } from './books.ts';

// A history that reaches back a week. Older rows roll off, also while a run reads. Within six hours
// of that limit, an absent row proves nothing, but a present row counts.

const INSIDE = '161 hours 50 minutes';
const BEYOND = '162 hours 10 minutes';
const OPENED = 'opened_at = now() - $2::interval';
const NEVER_OPENED = 'opened_at = NULL, created_at = now() - $2::interval';
const GATEWAY_ADAPTER = fileURLToPath(new URL('../support/adapters/week.ts', import.meta.url));

let books: Books;
beforeEach(async () => {
  books = await openBooks();
});
afterEach(() => books.close());

const reconcile = () => books.reconcile([], { GATEWAY_ADAPTER });
/** All orders were paid in this hour, and opened then unless a test says otherwise. */
const moveBack = ({ reference }: Paid, time: string, set = OPENED) =>
  books.database.query(`UPDATE payments SET ${set} WHERE reference = $1`, [reference, time]);
/** A refund of NGN 1.00 that no source shows, so that the order differs. */
async function refund({ orderId, reference }: Paid): Promise<void> {
  const row = `INSERT INTO refunds (order_id, amount, reason, "by") VALUES ($1, 100, 'broken', 'ada')`;
  await books.database.query(row, [orderId]);
  await books.database.query('UPDATE ledgers SET refunded = 100, booked_out_at = now() WHERE reference = $1', [
    reference,
  ]);
}

/** Replaces the rows of the newest orders in the history. */
function listInstead(...shown: Row[][]): void {
  const rest = books.orders.slice(shown.length).map((order) => rowOf(order));
  books.service.rows = [...shown.flat(), ...rest];
}

const back: Row = { status: 'REVERSED' };
const twice: Row[] = [{}, { id: 'second' }];
/**
 * How the order differs, when it was opened, its rows in the history, the class that is found, and
 * how often the history reports the price.
 */
const TABLE: [how: string, ago: string, list: Row[], finds: string | null, reported: number | null][] = [
  ['not at all', INSIDE, [], 'absent_from_history', 0],
  ['not at all', BEYOND, [], null, null],
  ['never opened', INSIDE, [], 'absent_from_history', 0],
  ['never opened', BEYOND, [], null, null],
  ['a refund is under way', INSIDE, [], 'absent_from_history', 0],
  ['a refund is under way', BEYOND, [], null, 0],
  ['a refund is under way', INSIDE, [{}], null, 1],
  ['a refund is under way', BEYOND, [back], 'reversed', 0],
  ['taken back', INSIDE, [back], 'reversed', 0],
  ['taken back', BEYOND, [back], 'reversed', 0],
  ['charged twice', INSIDE, twice, 'charged_again', 2],
  ['charged twice', BEYOND, twice, 'charged_again', 2],
];

test('absence counts where the history reaches, by the opening of the page, and a present row counts everywhere', async () => {
  for (const [index, [how, ago]] of TABLE.entries()) {
    const order = books.orders[index] as Paid;
    await moveBack(order, ago, how === 'never opened' ? NEVER_OPENED : OPENED);
    if (how === 'a refund is under way') await refund(order);
  }
  listInstead(...TABLE.map(([, , list], index) => list.map((more) => rowOf(books.orders[index] as Paid, more))));
  const { exit, report } = await reconcile();
  // Not the two that may have rolled off and do not differ otherwise.
  const about = { reason: null, verified: 10, identity: [{ difference: '0.00' }] };
  expect({ exit, ...report }).toMatchObject({ exit: 1, ...about });
  const { cases } = await booked(books.database);
  const ledgers = await books.database.query(`SELECT reference,
    CASE WHEN history_read_at IS NOT NULL THEN history_received - history_outflow END AS history_balance FROM ledgers`);
  const seen = TABLE.map(([how, ago, list], index) => {
    const { reference, amount } = books.orders[index] as Paid;
    const ours = ({ reference: one }: { reference?: unknown }) => one === reference;
    const balance = ledgers.find(ours)?.history_balance;
    const heard = balance === null ? null : Number(balance) / Number(amount);
    return [how, ago, list, cases.find(ours)?.class ?? null, heard];
  });
  expect(seen).toEqual(TABLE);
});

test('an empty history is complete if it reaches no payment, and lacks every payment that it reaches', async () => {
  for (const order of books.orders) await moveBack(order, BEYOND);
  listInstead(...books.orders.map(() => []));
  expect(await reconcile()).toMatchObject({ exit: 0, report: { verdict: 'agreed', matched: 24, verified: 0 } });
  for (const order of books.orders) await moveBack(order, INSIDE);
  expect(await reconcile()).toMatchObject({ exit: 2, report: { reason: expect.stringContaining('lacks 24 of 24') } });
});

test('an unmatched payment is as old as the history reaches, so absence changes nothing, and its own row does', async () => {
  const [order] = books.orders as [Paid];
  const stranger = (more: Row = {}) => rowOf({ ...order, reference: 'stranger', id: 'third' }, more);
  const finds = async (...rows: Row[]) => {
    books.service.rows = [...rows, ...books.orders.map((one) => rowOf(one))];
    await reconcile();
    const { cases } = await booked(books.database);
    return cases.map(({ class: name, held, closed_by: by }) => [name, held, by]);
  };
  const held = ['unknown_reference', String(order.amount), null];
  expect(await finds(stranger())).toEqual([held]);
  expect(await finds()).toEqual([held]);
  expect(await finds(stranger(back))).toEqual([[held[0], held[1], 'reconciliation']]);
});
