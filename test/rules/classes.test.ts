import { expect, test } from '@jest/globals';
import { classify, type CaseClass, type Facts, type Source } from '../../src/cases/classes.ts';

const ORDER = { amount: 8_500n, currency: 'NGN', isReleased: false, isEnded: false };
const CLOSED = { ...ORDER, isReleased: true, isEnded: true };
const says = (shows: bigint, doubt: string | null = null) => ({ outcome: 'paid', word: 'SUCCESS', shows, doubt });
const word = (outcome: string, doubt: string | null = null) => ({ ...says(0n, doubt), outcome, word: 'COLLECTED' });

/** An open order of NGN 8500 minor units, of which nothing came. */
const NOTHING: Facts = {
  ...{
    standing: { held: 0n, reversed: 0n, stillToGo: 0n, need: 0n },
    beyond: 0n,
    order: ORDER,
    currency: 'NGN',
    isReleased: false,
  },
  ...{ isDecided: false, short: [], verify: null, isRefundLate: false, isUnreadable: false },
};
const held = (amount: bigint, verify: Facts['verify'] = says(amount)): Facts => {
  return { ...NOTHING, standing: { ...NOTHING.standing, held: amount }, verify };
};
const released = (reversed: bigint, ...short: Source[]): Facts => {
  const standing = { held: 0n, reversed, stillToGo: 0n, need: 8_500n };
  return { ...NOTHING, standing, order: { ...ORDER, isReleased: true }, isReleased: true, short, verify: says(8_500n) };
};
const short = (name: Source['name'], word: string | null, shows: bigint, showsGone = false): Source => {
  return { name, word, shows, showsGone, doubt: null };
};
const ABSENT = short('list', null, 0n);
const classesOf = (facts: Facts): string[] => classify(facts).map((one) => one.class);

// Why money is held. All of the later reasons are true as well: the first that fits is said.
const DOUBTED = says(0n, 'amount_received differs');
const EVERYTHING = { ...held(85_000n, DOUBTED), order: null, currency: 'USD', isDecided: true, isReleased: true };
const REASONS: [CaseClass, Partial<Facts>][] = [
  ['unknown_reference', {}],
  ['currency_mismatch', { order: CLOSED }],
  ['paid_after_decision', { currency: 'NGN' }],
  ['charged_again', { isDecided: false }],
  ['duplicate_payment', { isReleased: false }],
  ['paid_after_end', { order: { ...CLOSED, isReleased: false } }],
  ['contradicted', { order: ORDER }],
  ['unproven', { verify: { ...DOUBTED, shows: 85_000n } }],
  ['unit_error', { verify: says(85_000n) }],
  ['contradicted', { verify: says(8_499n) }],
  ['overpaid', { verify: says(8_501n) }],
  ['underpaid', { standing: held(8_499n).standing }],
];
const reasons = REASONS.map(([name], index): [string, Facts] => {
  return [name, Object.assign({}, EVERYTHING, ...REASONS.slice(0, index + 1).map(([, change]) => change)) as Facts];
});

test.each(reasons)('of the reasons to hold money, %s comes before those below', (name, facts) => {
  expect(classify(facts)).toMatchObject([{ class: name, held: facts.standing.held, missing: 0n }]);
});

test.each<[CaseClass, bigint, bigint]>([
  ['underpaid', 1n, 1n],
  ['unit_error', 85n, 85n],
  ['overpaid', 17_000n, 8_500n],
  ['contradicted', 17_000n, 8_400n],
])('it is %s when %i is held and verify shows %i', (name, amount, shows) => {
  expect(classesOf(held(amount, says(shows)))).toEqual([name]);
});

test.each<[CaseClass, bigint, string, Facts]>([
  ['reversed', 500n, 'it went, and nobody wrote down why', released(500n)],
  ['reversed', 500n, 'it went, and sources fall short', released(500n, short('verify', 'FAILED', 100n), ABSENT)],
  ['reversed', 8_000n, 'a source shows it as gone', released(0n, short('verify', 'REVERSED', 500n, true), ABSENT)],
  ['contradicted', 8_500n, 'verify has another word', released(0n, short('verify', 'FAILED', 0n))],
  ['contradicted', 3_500n, 'the list shows less', released(0n, short('list', 'SUCCESS', 5_000n))],
  ['contradicted', 8_500n, 'by the lesser of two', released(0n, short('verify', 'SUCCESS', 8_000n), ABSENT)],
  ['absent_from_history', 8_500n, 'the list lacks it', released(0n, ABSENT)],
  [
    'reversed',
    500n,
    'kept money went',
    { ...NOTHING, isDecided: true, standing: { held: 0n, reversed: 500n, stillToGo: 0n, need: 0n } },
  ],
])('missing money is %s: %i, where %s', (name, missing, _, facts) => {
  expect(classify(facts)).toMatchObject([{ class: name, held: 0n, missing }]);
});

test.each<[string, CaseClass[], Partial<Facts>]>([
  ['a word that nobody knows', ['unknown_status'], { verify: word('unknown') }],
  ['M20: a success that proves nothing', ['unproven'], { verify: word('unproven', 'its amount is not above zero') }],
  ['nothing readable for a day', ['unreadable'], { isUnreadable: true, verify: word('unknown') }],
  ['no answer yet', [], {}],
  ['in a currency that the order is not in', [], { currency: 'USD', verify: word('unknown') }],
  ...['pending', 'failed', 'expired', 'reversed', 'not_found'].map((outcome): [string, CaseClass[], Partial<Facts>] => {
    return [outcome, [], { verify: word(outcome) }];
  }),
])('nothing came: %s is %j', (_, classes, facts) => {
  expect(classesOf({ ...NOTHING, ...facts })).toEqual(classes);
});

test('what is missing is said before what is held, and words only where nothing is', () => {
  const facts = { ...released(100n, ABSENT), standing: { held: 8_500n, reversed: 100n, stillToGo: 0n, need: 8_500n } };
  expect(classesOf({ ...facts, verify: word('unknown') })).toEqual(['reversed', 'charged_again']);
});

test('M8: a decision covers the words and figures that were seen, and nothing else', () => {
  const digest = (facts: Facts): string => Buffer.from(classify(facts)[0]?.digest ?? []).toString('hex');
  const seen = released(0n, short('verify', 'FAILED', 5_000n));
  const same = { ...seen, isDecided: true, verify: null, order: { ...CLOSED, amount: 1n } };
  expect(digest(same)).toBe(digest(seen));
  const all = [
    seen,
    released(1n, short('verify', 'FAILED', 5_000n)),
    released(0n, short('verify', 'FAILED', 4_999n)),
    released(0n, short('verify', 'DISPUTED', 5_000n)),
    released(0n, short('list', 'FAILED', 5_000n)),
    released(0n, short('verify', 'FAILED', 5_000n), ABSENT),
    held(5_000n),
    held(5_001n),
    { ...NOTHING, verify: word('unknown') },
    { ...NOTHING, verify: { ...word('unknown'), word: 'SETTLED' } },
    { ...NOTHING, verify: word('unproven', 'it names no currency') },
  ];
  expect(new Set(all.map(digest)).size).toBe(all.length);
});
