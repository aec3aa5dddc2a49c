import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { EMPTY, book, observeHistory, observeVerify } from '../../src/ledger/ledger.ts';
import { returnedByItself } from '../../src/ledger/position.ts';
import type { Booking } from '../../src/ledger/books.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { changesBetween, figuresOf, oursOf, type FigureChange } from '../../src/ledger/stored.ts';
import { openDatabase, type Database } from '../../src/platform/db.ts';
import { Secret } from '../../src/platform/secret.ts';
import { bookPages, bookTotals } from '../../src/reporting/books.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';

// The books by month: money leaves them in the month in which it left, whether a person decides
// about it or not.

const ZONE = 'Africa/Lagos';
/** The last two milliseconds of January in Lagos, and the first one of February. */
const PAID_AT = '2026-01-31T22:59:59.998Z';
const JANUARY = '2026-01-31T22:59:59.999Z';
const FEBRUARY = '2026-01-31T23:00:00Z';
const MARCH = '2026-03-15T12:00:00Z';

type Step = [at: string, what: string, change: (ledger: Ledger) => Ledger];
/** Books surplus that left by itself in the same change. */
const withReturned = (at: string, ledger: Ledger): Ledger =>
  book(ledger, { returned: returnedByItself(ledger) }, new Date(at));
const CHARGE = { outcome: 'paid' as const, id: 'c1', isHere: true, isDoubted: false };
/** Verify reports a charge and its balance. */
const reports = (at: string, received: bigint, balance = received): Step => [
  ...([at, 'reported by verify'] as const),
  (one) => withReturned(at, observeVerify(one, { ...CHARGE, received, balance })),
];
/** The history reports charges. Amounts below 0 are outflow. */
const lists = (at: string, ...amounts: [id: string, amount: bigint][]): Step => [
  ...([at, 'reported by the history'] as const),
  (one) => {
    const rows = amounts.map(([id, amount]) => {
      const [received, outflow] = amount > 0n ? [amount, 0n] : [0n, -amount];
      return { id, received, outflow, isReversed: false, isDoubted: false };
    });
    const reading = { at: new Date(at), isInReach: true, failed: null };
    return withReturned(at, observeHistory(one, rows, reading));
  },
];
const books = (at: string, what: string, booking: Booking): Step => [
  at,
  what,
  (one) => book(one, booking, new Date(at)),
];
const PAID = [reports(PAID_AT, 100n), books(PAID_AT, 'captured', { captured: 100n })];
const TAKEN = [...PAID, reports(FEBRUARY, 100n, 60n)];
const REFUNDED = books(JANUARY, 'refunded', { refunded: 10n });

const STORIES: [what: string, steps: Step[], movements: string[]][] = [
  ['paid', PAID, ['01 paid 100']],
  ['held', [reports(JANUARY, 100n)], ['01 held, held 100']],
  [
    'a refund, which verify then shows',
    [...PAID, REFUNDED, reports(MARCH, 100n, 90n)],
    ['01 paid 100', '01 refunded -10'],
  ],
  ['a chargeback without a decision', TAKEN, ['01 paid 100', '02 reversed -40']],
  [
    'a chargeback, written off',
    [...TAKEN, books(MARCH, 'decided', { writtenOff: 40n })],
    ['01 paid 100', '02 reversed -40', '03 reversed 40', '03 written off -40'],
  ],
  [
    'a chargeback, recorded as a refund',
    [...TAKEN, books(MARCH, 'refunded', { refunded: 40n })],
    ['01 paid 100', '02 reversed -40', '03 reversed 40', '03 refunded -40'],
  ],
  [
    'a refund larger than the chargeback',
    [...TAKEN, books(MARCH, 'refunded', { refunded: 50n })],
    ['01 paid 100', '02 reversed -40', '03 reversed 40', '03 refunded -50'],
  ],
  [
    'an off-provider refund beside a chargeback',
    [...TAKEN, books(MARCH, 'refunded', { refunded: 45n, offProvider: 45n })],
    ['01 paid 100', '02 reversed -40', '03 refunded -45'],
  ],
  [
    'a chargeback that came back',
    [...TAKEN, reports(MARCH, 100n)],
    ['01 paid 100', '02 reversed -40', '03 reversed 40'],
  ],
  [
    'held money that leaves by itself',
    [reports(JANUARY, 100n), reports(FEBRUARY, 100n, 0n)],
    ['01 held, held 100', '02 returned, held -100'],
  ],
  [
    'an outflow larger than the held money',
    [...PAID, reports(JANUARY, 130n), reports(FEBRUARY, 130n, 0n)],
    ['01 paid 100', '01 held, held 30', '02 reversed -100', '02 returned, held -30'],
  ],
  [
    'one charge leaves while another comes',
    [...PAID, lists(FEBRUARY, ['c1', 100n], ['c2', 100n], ['x1', -100n])],
    ['01 paid 100'],
  ],
  [
    'held money that is retained',
    [reports(JANUARY, 70n), books(MARCH, 'decided', { retained: 70n })],
    ['01 held, held 70', '03 kept 70, held -70'],
  ],
  [
    'too much, of which the surplus is refunded',
    [reports(JANUARY, 75n), books(MARCH, 'decided', { captured: 50n, returned: 25n })],
    ['01 held, held 75', '03 paid 50, held -50', '03 returned, held -25'],
  ],
  [
    'a refund that never left and is recovered',
    [...PAID, REFUNDED, books(MARCH, 'decided', { recovered: 10n })],
    ['01 paid 100', '01 refunded -10', '03 recovered 10'],
  ],
];

