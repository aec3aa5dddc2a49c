import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { compileFunction } from 'node:vm';
import { BOOK_FIGURES } from '../../src/ledger/books.ts';
import { EMPTY, observeHistory, observeVerify } from '../../src/ledger/ledger.ts';
import { positionOf } from '../../src/ledger/position.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { columnsOf, ledgerOf } from '../../src/ledger/stored.ts';
import type { HistoryRow } from '../../src/ledger/history.ts';
import type { Answer } from '../../src/ledger/sources.ts';
import { answers, booked, bookings, dayOf, ledgerAfter, lives, rowsOfHistory, take } from './random-ledgers.ts';
import type { Step } from './random-ledgers.ts';

const MIGRATION = new URL('../../prisma/migrations/20261129000000_version_1_1/migration.sql', import.meta.url);
const RUNS = { numRuns: 5_000, seed: 36 };

// Like PostgreSQL's functions, for values that are not null.
const least = (...all: bigint[]): bigint => all.reduce((a, b) => (b < a ? b : a));
const greatest = (...all: bigint[]): bigint => all.reduce((a, b) => (b > a ? b : a));

type Row = ReturnType<typeof columnsOf>;
type Check = (m: Row, ...functions: unknown[]) => boolean;
/**
 * The CHECKs of the table `ledgers`, taken from the migration. SQL of this kind is almost
 * JavaScript.
 */
const SQL = readFileSync(MIGRATION, 'utf8').replace(/\s+/g, ' ');
const WRITTEN = /CONSTRAINT "(ledgers_\w+)" CHECK \((.*?)\)(?=, CONSTRAINT| \);)/g;
const CHECKS = [...SQL.matchAll(WRITTEN)].map(([, name = '', sql = '']): [string, Check] => {
  const named = sql.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()).replace(/"(\w+)"/g, 'm.$1');
  const code = named.replace(/\b0\b/g, '0n');
  return [name, compileFunction(`return ${code}`, ['m', 'least', 'greatest']) as Check];
});

/** The names of the CHECKs that a ledger violates. */
function brokenBy(ledger: Ledger): string[] {
  const row = columnsOf(ledger);
  return CHECKS.filter(([, holds]) => !holds(row, least, greatest)).map(([name]) => name);
}

test('the migration has four CHECKs of a ledger, and each of them rejects something', () => {
  expect(CHECKS).toHaveLength(4);
  const bookings = [{ captured: -1n }, { captured: 1n }, { refunded: 1n }, { offProvider: 1n }];
  const broken = bookings.flatMap((booking) => brokenBy({ ...EMPTY, books: { ...EMPTY.books, ...booking } }));
  expect(new Set(broken)).toEqual(new Set(CHECKS.map(([name]) => name)));
});

test('no report and no booking leads to a ledger that the database rejects', () => {
  const property = fc.property(lives, (steps) => {
    expect(brokenBy(ledgerAfter(steps))).toEqual([]);
  });
  fc.assert(property, RUNS);
});

test('a booking is refused if and only if the database rejects its sums', () => {
  const property = fc.property(lives, bookings, (steps, booking) => {
    const before = ledgerAfter(steps);
    const sums = BOOK_FIGURES.map((figure) => [figure, before.books[figure] + (booking[figure] ?? 0n)]);
    const books = Object.fromEntries(sums) as Ledger['books'];
    const after = booked(before, booking, dayOf(steps.length));
    expect(after === null).toBe(brokenBy({ ...before, books }).length > 0);
    if (after !== null) expect(after.books).toEqual(books);
  });
  fc.assert(property, RUNS);
});

test('a negative booking is refused', () => {
  const ledger = ledgerAfter([]);
  for (const figure of BOOK_FIGURES) expect(booked(ledger, { [figure]: -1n }, dayOf(0))).toBeNull();
});

test('the figures of the books only grow, and only by a booking', () => {
  const property = fc.property(lives, (steps) => {
    steps.reduce((before, step, place) => {
      const after = take(before, step, dayOf(place));
      const grown = BOOK_FIGURES.filter((figure) => after.books[figure] !== before.books[figure]);
      const isGrowth = grown.every((figure) => step.what === 'book' && after.books[figure] > before.books[figure]);
      if (!isGrowth) throw new Error(`${step.what} changes ${grown.join()}`);
      return after;
    }, EMPTY);
  });
  fc.assert(property, RUNS);
});

