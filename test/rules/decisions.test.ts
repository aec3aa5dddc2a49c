import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { CaseClass } from '../../src/cases/classes.ts';
import { DECISIONS, effectOf, type Effect, type Situation } from '../../src/cases/decisions.ts';
import { EMPTY, grow, standingOf, type Counter, type Ledger } from '../../src/payments/money.ts';

const OPEN = { amount: 85n, isReleased: false, isEnded: false, isOurCurrency: true };
const ENDED = { ...OPEN, isEnded: true };
const RELEASED = { ...OPEN, isReleased: true };
const ABROAD = { ...OPEN, isOurCurrency: false };

type Given = { class: CaseClass; money: Partial<Ledger>; held?: bigint; missing?: bigint; shows?: bigint } & Partial<
  Pick<Situation, 'order' | 'isReleased'>
>;
/** By words as they are typed: `refund --elsewhere`. */
function decide(words: string, { class: name, money, held, missing = 0n, shows, ...more }: Given): Effect | string {
  const [as, elsewhere] = words.split(' ') as [Situation['as'], string?];
  const ledger = { ...EMPTY, ...money };
  const standing = standingOf(ledger);
  const seen = { case: { class: name, held: held ?? standing.held, missing }, money: ledger, standing };
  const about = { order: OPEN, isReleased: false, shows: shows ?? ledger.came - ledger.went, ...more };
  return effectOf({ as, elsewhere: elsewhere !== undefined, ...seen, ...about });
}

const LESS: Given = { class: 'underpaid', money: { came: 10n } };
const MORE: Given = { class: 'overpaid', money: { came: 100n } };
const SECOND: Given = { class: 'duplicate_payment', money: { came: 85n }, order: RELEASED };
const PAID = { order: RELEASED, isReleased: true };
const GONE: Given = { class: 'reversed', money: { came: 85n, went: 40n, earned: 85n }, missing: 40n, ...PAID };
const TWICE = { came: 170n, went: 85n, earned: 85n, sendBack: 85n, byItself: 85n };
const NOT_SHOWN: Given = { class: 'refund_not_shown', money: { came: 85n, earned: 85n, refunded: 20n }, ...PAID };
const BACK = { ...NOT_SHOWN, money: { came: 170n, earned: 85n, sendBack: 85n, refunded: 20n } };
// A second charge that waits below what is missing: nobody has seen it yet.
const HIDDEN: Given = { class: 'contradicted', money: { came: 170n, earned: 85n }, held: 0n, missing: 85n, ...PAID };
const LISTED: Given = { class: 'contradicted', money: { came: 85n }, shows: 0n };

test.each<[string, Given, Partial<Record<Counter, bigint>>, releases: bigint | 'ends' | null]>([
  ['accept', LESS, { earned: 10n }, 10n],
  ['accept', MORE, { earned: 100n }, 100n],
  ['refund', LESS, { sendBack: 10n }, 'ends'],
  ['refund', SECOND, { sendBack: 85n }, 'ends'],
  ['refund', MORE, { sendBack: 15n, earned: 85n }, 85n],
  ['refund', { ...MORE, shows: 84n }, { sendBack: 100n }, 'ends'],
  ['refund', { ...MORE, order: ENDED }, { sendBack: 100n }, 'ends'],
  ['refund', { ...LESS, order: null }, { sendBack: 10n }, 'ends'],
  ['refund --elsewhere', LESS, { sendBack: 10n, sendBackElsewhere: 10n }, 'ends'],
  ['refund --elsewhere', MORE, { sendBack: 15n, sendBackElsewhere: 15n, earned: 85n }, 85n],
  ['keep', LESS, { kept: 10n }, 'ends'],
  ['keep', MORE, { kept: 100n }, 'ends'],
  ['refund', GONE, { refunded: 40n }, null],
  ['refund', { ...GONE, money: { ...GONE.money, refunded: 60n } }, { refunded: 25n }, null],
  ['write-off', GONE, { lost: 40n }, null],
  // What was refunded by a bank is still ours to lose at the service.
  ['write-off', { ...GONE, money: { ...GONE.money, refunded: 60n, refundedElsewhere: 60n } }, { lost: 40n }, null],
  ['write-off', { ...GONE, money: { ...GONE.money, lost: 60n } }, { lost: 25n }, null],
  ['refund', NOT_SHOWN, { came: 20n, went: 20n, sendBack: 20n }, null],
  ['keep', NOT_SHOWN, { came: 20n, went: 20n, kept: 20n }, null],
  ['refund --elsewhere', NOT_SHOWN, { sendBackElsewhere: 0n, refundedElsewhere: 20n }, null],
  ['refund --elsewhere', BACK, { sendBackElsewhere: 85n, refundedElsewhere: 20n }, null],
  ['explain', GONE, {}, null],
  ['explain', { class: 'unknown_status', money: {} }, {}, null],
  ['explain', LISTED, {}, null],
  ['explain', HIDDEN, {}, null],
])('%s of %j does %j, and releases %s', (words, given, growth, releases) => {
  const isEnd = releases === 'ends';
  expect(decide(words, given)).toEqual({ growth, releases: isEnd ? null : releases, ends: isEnd });
});

