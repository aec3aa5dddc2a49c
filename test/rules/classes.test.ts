import { expect, test } from '@jest/globals';
import { classify, type CaseClass, type Facts } from '../../src/cases/classes.ts';
import type { Position, Standing } from '../../src/ledger/position.ts';
import { max, type Answer, type Transaction } from '../../src/ledger/sources.ts';
import { LedgerShop } from './ledger-shop.ts';

const ORDER = { amount: 8_500n, due: 8_500n, currency: 'NGN', isPaid: false, isEnded: false };
const CLOSED = { ...ORDER, isPaid: true, isEnded: true };
const says = (balance: bigint, doubt: string | null = null) => ({ outcome: 'paid', word: 'SUCCESS', balance, doubt });
const word = (outcome: string, doubt: string | null = null) => ({ ...says(0n, doubt), outcome, word: 'COLLECTED' });

const QUIET = { held: 0n, missing: 0n, notShown: 0n, reinstated: 0n };
const AGREES: Standing = { ...QUIET, excessOutflow: 0n, isShort: false };
type Sources = { verify?: Partial<Standing>; history?: Partial<Standing> };

/** For held, missing and reinstated money, the larger figure of the two sources counts. */
function positionOf({ verify: ofVerify, history: ofHistory }: Sources, expected = 8_500n): Position {
  const [verify, history] = [
    { ...AGREES, ...ofVerify },
    { ...AGREES, ...ofHistory },
  ];
  const larger = (figure: keyof typeof QUIET): bigint => max(verify[figure], history[figure]);
  const notShown = larger('notShown');
  const reinstated = larger('reinstated');
  return { expected, held: larger('held'), missing: larger('missing'), notShown, reinstated, verify, history };
}

/** An open order of NGN 8500 minor units, about which no source reports anything. */
const NOTHING: Facts = {
  position: positionOf({}, 0n),
  reported: { verify: { transactions: [], isUncertain: false }, history: { transactions: [], isUncertain: false } },
  isInHistory: false,
  order: ORDER,
  currency: 'NGN',
  asked: 8_500n,
  isInProof: false,
  isDecided: false,
  verify: null,
  isOutflowLate: false,
  isUnreadable: false,
};
const held = (amount: bigint, verify: Facts['verify'] = says(amount)): Facts => {
  return { ...NOTHING, position: positionOf({ verify: { held: amount } }, 0n), verify };
};
/** A paid order, with the reports of the sources compared to its books. */
const paid = (sources: Sources, more: Partial<Facts> = {}): Facts => {
  const order = { ...ORDER, isPaid: true };
  return { ...NOTHING, position: positionOf(sources), order, isInProof: true, verify: says(8_500n), ...more };
};
/** The source shows less money than expected. */
const lacks = (missing: bigint): Partial<Standing> => ({ missing, isShort: true });
/** The source reports that the money went out. */
const gone = (missing: bigint): Partial<Standing> => ({ ...lacks(missing), excessOutflow: missing });
const classesOf = (facts: Facts): string[] => classify(facts).map((one) => one.class);

// The reasons to hold money. All later reasons are true as well, and the first one that applies is
// used.
const DOUBTED = says(0n, 'amount_received differs');
const EVERYTHING = { ...held(85_000n, DOUBTED), order: null, currency: 'USD', isDecided: true, isInProof: true };
const REASONS: [CaseClass, Partial<Facts>][] = [
  ['unknown_reference', {}],
  ['currency_mismatch', { order: CLOSED }],
  ['paid_after_decision', { currency: 'NGN' }],
  ['unit_error', { isDecided: false, position: held(76_500n).position }],
  ['charged_again', { position: held(85_000n).position }],
  ['duplicate_payment', { isInProof: false }],
  ['paid_after_end', { order: { ...CLOSED, isPaid: false } }],
  ['contradicted', { order: ORDER }],
  ['unproven', { verify: { ...DOUBTED, balance: 85_000n } }],
  ['unit_error', { verify: says(85_000n) }],
  ['contradicted', { verify: says(8_499n) }],
  ['overpaid', { verify: says(8_501n) }],
  ['contradicted', { position: held(8_500n).position }],
  ['underpaid', { position: held(8_499n).position }],
];
const reasons = REASONS.map(([name], index): [string, Facts] => {
  return [name, Object.assign({}, EVERYTHING, ...REASONS.slice(0, index + 1).map(([, change]) => change)) as Facts];
});

test.each(reasons)('the reason %s to hold money has priority over those below', (name, facts) => {
  expect(classify(facts)).toMatchObject([{ class: name, held: facts.position.held, missing: 0n }]);
});

test.each<[CaseClass, bigint, bigint]>([
  ['underpaid', 1n, 1n],
  ['unit_error', 85n, 85n],
  ['overpaid', 17_000n, 8_500n],
  ['contradicted', 17_000n, 8_400n],
  ['contradicted', 8_500n, 8_500n],
])('the class is %s if %i is held and verify shows %i', (name, amount, balance) => {
  expect(classesOf(held(amount, says(balance)))).toEqual([name]);
});