test('after the lag, held minus missing plus not shown equals the history’s balance minus the expected amount', () => {
  const property = fc.property(lives, rowsOfHistory, (steps, rows) => {
    const certain = rows.map((row) => ({ ...row, isDoubted: false }));
    const reading = { at: dayOf(steps.length), isInReach: true, failed: null };
    const ledger = observeHistory(ledgerAfter(steps), certain, reading);
    const { expected, history } = positionOf(ledger, 60);
    const balance = ledger.history.received - ledger.history.outflow;
    expect(history.held - history.missing + history.notShown).toBe(balance - expected);
    expect(history.held === 0n || history.missing === 0n).toBe(true);
  });
  fc.assert(property, RUNS);
});

test('a stored ledger is read back unchanged', () => {
  const property = fc.property(lives, (steps) => {
    const ledger = ledgerAfter(steps);
    const { verifyTransactions, historyTransactions, ...columns } = columnsOf(ledger);
    const json = JSON.stringify({ verifyTransactions, historyTransactions });
    const read = JSON.parse(json) as Pick<Row, 'verifyTransactions' | 'historyTransactions'>;
    expect(ledgerOf({ ...columns, ...read })).toEqual(ledger);
  });
  fc.assert(property, RUNS);
});

const CHARGE = { outcome: 'paid' as const, isHere: true, received: 60n, balance: 60n, isDoubted: false };
const reports = (id: string): Step => ({ what: 'verify', answer: { ...CHARGE, id } });
const reversed = (id: string | null, amount = 60n): HistoryRow => {
  return { id, received: amount, outflow: amount, isReversed: true, isDoubted: false };
};
const refund: HistoryRow = { id: 'c1', received: 0n, outflow: 60n, isReversed: false, isDoubted: false };
const lists = (...rows: HistoryRow[]): Step => {
  return { what: 'history', rows, reading: { isInReach: true, failed: null } };
};

test('a repeated answer changes nothing', () => {
  const property = fc.property(lives, answers, (steps, answer) => {
    const once = observeVerify(ledgerAfter(steps), answer);
    expect(observeVerify(once, answer)).toEqual(once);
  });
  // The reversal of a known charge is in another currency.
  const examples: [Step[], Answer][] = [
    [[reports('c1'), reports('c2')], { ...CHARGE, outcome: 'reversed', id: 'c1', isHere: false, balance: 0n }],
  ];
  fc.assert(property, { ...RUNS, examples });
});

/** Within one history, all rows have ids or none has, and a charge keeps its amount. */
function isPlausible({ verify, history }: Ledger, rows: readonly HistoryRow[]): boolean {
  const isMixed = new Set(rows.map(({ id }) => id === null)).size > 1;
  const charges = [...verify.transactions, ...history.transactions, ...rows].filter(({ received }) => received > 0n);
  const amounts = charges.map(({ id, received }) => `${id ?? ''} ${received}`);
  return !isMixed && new Set(amounts).size === new Set(charges.map(({ id }) => id)).size;
}

test('a repeated reading of the history changes nothing', () => {
  const property = fc.property(lives, rowsOfHistory, fc.boolean(), fc.boolean(), (steps, rows, isInReach, isFailed) => {
    const before = ledgerAfter(steps);
    fc.pre(isPlausible(before, rows));
    expectSameTwice(before, rows, isInReach, isFailed, steps.length);
  });
  fc.assert(property, RUNS);
});

function expectSameTwice(
  before: Ledger,
  rows: readonly HistoryRow[],
  isInReach: boolean,
  isFailed: boolean,
  day: number,
): void {
  const reading = { at: dayOf(day), isInReach, failed: isFailed ? { id: null } : null };
  const once = observeHistory(before, rows, reading);
  expect(observeHistory(once, rows, reading)).toEqual(once);
}

test.each<[string, Step[], HistoryRow[], boolean]>([
  ['a lone reversed row beyond reach', [], [reversed(null)], false],
  ['a smaller reversed row of a charge that verify reports', [reports('c1')], [reversed('c1', 25n)], false],
  ['an outflow that names a charge of the last reading', [lists(reversed('c1'))], [refund], true],
  ['two such outflows', [lists(reversed('c1'))], [refund, refund], true],
])('%s changes nothing when it is read again', (_what, steps, rows, isInReach) => {
  expectSameTwice(ledgerAfter(steps), rows, isInReach, false, steps.length);
});
