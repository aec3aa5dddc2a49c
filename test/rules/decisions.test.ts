import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { classify, type CaseClass } from '../../src/cases/classes.ts';
import { DECISIONS, effectOf, type Effect, type CaseSituation } from '../../src/cases/decisions.ts';
import { allocatedOf } from '../../src/ledger/books.ts';
import { acceptDoubts, EMPTY, observeHistory, observeVerify } from '../../src/ledger/ledger.ts';
import { positionOf, returnedByItself } from '../../src/ledger/position.ts';
import type { Booking } from '../../src/ledger/books.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { HistoryRow } from '../../src/ledger/history.ts';
import type { Answer } from '../../src/ledger/sources.ts';
import { booked, dayOf, ledgerAfter, lives } from './random-ledgers.ts';

const OPEN = { amount: 85n, due: 85n, isPaid: false, isEnded: false, isOurCurrency: true };
const ENDED = { ...OPEN, isEnded: true };
const PAID = { ...OPEN, isPaid: true };
/** An order with a part payment of 30 by another payment. */
const REST = { ...OPEN, due: 55n };
const ABROAD = { ...OPEN, isOurCurrency: false };

const LAG_MIN = 60;
const CLEAR: Omit<Answer, 'balance'> = { outcome: 'paid', id: 'c1', isHere: true, received: 85n, isDoubted: false };
const verified = (ledger: Ledger, received: bigint, gone = 0n, id = 'c1'): Ledger =>
  observeVerify(ledger, { ...CLEAR, id, received, balance: received - gone });
/** @param amounts of rows without ids; a negative amount is an outflow */
function read(ledger: Ledger, ...amounts: bigint[]): Ledger {
  const rows = amounts.map((amount): HistoryRow => {
    const about = { id: null, isReversed: false, isDoubted: false };
    return { ...about, received: amount > 0n ? amount : 0n, outflow: amount < 0n ? -amount : 0n };
  });
  return observeHistory(ledger, rows, { at: dayOf(2), isInReach: true, failed: null });
}
function withBooks(ledger: Ledger, booking: Booking): Ledger {
  const after = booked(ledger, booking, dayOf(1));
  if (after === null) throw new Error('this booking is refused');
  return after;
}

type Given = { class: CaseClass; ledger: Ledger; held?: bigint; missing?: bigint; balance?: bigint } & Partial<
  Pick<CaseSituation, 'order'>
>;
/** @param words as typed: `refund --elsewhere` */
function decide(words: string, { class: name, ledger, held, missing, balance, order = OPEN }: Given): Effect | string {
  const [as, elsewhere] = words.split(' ') as [CaseSituation['as'], string?];
  const position = positionOf(ledger, LAG_MIN);
  const about = { class: name, held: held ?? position.held, missing: missing ?? position.missing };
  const { received, outflow } = ledger.verify;
  const verifyBalance = balance ?? received - outflow;
  return effectOf({ as, elsewhere: elsewhere !== undefined, case: about, ledger, order, verifyBalance });
}