const IN_HISTORY = { isInHistory: true };

test.each<[CaseClass, bigint, string, Facts]>([
  ['reversed', 500n, 'verify reports an outflow', paid({ verify: gone(500n) })],
  ['reversed', 500n, 'the history reports an outflow', paid({ history: gone(500n) }, IN_HISTORY)],
  [
    'reversed',
    8_500n,
    'one reports it, and the other lacks more',
    paid({ verify: gone(500n), history: lacks(8_500n) }),
  ],
  ['reversed', 8_500n, 'both lack it', paid({ verify: lacks(8_500n), history: lacks(8_500n) })],
  [
    'reversed',
    8_500n,
    'both lack it, and the history had no time yet',
    paid({ verify: lacks(8_500n), history: { isShort: true } }),
  ],
  ['contradicted', 8_500n, 'verify lacks it', paid({ verify: lacks(8_500n) }, { verify: word('failed') })],
  [
    'contradicted',
    8_500n,
    'nothing of verify is certain, and the history lacks it',
    paid({ verify: { missing: 8_500n }, history: lacks(8_500n) }),
  ],
  ['contradicted', 3_500n, 'the history reports less', paid({ history: lacks(3_500n) }, IN_HISTORY)],
  ['absent_from_history', 8_500n, 'the history has no row', paid({ history: lacks(8_500n) })],
  [
    'reversed',
    500n,
    'kept money went',
    { ...NOTHING, isDecided: true, position: positionOf({ verify: gone(500n) }, 8_500n) },
  ],
])('missing money is %s: %i, if %s', (name, missing, _, facts) => {
  expect(classify(facts)).toMatchObject([{ class: name, held: 0n, missing }]);
});

test('a refund that no source shows becomes a case when it is late, and a reinstated one immediately', () => {
  const facts = paid({ verify: { notShown: 2_500n, reinstated: 1_000n } });
  expect(classify(facts)).toMatchObject([{ class: 'refund_not_shown', held: 0n, missing: 1_000n }]);
  expect(classify({ ...facts, isOutflowLate: true })).toMatchObject([{ class: 'refund_not_shown', missing: 2_500n }]);
  expect(classify(paid({ verify: { notShown: 2_500n } }))).toEqual([]);
});

test.each<[string, CaseClass[], Partial<Facts>]>([
  ['a word that nobody knows', ['unknown_status'], { verify: word('unknown') }],
  ['a success that proves nothing', ['unproven'], { verify: word('unproven', 'its amount is not above zero') }],
  ['no readable answer for a day', ['unreadable'], { isUnreadable: true, verify: word('unknown') }],
  ['no answer yet', [], {}],
  ['an answer in another currency than the order', [], { currency: 'USD', verify: word('unknown') }],
  ...['pending', 'failed', 'expired', 'reversed', 'not_found'].map((outcome): [string, CaseClass[], Partial<Facts>] => {
    return [outcome, [], { verify: word(outcome) }];
  }),
])('if nothing is received, %s is %j', (_, classes, facts) => {
  expect(classesOf({ ...NOTHING, ...facts })).toEqual(classes);
});

test('missing money comes first, then held money, then refunds not shown, and status words only if nothing is held', () => {
  const sources = { verify: gone(100n), history: { held: 8_400n, reinstated: 1n } };
  const facts = paid(sources, { verify: word('unknown') });
  expect(classesOf(facts)).toEqual(['reversed', 'charged_again', 'refund_not_shown']);
});

const CHARGE: Transaction = { id: 'c1', received: 8_500n, outflow: 3_500n };
const reports = (verify: Transaction[], history: Transaction[] = []): Partial<Facts> => {
  const isUncertain = false;
  return {
    reported: { verify: { transactions: verify, isUncertain }, history: { transactions: history, isUncertain } },
  };
};

test('an explanation covers only the reports that were seen, of the sources that support the case', () => {
  const digest = (facts: Facts): string => Buffer.from(classify(facts)[0]?.digest ?? []).toString('hex');
  const short = { verify: gone(3_500n) };
  const seen = paid(short, reports([CHARGE]));
  const same = { ...seen, isDecided: true, verify: null, order: { ...CLOSED, amount: 1n } };
  expect(digest(same)).toBe(digest(seen));
  // A report without missing money is not news about this loss.
  expect(digest({ ...seen, ...reports([CHARGE], [{ ...CHARGE, outflow: 0n }]) })).toBe(digest(seen));
  const all = [
    seen,
    paid({ verify: gone(3_501n) }, reports([CHARGE])),
    paid({ verify: lacks(3_500n) }, reports([CHARGE])),
    paid(short, reports([{ ...CHARGE, id: 'c2' }])),
    paid(short, reports([{ ...CHARGE, outflow: 3_499n }])),
    paid({ history: gone(3_500n) }, reports([], [CHARGE])),
    paid({ ...short, history: gone(3_500n) }, reports([CHARGE], [CHARGE])),
    { ...seen, position: positionOf(short, 8_400n) },
    held(5_000n),
    held(5_001n),
    { ...NOTHING, verify: word('unknown') },
    { ...NOTHING, verify: { ...word('unknown'), word: 'SETTLED' } },
    { ...NOTHING, verify: word('unproven', 'it names no currency') },
  ];
  expect(new Set(all.map(digest)).size).toBe(all.length);
});

