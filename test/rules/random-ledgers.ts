import fc from 'fast-check';
import { BOOK_FIGURES } from '../../src/ledger/books.ts';
import { EMPTY, book, observeHistory, observeVerify } from '../../src/ledger/ledger.ts';
import type { Booking } from '../../src/ledger/books.ts';
import type { Ledger, Reading } from '../../src/ledger/ledger.ts';
import type { HistoryRow } from '../../src/ledger/history.ts';
import type { Answer } from '../../src/ledger/sources.ts';

/**
 * Random sequences of reports and bookings, as adapters may produce them. The sources need not
 * agree.
 */
export type Step =
  | { what: 'verify'; answer: Answer }
  | { what: 'history'; rows: HistoryRow[]; reading: Omit<Reading, 'at'> }
  | { what: 'book'; booking: Booking };

// There are few amounts and ids, so that equal ones are frequent.
const amount = fc.constantFrom(25n, 60n, 85n);
/** A part of the amount may be gone. */
const charge = fc.tuple(amount, fc.constantFrom(0n, 25n, 85n)).map(([received, gone]) => {
  return { received, outflow: gone < received ? gone : received };
});
const id = fc.constantFrom(null, 'c1', 'c2');

const withMoney = fc
  .record({ outcome: fc.constantFrom('paid' as const, 'reversed' as const), id, charge, isHere: fc.boolean() })
  .map(({ charge: { received, outflow }, ...more }) => ({ ...more, received, balance: received - outflow }));
const withoutMoney = fc.record({
  outcome: fc.constantFrom('reversed' as const, 'failed' as const, 'expired' as const, 'unproven' as const),
  id,
  isHere: fc.constant(true),
  received: fc.constant(null),
  balance: fc.constant(0n),
});
export const answers: fc.Arbitrary<Answer> = fc
  .tuple(fc.oneof(withMoney, withoutMoney), fc.boolean())
  .map(([answer, isDoubted]) => ({ ...answer, isDoubted }));

const ROW = { isReversed: false, isFailed: false, isDoubted: false };
const row: fc.Arbitrary<HistoryRow> = fc.oneof(
  fc
    .record({ id, charge, isDoubted: fc.boolean() })
    .map(({ charge: money, ...more }) => ({ ...ROW, ...more, ...money, isReversed: money.received === money.outflow })),
  fc
    .record({ id: fc.constantFrom(null, 'c1', 'x1'), outflow: amount })
    .map((outflow) => ({ ...ROW, ...outflow, received: 0n })),
  fc.record({ id, isFailed: fc.boolean() }).map((empty) => ({ ...ROW, ...empty, received: 0n, outflow: 0n })),
);
export const rowsOfHistory = fc.array(row, { maxLength: 3 });
export const bookings: fc.Arbitrary<Booking> = fc.dictionary(fc.constantFrom(...BOOK_FIGURES), amount, { maxKeys: 3 });

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ what: fc.constant('verify' as const), answer: answers }),
  fc.record({
    what: fc.constant('history' as const),
    rows: rowsOfHistory,
    reading: fc.record({
      isInReach: fc.boolean(),
      failed: fc.option(fc.record({ id: fc.constantFrom(null, 'c1', 'c2') }), { nil: null }),
    }),
  }),
  fc.record({ what: fc.constant('book' as const), booking: bookings }),
);
export const lives = fc.array(step, { maxLength: 8 });

const DAY_MS = 86_400_000;
/** Steps are a day apart. */
export const dayOf = (place: number): Date => new Date(Date.parse('2026-03-01T12:00:00Z') + place * DAY_MS);

/** The ledger after a step. A refused booking changes nothing. */
export function take(ledger: Ledger, one: Step, at: Date): Ledger {
  if (one.what === 'verify') return observeVerify(ledger, one.answer);
  if (one.what === 'history') return observeHistory(ledger, one.rows, { ...one.reading, at });
  return booked(ledger, one.booking, at) ?? ledger;
}

/** The ledger with a booking. Null if the booking is refused. */
export function booked(ledger: Ledger, booking: Booking, at: Date): Ledger | null {
  try {
    return book(ledger, booking, at);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

export function ledgerAfter(steps: readonly Step[]): Ledger {
  return steps.reduce((ledger, one, place) => take(ledger, one, dayOf(place)), EMPTY);
}