const LESS: Given = { class: 'underpaid', ledger: verified(EMPTY, 10n) };
const MORE: Given = { class: 'overpaid', ledger: verified(EMPTY, 100n) };
const SECOND: Given = { class: 'duplicate_payment', ledger: verified(EMPTY, 85n), order: PAID };
const CAPTURED = withBooks(verified(EMPTY, 85n), { captured: 85n });
const GONE: Given = { class: 'reversed', ledger: verified(CAPTURED, 85n, 40n), order: PAID };
const refunded = (amount: bigint, more: Booking = {}): Ledger => withBooks(CAPTURED, { refunded: amount, ...more });
const BY_BANK = { ...GONE, ledger: verified(refunded(60n, { offProvider: 60n }), 85n, 40n) };
const LOST_MORE = { ...GONE, ledger: verified(withBooks(CAPTURED, { writtenOff: 60n }), 85n, 85n) };
// A second charge was retained, and both charges went out after a refund of the first.
const KEPT = withBooks(verified(refunded(60n), 85n, 0n, 'c2'), { retained: 85n });
const BOTH_GONE = { ...GONE, ledger: verified(verified(KEPT, 85n, 85n), 85n, 85n, 'c2') };
const GONE_TWICE = { ...GONE, ledger: read(refunded(85n), 85n, -85n, -85n) };
const BOTH_LACK: Given = { class: 'reversed', ledger: read(verified(CAPTURED, 60n), 50n), order: PAID };
const NOT_SHOWN: Given = { class: 'refund_not_shown', ledger: refunded(20n), missing: 20n, order: PAID };
const VERIFY_LACKS: Given = { class: 'contradicted', ledger: verified(CAPTURED, 60n), order: PAID };
const ABSENT: Given = { class: 'absent_from_history', ledger: read(CAPTURED), order: PAID };
const IN_HISTORY: Given = { class: 'contradicted', ledger: read(EMPTY, 85n), balance: 0n };

test.each<[string, string, Given, Booking, 'pays' | 'ends' | null]>([
  ['accept', 'too little money', LESS, { captured: 10n }, 'pays'],
  ['accept', 'too much money', MORE, { captured: 100n }, 'pays'],
  [
    'accept',
    'money that the history leaves',
    { ...LESS, ledger: read(LESS.ledger, 30n, -20n) },
    { captured: 10n },
    'pays',
  ],
  ['accept', 'the rest, and too little of it', { ...LESS, order: REST }, { captured: 10n }, 'pays'],
  ['refund', 'too much money for the rest', { ...MORE, order: REST }, { returned: 45n, captured: 55n }, 'pays'],
  ['ask-rest', 'too little money', LESS, {}, null],
  ['ask-rest', 'too little of the rest', { ...LESS, order: REST }, {}, null],
  ['refund', 'too little money', LESS, { returned: 10n }, 'ends'],
  ['refund', 'a second payment', SECOND, { returned: 85n }, 'ends'],
  ['refund', 'too much money', MORE, { returned: 15n, captured: 85n }, 'pays'],
  ['refund', 'too much money, of which verify shows less', { ...MORE, balance: 84n }, { returned: 100n }, 'ends'],
  [
    'refund',
    'too much money, of which the history leaves less',
    { ...MORE, ledger: read(MORE.ledger, 100n, -16n) },
    { returned: 100n },
    'ends',
  ],
  ['refund', 'too much money for an ended order', { ...MORE, order: ENDED }, { returned: 100n }, 'ends'],
  ['refund', 'money without an order', { ...LESS, order: null }, { returned: 10n }, 'ends'],
  ['refund --elsewhere', 'too little money', LESS, { returned: 10n, offProvider: 10n }, 'ends'],
  ['refund --elsewhere', 'too much money', MORE, { returned: 15n, offProvider: 15n, captured: 85n }, 'pays'],
  ['keep', 'too little money', LESS, { retained: 10n }, 'ends'],
  ['keep', 'too much money', MORE, { retained: 100n }, 'ends'],
  ['refund', 'reversed money', GONE, { refunded: 40n }, null],
  ['refund', 'more reversed money than was captured', BOTH_GONE, { refunded: 25n }, null],
  ['write-off', 'reversed money', GONE, { writtenOff: 40n }, null],
  // Money that was refunded by bank can still be lost at the provider.
  ['write-off', 'reversed money after a refund by bank', BY_BANK, { writtenOff: 40n }, null],
  ['write-off', 'more reversed money than was written off before', LOST_MORE, { writtenOff: 25n }, null],
  ['write-off', 'a chargeback after a whole refund', GONE_TWICE, { writtenOff: 85n }, null],
  ['write-off', 'money that both sources lack: what both lack', BOTH_LACK, { writtenOff: 25n }, null],
  ['keep', 'a refund that is not shown', NOT_SHOWN, { recovered: 20n }, null],
  ['refund --elsewhere', 'a refund that is not shown', NOT_SHOWN, { offProvider: 20n }, null],
  ['explain', 'reversed money', GONE, {}, null],
  ['explain', 'an unknown word', { class: 'unknown_status', ledger: EMPTY }, {}, null],
  ['explain', 'money that only the history reports', IN_HISTORY, {}, null],
  ['explain', 'money that verify lacks', VERIFY_LACKS, {}, null],
])('%s of %s is allowed and booked', (words, _, given, booking, order) => {
  const effect = decide(words, given);
  if (typeof effect === 'string') throw new Error(effect);
  const amounts = Object.entries(effect.booking).filter(([, amount]) => amount !== 0n);
  const { marksPaid, endsOrder } = effect;
  expect([Object.fromEntries(amounts), marksPaid, endsOrder]).toEqual([booking, order === 'pays', order === 'ends']);
});