test.each<[string, Given]>([
  ['accept', SECOND],
  ['accept', { ...LESS, order: ENDED }],
  ['accept', { ...LESS, order: ABROAD }],
  ['accept', { ...LESS, order: null }],
  ['accept', { ...LESS, shows: 9n }],
  ['accept', GONE],
  ['accept --elsewhere', LESS],
  ['keep --elsewhere', LESS],
  ['refund --elsewhere', GONE],
  ['refund', { class: 'contradicted', money: { came: 85n, earned: 85n }, missing: 85n, ...PAID }],
  ['refund', { ...GONE, money: { ...GONE.money, refunded: 85n } }],
  ['keep', GONE],
  ...['accept', 'refund', 'refund --elsewhere', 'keep', 'write-off'].map((words): [string, Given] => [words, HIDDEN]),
  ['write-off', { ...HIDDEN, class: 'reversed' }],
  ['write-off', LESS],
  ['write-off', NOT_SHOWN],
  ['write-off', { ...GONE, class: 'absent_from_history' }],
  ['write-off', { ...GONE, money: { ...GONE.money, lost: 85n } }],
  ['write-off', { ...GONE, money: TWICE, missing: 85n }],
  ['explain', LESS],
  ['explain', SECOND],
  ['explain', { ...LISTED, shows: 1n }],
  ['explain', { ...LISTED, ...PAID }],
])('%s of %j is not allowed, and says why', (words, given) => {
  expect(decide(words, given)).toEqual(expect.stringMatching(/^[a-z].{10,}[a-z]$/));
});

const CLASSES: CaseClass[] = [
  'reversed',
  'refund_not_shown',
  'overpaid',
  'underpaid',
  'contradicted',
  'unknown_status',
];
const share = fc.integer({ min: 0, max: 4 });
/** Each is so many quarters of what the others leave: so no CHECK is broken before. */
const ledgers = fc.tuple(fc.bigInt(0n, 40n), fc.array(share, { minLength: 8, maxLength: 8 })).map(([came, parts]) => {
  const part = (whole: bigint, index: number): bigint => (whole * BigInt(parts[index] ?? 0)) / 4n;
  const [went, earned] = [part(came, 0), part(came, 1)];
  const kept = part(came - earned, 2);
  const sendBack = part(came - earned - kept, 3);
  const refunded = part(earned, 4);
  const [sendBackElsewhere, refundedElsewhere] = [part(sendBack, 5), part(refunded, 6)];
  const lost = part(earned + kept - refunded + refundedElsewhere, 7);
  return { ...EMPTY, came, went, earned, kept, sendBack, refunded, sendBackElsewhere, refundedElsewhere, lost };
});

test('whatever is allowed keeps the promises of the database, and holds no more than before', () => {
  const anything = fc.record({
    ...{ as: fc.constantFrom(...DECISIONS), elsewhere: fc.boolean(), class: fc.constantFrom(...CLASSES) },
    ...{ money: ledgers, missing: fc.bigInt(0n, 50n), amount: fc.bigInt(1n, 40n), isReleased: fc.boolean() },
    isHidden: fc.boolean(),
    ...{ order: fc.constantFrom(OPEN, ENDED, RELEASED, ABROAD, null), shows: fc.bigInt(0n, 40n) },
  });
  const property = fc.property(anything, ({ class: name, missing, isHidden, money, order, amount, ...more }) => {
    const standing = standingOf(money);
    // What goes eats what is held first: the ledger never has both.
    fc.pre(standing.held === 0n || standing.reversed === 0n);
    const price = order && { ...order, amount };
    const seen = { class: name, held: isHidden ? 0n : standing.held, missing };
    const effect = effectOf({ ...more, case: seen, money, standing, order: price });
    if (typeof effect === 'string') return;
    const { growth, releases, ends } = effect;
    const after = grow(money, growth);
    const now = standingOf(after);
    expect(now.held <= standing.held && now.reversed <= standing.reversed).toBe(true);
    expect(after.came - after.went).toBe(money.came - money.went);
    if (releases === null) expect(after.earned).toBe(money.earned);
    else expect([order, growth.earned, ends, more.shows >= releases]).toEqual([OPEN, releases, false, true]);
  });
  fc.assert(property, { numRuns: 50_000, seed: 37 });
});