/**
 * Lines as version 1.0.0 wrote them. The upgrade added each `missing` line with the time of the
 * line that caused it.
 */
const OLD_LINES: [at: string, counter: string, amount: bigint][] = [
  [PAID_AT, 'came', 200n],
  [PAID_AT, 'earned', 100n],
  [JANUARY, 'kept', 30n],
  [JANUARY, 'sendBack', 70n],
  [FEBRUARY, 'went', 110n],
  [FEBRUARY, 'missing', 40n],
  [MARCH, 'lost', 15n],
  [MARCH, 'missing', -15n],
  ['2026-03-16T12:00:00Z', 'refunded', 35n],
  ['2026-03-16T12:00:00Z', 'missing', -25n],
];
const OLD_MOVEMENTS = [
  '01 paid 100',
  '01 held, held 100',
  '01 kept 30, held -30',
  '01 returned, held -70',
  '02 reversed -40',
  '03 written off -15',
  '03 reversed 15',
  '03 refunded -35',
  '03 reversed 25',
];
const OLD_OURS = 80n;
const OLD = 'written by version 1.0.0';

let clone: TestDatabase;
let database: Database;
const ledgers: Ledger[] = [];
beforeAll(async () => {
  clone = await cloneDatabase();
  database = openDatabase(new Secret(clone.url), { connections: 2 });
  for (const [what, steps] of STORIES) ledgers.push(await played(what, steps));
  await addPayment(OLD);
  for (const [at, counter, amount] of OLD_LINES) await addLine(OLD, at, 'x', { counter, amount });
});
afterAll(async () => {
  await database.close();
  await clone.drop();
});

async function addPayment(reference: string): Promise<void> {
  await clone.query(
    `INSERT INTO payments (reference, mode, amount, currency, status) VALUES ($1, 'test', 100, 'XOF', 'unmatched')`,
    [reference],
  );
}

async function addLine(reference: string, at: string, what: string, { counter, amount }: FigureChange): Promise<void> {
  await clone.query(
    `INSERT INTO journal (reference, what, "by", counter, amount, currency, at) VALUES ($1, $2, 'x', $3, $4, 'XOF', $5)`,
    [reference, what, counter, amount, at],
  );
}

/** All lines of one step have the same time. */
async function played(reference: string, steps: Step[]): Promise<Ledger> {
  await addPayment(reference);
  let ledger = EMPTY;
  for (const [at, what, change] of steps) {
    const after = change(ledger);
    for (const line of changesBetween(ledger, after)) await addLine(reference, at, what, line);
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

async function movementsOf(what: string): Promise<string[]> {
  const told = [];
  for (const month of MONTHS)
    for (const { reference, type, earned, held } of await rowsOf(month)) {
      if (reference !== what) continue;
      told.push(`${month} ${type}${earned === '0' ? '' : ` ${earned}`}${held === '0' ? '' : `, held ${held}`}`);
    }
  return told;
}

test.each(STORIES)('%s: each movement is booked in its month', async (what, _steps, movements) => {
  expect(await movementsOf(what)).toEqual(movements);
});

test('lines of version 1.0.0 count under their old names, and a loss counts in the month in which it left', async () => {
  expect(await movementsOf(OLD)).toEqual(OLD_MOVEMENTS);
});

test('the rows of all months add up to what is ours, and the rows of a month add up to its totals', async () => {
  const sum = (amounts: number[]) => amounts.reduce((all, one) => all + one, 0);
  let [earned, held] = [0, 0];
  for (const month of MONTHS) {
    const rows = await rowsOf(month);
    const [totals] = await bookTotals(database.prisma, 'test', `2026-${month}`, ZONE);
    const of = (type: string, figure: 'earned' | 'held' = 'earned') =>
      String(sum(rows.filter((row) => row.type === type).map((row) => Number(row[figure]))));
    held += sum(rows.map((row) => Number(row.held)));
    expect(totals).toEqual({
      currency: 'XOF',
      paid: of('paid'),
      kept: of('kept'),
      recovered: of('recovered'),
      refunded: of('refunded'),
      reversed: of('reversed'),
      written_off: of('written off'),
      earned: String(sum(rows.map((row) => Number(row.earned)))),
      returned: of('returned', 'held'),
      held: String(held),
    });
    earned += Number(totals?.earned);
  }
  const ours = ledgers.map((ledger) => oursOf(ledger, figuresOf(ledger).missing));
  expect(earned).toBe(Number(ours.reduce((all, one) => all + one, OLD_OURS)));
});
