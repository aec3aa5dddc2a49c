import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { EMPTY, grow, growthOf, observeList, observeVerify, standingOf } from '../../src/payments/money.ts';
import type { Growth, Ledger } from '../../src/payments/money.ts';
import { openDatabase, type Database } from '../../src/platform/db.ts';
import { Secret } from '../../src/platform/secret.ts';
import { bookPages, bookTotals } from '../../src/reporting/books.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';

// The books of months: money leaves them in the month in which it went, whether somebody decides about it or not.

const ZONE = 'Africa/Lagos';
/** The last moment of January in Lagos, and the first of February. */
const JANUARY = '2026-01-31T22:59:59.999Z';
const FEBRUARY = '2026-01-31T23:00:00Z';
const MARCH = '2026-03-15T12:00:00Z';

type Step = [at: string, what: string, change: (ledger: Ledger) => Ledger];
const shows = (at: string, amount: bigint): Step => [at, 'shown by verify', (one) => observeVerify(one, amount, null)];
const lists = (at: string, amount: bigint, gone = 0n): Step => [
  ...([at, 'shown by the list'] as const),
  (one) => observeList(one, amount, gone),
];
const grows = (at: string, what: string, growth: Growth): Step => [at, what, (one) => grow(one, growth)];
const PAID = [shows(JANUARY, 100n), grows(JANUARY, 'earned', { earned: 100n })];
const TAKEN = [...PAID, shows(FEBRUARY, 60n), lists(FEBRUARY, 60n)];
const REFUNDED = grows(JANUARY, 'refunded', { refunded: 10n });

const STORIES: [what: string, steps: Step[], movements: string[]][] = [
  ['paid', PAID, ['01 paid 100']],
  ['held', [shows(JANUARY, 100n)], []],
  [
    'a refund, and what it takes',
    [...PAID, REFUNDED, shows(MARCH, 90n), lists(MARCH, 90n)],
    ['01 paid 100', '01 refunded -10'],
  ],
  ['nobody decided about a chargeback', TAKEN, ['01 paid 100', '02 taken back -40']],
  ['it was lost', [...TAKEN, grows(MARCH, 'decided', { lost: 40n })], ['01 paid 100', '02 taken back -40']],
  ['it was a refund', [...TAKEN, grows(MARCH, 'refunded', { refunded: 40n })], ['01 paid 100', '02 taken back -40']],
  [
    'a refund of more than it',
    [...TAKEN, grows(MARCH, 'refunded', { refunded: 50n })],
    ['01 paid 100', '02 taken back -40', '03 refunded -10'],
  ],
  [
    'a refund by the bank, beside it',
    [...TAKEN, grows(MARCH, 'refunded', { refunded: 45n, refundedElsewhere: 45n })],
    ['01 paid 100', '02 taken back -40', '03 refunded -5', '03 refunded -40'],
  ],
  ['it came back', [...TAKEN, shows(MARCH, 100n)], ['01 paid 100', '02 taken back -40', '03 came back 40']],
  ['held money that goes by itself', [shows(JANUARY, 100n), shows(FEBRUARY, 0n), lists(FEBRUARY, 0n)], []],
  [
    'more than the held money goes',
    [...PAID, shows(JANUARY, 130n), shows(FEBRUARY, 0n), lists(FEBRUARY, 0n)],
    ['01 paid 100', '02 taken back -100'],
  ],
  ['a charge that goes while another comes', [...PAID, lists(FEBRUARY, 100n, 100n)], ['01 paid 100']],
  ['held money is kept', [shows(JANUARY, 70n), grows(MARCH, 'decided', { kept: 70n })], ['03 kept 70']],
  [
    'a refund that never was is kept',
    [...PAID, REFUNDED, grows(MARCH, 'decided', { came: 10n, went: 10n, kept: 10n })],
    ['01 paid 100', '01 refunded -10', '03 kept 10'],
  ],
];

let clone: TestDatabase;
let database: Database;
const ledgers: Ledger[] = [];
beforeAll(async () => {
  clone = await cloneDatabase();
  database = openDatabase(new Secret(clone.url), 2);
  for (const [what, steps] of STORIES) ledgers.push(await played(what, steps));
});
afterAll(async () => {
  await database.close();
  await clone.drop();
});

async function played(reference: string, steps: Step[]): Promise<Ledger> {
  await clone.query(
    `INSERT INTO payments (reference, mode, amount, currency, status) VALUES ($1, 'test', 100, 'XOF', 'foreign')`,
    [reference],
  );
  let ledger = EMPTY;
  for (const [at, what, change] of steps) {
    const after = change(ledger);
    for (const [counter, amount] of Object.entries(growthOf(ledger, after)))
      await clone.query(
        `INSERT INTO journal (reference, what, "by", counter, amount, currency, at) VALUES ($1, $2, 'x', $3, $4, 'XOF', $5)`,
        [reference, what, counter, amount, at],
      );
    ledger = after;
  }
  return ledger;
}

const MONTHS = ['01', '02', '03', '04'];

async function rowsOf(month: string) {
  const rows = [];
  for await (const page of bookPages(database.prisma, 'test', `2026-${month}`, ZONE)) rows.push(...page);
  return rows;
}

test.each(STORIES)('%s', async (what, _steps, movements) => {
  const told = [];
  for (const month of MONTHS)
    for (const { reference, type, amount } of await rowsOf(month))
      if (reference === what) told.push(`${month} ${type} ${amount}`);
  expect(told).toEqual(movements);
});

test('the rows of all months are what is ours and not taken back, and the totals of a month are its rows', async () => {
  const sum = (amounts: number[]) => amounts.reduce((all, one) => all + one, 0);
  let earned = 0;
  for (const month of MONTHS) {
    const rows = await rowsOf(month);
    const [totals] = await bookTotals(database.prisma, 'test', `2026-${month}`, ZONE);
    const of = (type: string) => sum(rows.filter((row) => row.type === type).map(({ amount }) => Number(amount)));
    const { currency, held, ...sums } = totals ?? { currency: '', held: '' };
    expect(sums).toEqual({
      ...{ paid: String(of('paid')), refunded: String(of('refunded')), taken_back: String(of('taken back')) },
      ...{ came_back: String(of('came back')), kept: String(of('kept')) },
      earned: String(sum(rows.map(({ amount }) => Number(amount)))),
    });
    expect([currency, held]).toEqual(['XOF', { '01': '300', '02': '170' }[month] ?? '100']);
    earned += Number(totals?.earned);
  }
  const standings = ledgers.map(standingOf);
  expect(earned).toBe(Number(standings.reduce((all, { ours, reversed }) => all + ours - reversed, 0n)));
});