// A paid order, one more refund or history reading, and one more answer. Steps are a day apart.
const CLEAR: Answer = { outcome: 'paid', id: 'c1', isHere: true, received: 8_500n, balance: 8_500n, isDoubted: false };
const FAILED: Answer = { ...CLEAR, outcome: 'failed', received: null, balance: 0n };
const REVERSED: Answer = { ...FAILED, outcome: 'reversed' };
type Told = { first?: Partial<Answer>; refunded?: bigint; history?: bigint[]; answer?: Answer };

function told({ first, refunded, history, answer }: Told): string[] {
  const shop = new LedgerShop(8_500n);
  const day = (days: number): Date => new Date(Date.parse('2026-03-01T12:00:00Z') + days * 86_400_000);
  shop.verify({ ...CLEAR, ...first }, day(0));
  if (refunded !== undefined) shop.refund(refunded, false, day(1));
  const rows = history?.map((received) => ({ id: 'c1', received, outflow: 0n, isReversed: false, isDoubted: false }));
  if (rows !== undefined) shop.history(rows, day(2), true);
  if (answer !== undefined) shop.verify(answer, day(3));
  return shop.findings().map(({ class: name, missing }) => `${name} ${missing}`);
}

test.each<[string[], string, Told]>([
  [[], 'verify reports it', { answer: CLEAR }],
  [[], 'no source was read again', {}],
  [['contradicted 1'], 'verify reports a unit less', { answer: { ...CLEAR, received: 8_499n, balance: 8_499n } }],
  [['reversed 1'], 'verify reports a unit as gone', { answer: { ...CLEAR, balance: 8_499n } }],
  [['contradicted 8500'], 'verify says failed', { answer: FAILED }],
  [['contradicted 8500'], 'verify does not find it', { answer: { ...FAILED, outcome: 'unproven', id: null } }],
  [['reversed 8500'], 'verify says reversed', { answer: REVERSED }],
  [['contradicted 500'], 'the history reports less', { history: [8_000n] }],
  [['absent_from_history 8500'], 'the history lacks it', { history: [] }],
  [['reversed 8500'], 'the history lacks it, and verify says failed', { history: [], answer: FAILED }],
  [[], 'a refund is booked, and verify reports the rest', { refunded: 8_000n, answer: { ...CLEAR, balance: 500n } }],
  [['contradicted 500'], 'a refund is booked, and verify says failed', { refunded: 8_000n, answer: FAILED }],
  [['reversed 500'], 'a refund is booked, and verify reports all as gone', { refunded: 8_000n, answer: REVERSED }],
  [['reversed 8500'], 'a reversal names no charge', { answer: { ...REVERSED, id: null } }],
  [['reversed 8500'], 'the proof names no charge, and a reversal names one', { first: { id: null }, answer: REVERSED }],
  [['reversed 8500'], 'a charge that was never reported is reversed', { answer: { ...REVERSED, id: 'c2' } }],
])('the findings about a paid order are %j if %s', (findings, _, given) => {
  expect(told(given)).toEqual(findings);
});

test('an explained refund that came back in part opens a case again when the rest of it is late', () => {
  const shop = new LedgerShop(8_500n);
  const day = (days: number): Date => new Date(Date.parse('2026-03-01T12:00:00Z') + days * 86_400_000);
  shop.verify(CLEAR, day(0));
  shop.refund(2_500n, false, day(1));
  shop.verify({ ...CLEAR, balance: 7_500n }, day(2));
  shop.verify(CLEAR, day(3));
  const rows = [{ id: 'c1', received: 8_500n, outflow: 0n, isReversed: false, isDoubted: false }];
  shop.history(rows, day(3), true);
  expect(shop.openCase()).toMatchObject({ class: 'refund_not_shown', missing: 1_000n });
  expect(shop.decide('explain', false, day(4))).toBeNull();
  expect(shop.openCase()).toBeUndefined();
  // Both sources report the same as before. The ten days of the refund are over.
  shop.verify(CLEAR, day(18));
  shop.history(rows, day(19), true);
  expect(shop.openCase()).toMatchObject({ class: 'refund_not_shown', missing: 2_500n });
});