test.each<[string, string, Given]>([
  ['accept', 'a second payment', SECOND],
  ['accept', 'money for an ended order', { ...LESS, order: ENDED }],
  ['accept', 'money in another currency', { ...LESS, order: ABROAD }],
  ['accept', 'money without an order', { ...LESS, order: null }],
  ['accept', 'money of which verify shows less', { ...LESS, balance: 9n }],
  ['accept', 'money of which the history leaves less', { ...LESS, ledger: read(LESS.ledger, 10n, -1n) }],
  ['accept', 'reversed money', GONE],
  ['ask-rest', 'too much money', MORE],
  ['ask-rest', 'a second payment', SECOND],
  ['ask-rest', 'money for an ended order', { ...LESS, order: ENDED }],
  ['ask-rest', 'money without an order', { ...LESS, order: null }],
  ['ask-rest', 'money of which verify shows less', { ...LESS, balance: 9n }],
  ['ask-rest', 'money of which the history leaves less', { ...LESS, ledger: read(LESS.ledger, 10n, -1n) }],
  ['accept --elsewhere', 'too little money', LESS],
  ['keep --elsewhere', 'too little money', LESS],
  ['refund --elsewhere', 'reversed money', GONE],
  ['refund', 'money that was refunded whole', GONE_TWICE],
  ['keep', 'reversed money', GONE],
  ...['accept', 'refund', 'refund --elsewhere', 'keep', 'write-off'].flatMap((words): [string, string, Given][] => [
    [words, 'money that verify lacks', VERIFY_LACKS],
    [words, 'money that the history lacks', ABSENT],
  ]),
  ['accept', 'a refund that is not shown', NOT_SHOWN],
  ['refund', 'a refund that is not shown', NOT_SHOWN],
  ['write-off', 'a refund that is not shown', NOT_SHOWN],
  ['write-off', 'too little money', LESS],
  ['explain', 'too little money', LESS],
  ['explain', 'a second payment', SECOND],
  ['explain', 'money that verify shows, too', { ...IN_HISTORY, balance: 1n }],
])('%s of %s is refused with a reason', (words, _, given) => {
  expect(decide(words, given)).toEqual(expect.stringMatching(/^[a-z].{10,}[a-z]$/));
});

/** A ledger, its order, and what a person may know about both. */
const anything = fc.record({
  steps: lives,
  order: fc.constantFrom(OPEN, ENDED, PAID, ABROAD, null),
  isInProof: fc.boolean(),
  isDecided: fc.boolean(),
  isOutflowLate: fc.boolean(),
  isAboutMoney: fc.boolean(),
  as: fc.constantFrom(...DECISIONS),
  elsewhere: fc.boolean(),
});
type Anything = typeof anything extends fc.Arbitrary<infer One> ? One : never;

/**
 * Each case that a person may decide, in a ledger in which surplus that left by itself is booked.
 */
