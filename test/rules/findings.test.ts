import { expect, test } from '@jest/globals';
import type { HistoryRow } from '../../src/ledger/history.ts';
import type { Answer } from '../../src/ledger/sources.ts';
import { LedgerShop } from './ledger-shop.ts';

const DAY_MS = 86_400_000;
const START = Date.parse('2026-03-01T12:00:00Z');

/** A shop whose steps are a day apart by default. */
class Steps {
  readonly shop = new LedgerShop(8500n);
  private now = START;

  private later(days: number): Date {
    this.now += days * DAY_MS;
    return new Date(this.now);
  }

  /** @param left the balance of a charge of 8500 */
  verify(outcome: Answer['outcome'], left = 8500n, id = 'c1', days = 1): this {
    this.shop.verify({ outcome, id, isHere: true, received: 8500n, balance: left, isDoubted: false }, this.later(days));
    return this;
  }

  /** @param rows ids and amounts; a negative amount is an outflow */
  history(rows: [id: string | null, amount: bigint][], days = 1): this {
    const read = rows.map(([id, amount]): HistoryRow => {
      const isOutflow = amount < 0n;
      const about = { id, isReversed: false, isDoubted: false };
      return { ...about, received: isOutflow ? 0n : amount, outflow: isOutflow ? -amount : 0n };
    });
    this.shop.history(read, this.later(days), true);
    return this;
  }

  explain(): this {
    expect(this.shop.decide('explain', false, this.later(0))).toBeNull();
    expect(this.shop.openCase()).toBeUndefined();
    return this;
  }

  open(): string | undefined {
    return this.shop.openCase()?.class;
  }
}

const MINUTE = 1 / 1_440;

test('if both sources agree, the lag does not matter: a charge that both call failed is reversed immediately', () => {
  expect(new Steps().verify('paid').history([], MINUTE).verify('failed', 0n, 'c1', MINUTE).open()).toBe('reversed');
});

test('a history that was never read, or an answer that proves nothing, does not confirm a loss', () => {
  expect(new Steps().verify('paid').verify('failed', 0n).open()).toBe('contradicted');
  expect(new Steps().verify('paid').verify('unproven').open()).toBe('contradicted');
  const isAbsent = new Steps().verify('paid').history([], MINUTE);
  expect(isAbsent.verify('unproven', 8500n, 'c1', MINUTE).open()).toBe('contradicted');
});

test('a charge that only the history lacks is absent without a row, and contradicted with another row', () => {
  const steps = new Steps().verify('paid').history([]);
  expect(steps.open()).toBe('absent_from_history');
  expect(steps.history([['c2', 2500n]]).open()).toBe('contradicted');
});

test('held money of exactly the price is contradicted if the history reports an outflow', () => {
  const steps = new Steps().history([
    ['c1', 8500n],
    [null, -2500n],
  ]);
  expect(steps.verify('paid').open()).toBe('contradicted');
});

test('a refund that no source shows becomes a case after ten days', () => {
  const steps = new Steps().verify('paid');
  steps.shop.refund(2500n, false, new Date(START + DAY_MS));
  expect(steps.history([['c1', 8500n]], 9.9).open()).toBeUndefined();
  expect(steps.history([['c1', 8500n]], 0.2).open()).toBe('refund_not_shown');
});

test.each<[string, (steps: Steps) => Steps]>([
  ['all of it is gone', (steps) => steps.verify('reversed', 0n)],
  ['nothing is certain any more', (steps) => steps.verify('unproven')],
  [
    'the history reports a chargeback, too',
    (steps) =>
      steps.history([
        ['c1', 8500n],
        ['x1', -8500n],
      ]),
  ],
])('an explanation of a part does not cover the rest: %s', (_, more) => {
  const steps = new Steps().verify('paid').verify('paid', 6000n).explain();
  expect(more(steps).open()).toBeDefined();
});

test('an explained chargeback does not hide another one of the same amount', () => {
  const read = (id: string): [string, bigint][] => [
    ['c1', 8500n],
    [id, -8500n],
  ];
  const steps = new Steps().verify('paid').history(read('x1')).explain();
  expect(steps.history(read('x1')).open()).toBeUndefined();
  expect(steps.history(read('x2')).open()).toBe('reversed');
});

test('an explained case stays closed while its sources report the same, and can open again after it has ended', () => {
  const steps = new Steps().verify('paid').verify('reversed', 0n).explain();
  expect(steps.verify('reversed', 0n).open()).toBeUndefined();
  expect(steps.verify('paid').verify('reversed', 0n).open()).toBe('reversed');
});
