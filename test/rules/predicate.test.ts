import { expect, test } from '@jest/globals';
import { shortfall } from '../../src/cases/predicate.ts';

type Given = Parameters<typeof shortfall>[0];
type Answer = NonNullable<Given['verify']>;

const LAG_MIN = 10;
const RELEASED_AT = new Date('2026-03-01T12:00:00Z');
/** So many minutes after the release. */
const after = (minutes: number): Date => new Date(RELEASED_AT.getTime() + minutes * 60_000);
/** An unclear answer that was given after an hour waits until then. */
const TWO_DAYS_LATER = after(60 + LAG_MIN + 2 * 24 * 60);

const says = (outcome: string, word: string | null, shows: bigint, gone: bigint | null = 0n): Answer => {
  return { outcome, word, shows, gone, serviceId: 'tx1', doubt: null, at: after(60) };
};
const lists = (word: string | null, shows: bigint | null, minutes = LAG_MIN): Given['list'] => {
  return { word, shows, gone: 0n, heardAt: after(minutes) };
};
const UNHEARD: Given['list'] = { word: null, shows: null, gone: 0n, heardAt: null };
const REFUNDED = { need: 8_000n, expected: 500n, lost: 0n };

/** What falls short, as `verify FAILED 0`, and until when an answer that may be about other money waits. */
function look(given: Partial<Given>, now = after(61)): [short: string[], unclearUntil: Date | null] {
  const release = { at: RELEASED_AT, serviceId: 'tx1' };
  const honest = {
    standing: { need: 8_500n, expected: 0n, lost: 0n },
    refunded: 8_000n,
    release,
    verify: says('paid', 'SUCCESS', 8_500n),
    list: UNHEARD,
  };
  const { short, unclearUntil } = shortfall({ ...honest, ...given }, now, LAG_MIN);
  return [short.map((one) => `${one.name} ${one.word} ${one.shows}${one.showsGone ? ' gone' : ''}`), unclearUntil];
}

test.each<[string[], string, Partial<Given>]>([
  [[], 'verify shows it', {}],
  [[], 'nobody was asked', { verify: null }],
  [['verify SUCCESS 8499'], 'verify shows a unit less', { verify: says('paid', 'SUCCESS', 8_499n) }],
  [['verify FAILED 0'], 'verify says failed', { verify: says('failed', 'FAILED', 0n) }],
  [['verify not_found 0'], 'verify does not find it', { verify: says('not_found', null, 0n) }],
  [['verify GONE 0 gone'], 'verify says reversed', { verify: says('reversed', 'GONE', 0n, 8_500n) }],
  [['verify GONE 0 gone'], 'it does not say how much', { verify: says('reversed', 'GONE', 0n, null) }],
  [['list SUCCESS 8000'], 'the list shows less', { list: lists('SUCCESS', 8_000n) }],
  [['list null 0'], 'the list lacks it', { list: lists(null, null) }],
  [[], 'the list was read too soon to have it', { list: lists(null, null, LAG_MIN - 1) }],
  [[], 'a refund is written down', { standing: REFUNDED, verify: says('paid', 'SUCCESS', 8_000n) }],
  [
    ['verify FAILED 0'],
    'M6: a refund is, and verify fails',
    { standing: REFUNDED, verify: says('failed', 'FAILED', 0n) },
  ],
  [['list A 0', 'verify B 0'], 'both fall short', { list: lists('A', 0n), verify: says('failed', 'B', 0n) }],
])('M5: %j is short where %s', (short, _, given) => {
  expect(look(given)).toEqual([short, null]);
});

const OTHER = { verify: { ...says('paid', 'SUCCESS', 0n), serviceId: 'tx2' } };
const EXPECTED = {
  standing: { need: 500n, expected: 8_000n, lost: 0n },
  verify: says('reversed', 'GONE', 400n, 8_000n),
};

test.each<[string, Partial<Given>, string]>([
  ['names another charge', OTHER, 'verify SUCCESS 0'],
  ['is a reversal of what was to go', EXPECTED, 'verify GONE 400 gone'],
])('an answer that %s waits for the list, and falls short when none comes', (_, given, short) => {
  expect(look(given)).toEqual([[], TWO_DAYS_LATER]);
  expect(look(given, new Date(TWO_DAYS_LATER.getTime() - 1))).toEqual([[], TWO_DAYS_LATER]);
  expect(look(given, TWO_DAYS_LATER)).toEqual([[short], null]);
  // The next heard list decides, also when the time is over.
  expect(look({ ...given, list: lists('SUCCESS', 8_500n, 60) })).toEqual([[], TWO_DAYS_LATER]);
  expect(look({ ...given, list: lists('SUCCESS', 8_500n, 61) }, TWO_DAYS_LATER)).toEqual([[], null]);
  expect(look({ ...given, list: lists('SUCCESS', 0n, 61) }, TWO_DAYS_LATER)).toEqual([['list SUCCESS 0'], null]);
});

test.each<[string, Partial<Given>]>([
  ['names no charge', { verify: { ...OTHER.verify, serviceId: null } }],
  ['is about a release that names none', { ...OTHER, release: { at: RELEASED_AT, serviceId: null } }],
  ['is a reversal of more than was to go', { ...EXPECTED, verify: { ...EXPECTED.verify, gone: 8_001n } }],
  ['is a reversal of another charge than was refunded, by its id', { ...EXPECTED, refunded: 7_999n }],
  ['does not say reversed', { ...EXPECTED, verify: { ...EXPECTED.verify, outcome: 'failed' } }],
])('an answer that %s falls short at once', (_, given) => {
  expect(look(given)).toEqual([[expect.any(String)], null]);
});
