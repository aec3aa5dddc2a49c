import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isPublicRange, networkOf, siteOf } from '../../src/platform/addresses.ts';
import { emailAddress } from '../../src/platform/email.ts';
import { canonical, digestOf } from '../../src/platform/ids.ts';
import { parseJson } from '../../src/platform/json.ts';

/** The result of JSON.parse, except that integers beyond the exact range of numbers are strings. */
const digitsKept = (_name: string, value: unknown): unknown => {
  const isLong = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  return isLong && Math.abs(value) < 1e21 ? String(value) : value;
};

test('JSON is parsed like JSON.parse does, except for long integers', () => {
  fc.assert(
    fc.property(fc.json(), fc.boolean(), (json, hasMark) => {
      expect(parseJson(hasMark ? `\uFEFF${json}` : json)).toEqual({ value: JSON.parse(json, digitsKept) as unknown });
    }),
  );
});

test.each<[string, unknown]>([
  ['9007199254740991', 9_007_199_254_740_991],
  ['9007199254740993', '9007199254740993'],
  ['-1234567890123456789', '-1234567890123456789'],
  ['[1234567890123456789,1234567890123456780]', ['1234567890123456789', '1234567890123456780']],
  ['{"id": 1234567890123456789 ,"n":1}', { id: '1234567890123456789', n: 1 }],
  ['0.12345678901234567', Number('0.12345678901234567')],
  ['12345678901234567.5', Number('12345678901234567.5')],
  ['1234567890123456789e-3', Number('1234567890123456789e-3')],
  ['"1234567890123456789"', '1234567890123456789'],
  ['{"a\\"1234567890123456789":"\\\\"}', { 'a"1234567890123456789': '\\' }],
  [
    '{"text":"an id: 1234567890123456789, \\"quoted\\" 1234567890123456789"}',
    { text: 'an id: 1234567890123456789, "quoted" 1234567890123456789' },
  ],
])('%s keeps its digits', (json, value) => {
  expect(parseJson(json)).toEqual({ value });
});

test.each(['', '{', '{1234567890123456789:1}', '01234567890123456789', '[1234567890123456789', 'NaN'])(
  '%s is not JSON',
  (text) => {
    expect(parseJson(text)).toBeUndefined();
  },
);

test('the order of members does not change a digest, and the order of a list does', () => {
  const digest = (value: unknown) => Buffer.from(digestOf(canonical(value))).toString('hex');
  expect(digest({ b: { d: 1, c: [1, 2] }, a: 'x' })).toBe(digest({ a: 'x', b: { c: [1, 2], d: 1 } }));
  expect(digest({ a: [1, 2] })).not.toBe(digest({ a: [2, 1] }));
  expect(digest({ a: 'b' })).not.toBe(digest({ b: 'a' }));
});

test.each([
  ['203.0.113.9', '203.0.113.9', null],
  ['::ffff:203.0.113.9', '203.0.113.9', null],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['2001:db8:1:ffff::9', '2001:db8:1:ffff::/64', '2001:db8:1::/48'],
  ['no address', 'unknown', null],
])('%s counts as %s, in the site %s', (address, network, site) => {
  expect([networkOf(address), siteOf(networkOf(address))]).toEqual([network, site]);
});

test.each([
  ['10.0.0.0/8', false],
  ['172.16.0.0/12', false],
  ['172.0.0.0/8', true],
  ['192.0.0.0/8', true],
  ['8.8.8.8/32', true],
  ['fd00::/8', false],
  ['2400:cb00::/32', true],
])('%s is public: %s', (range, isPublic) => {
  expect(isPublicRange(range)).toBe(isPublic);
});

test('an e-mail address of any length is checked quickly', () => {
  for (const text of [
    'a.'.repeat(50_000),
    `${'a'.repeat(100_000)}@${'b-'.repeat(50_000)}`,
    `a@${'x.'.repeat(50_000)}`,
  ]) {
    const begun = performance.now();
    expect(emailAddress.safeParse(text).success).toBe(false);
    expect(performance.now() - begun).toBeLessThan(1_000);
  }
});