function situationsOf({ steps, order, isAboutMoney, as, elsewhere, ...facts }: Anything): CaseSituation[] {
  const ledger = withReturned(ledgerAfter(steps), steps.length);
  // The newest answer is about the charge that verify reported last, or about no money.
  const newest = isAboutMoney ? ledger.verify.transactions.at(-1) : undefined;
  const balance = newest === undefined ? 0n : newest.received - newest.outflow;
  const findings = classify({
    ...facts,
    position: positionOf(ledger, LAG_MIN),
    reported: ledger,
    isInHistory: ledger.history.transactions.length > 0,
    asked: OPEN.amount,
    order: order && { ...order, currency: order.isOurCurrency ? 'NGN' : 'USD' },
    currency: 'NGN',
    verify: { outcome: 'paid', word: 'SUCCESS', balance, doubt: null },
    isUnreadable: false,
  });
  return findings.map((one) => ({ as, elsewhere, case: one, ledger, order, verifyBalance: balance }));
}

/** @throws {Error} if the ledger's rules refuse the booking */
function withBooksAt(ledger: Ledger, booking: Booking, place: number): Ledger {
  const after = booked(ledger, booking, dayOf(place));
  if (after === null) throw new Error('the rules of money refuse it');
  return after;
}

/** Books surplus that left by itself, as the program does after every change. */
const withReturned = (ledger: Ledger, place: number): Ledger =>
  withBooksAt(ledger, { returned: returnedByItself(ledger) }, place);

/** @throws {Error} that names the rule that an allowed decision broke */
function hold({ as, elsewhere, ledger, order, verifyBalance }: CaseSituation, effect: Effect, place: number): void {
  const demand = (promise: string, holds: boolean): void => {
    if (!holds) throw new Error(promise);
  };
  const { booking, marksPaid, endsOrder } = effect;
  // Accepting the money also accepts the doubts about it.
  const known = as === 'accept' ? acceptDoubts(ledger) : ledger;
  const after = withReturned(withBooksAt(known, booking, place), place);
  const [old, now] = [positionOf(ledger, LAG_MIN), positionOf(after, LAG_MIN)];
  // While nothing is booked, surplus that left by itself is not booked either.
  demand('no more is held than before', allocatedOf(ledger.books) === 0n || now.held <= old.held);
  const makesGood = as === 'refund' || as === 'write-off' || as === 'accept';
  demand('no more is missing than before', !makesGood || elsewhere || now.missing <= old.missing);
  demand('only what pays an order is captured', (booking.captured ?? 0n) > 0n === marksPaid);
  const captured = booking.captured ?? 0n;
  const isPayable = order === OPEN && !endsOrder && verifyBalance >= captured;
  demand('only an open order is paid, by what verify shows', !marksPaid || isPayable);
}

test('every allowed decision satisfies the constraints of the database, and does not increase held money', () => {
  let allowed = 0;
  const property = fc.property(anything, (given) => {
    for (const situation of situationsOf(given)) {
      const effect = effectOf(situation);
      if (typeof effect === 'string') continue;
      allowed += 1;
      hold(situation, effect, given.steps.length);
    }
  });
  fc.assert(property, { numRuns: 25_000, seed: 37 });
  expect(allowed).toBeGreaterThan(2_000);
});

test('a refund of held money leaves nothing held, even if a part of the charge left before', () => {
  const given: Given = { class: 'underpaid', ledger: verified(EMPTY, 60n, 25n) };
  const effect = decide('refund', given);
  if (typeof effect === 'string') throw new Error(effect);
  const after = withReturned(withBooksAt(given.ledger, effect.booking, 2), 2);
  expect(positionOf(after, LAG_MIN)).toMatchObject({ expected: 0n, held: 0n, missing: 0n, notShown: 35n });
});

test('money of an unpaid order that both sources report as received and gone is not missing', () => {
  const isBeyond = { at: dayOf(2), isInReach: false, failed: null };
  const row = { id: null, received: 0n, outflow: 25n, isReversed: false, isDoubted: false };
  const ledger = observeHistory(verified(EMPTY, 25n, 25n), [row], isBeyond);
  expect(positionOf(ledger, LAG_MIN)).toMatchObject({ expected: 0n, held: 0n, missing: 0n });
});
