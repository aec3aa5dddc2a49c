import { describe, expect, test } from '@jest/globals';
import { createHmac } from 'node:crypto';
import type { SignatureScheme } from '../../src/gateway/dialect/dialect.ts';
import { defaultDialect } from '../support/dialect.ts';
import { isSignedBy } from '../../src/gateway/webhook.ts';
import { Secret } from '../../src/platform/secret.ts';

const scheme: SignatureScheme = { ...defaultDialect.webhook.signature } as SignatureScheme;
const body = Buffer.from('{"a": 1}');
const now = 1_700_000_000;
const [current, previous] = [new Secret('new'), new Secret('old')];
const sign = (secret: string, encoding: 'hex' | 'base64' = 'hex', text: Buffer | string = body): string =>
  createHmac('sha256', secret).update(text).digest(encoding);

const check = (
  headers: Record<string, string | string[]>,
  change: Partial<SignatureScheme> = {},
  bytes = body,
): boolean => isSignedBy([current, previous], { ...scheme, ...change }, headers, bytes, now);

test('the current and the previous secret sign, another does not', () => {
  expect(check({ 'x-signature': sign('new') })).toBe(true);
  expect(check({ 'x-signature': sign('old') })).toBe(true);
  expect(check({ 'x-signature': sign('other') })).toBe(false);
});

test('the signature is over the bytes: the same JSON written differently does not pass', () => {
  expect(check({ 'x-signature': sign('new') }, {}, Buffer.from('{"a":1}'))).toBe(false);
});

test('hex in either case, base64, and a prefix', () => {
  expect(check({ 'x-signature': sign('new').toUpperCase() })).toBe(true);
  expect(check({ 'x-signature': sign('new', 'base64') }, { encoding: 'base64' })).toBe(true);
  expect(check({ 'x-signature': `sha256=${sign('new')}` }, { prefix: 'sha256=' })).toBe(true);
});

test('a signed time must be recent, on both sides of now', () => {
  const timed = { signs: 'timestamp.body', timestampHeader: 'x-time' } as const;
  const at = (time: number): boolean =>
    check({ 'x-time': String(time), 'x-signature': sign('new', 'hex', `${time}.${body.toString()}`) }, timed);
  expect(at(now)).toBe(true);
  expect(at(now - 299)).toBe(true);
  expect(at(now - 301)).toBe(false);
  expect(at(now + 301)).toBe(false);
});

describe('what services sign, and how they write it', () => {
  const secret = 'new';
  const time = String(now);
  const mac = (
    text: string,
    encoding: 'hex' | 'base64' | 'base64url' = 'hex',
    key: string | Buffer = secret,
  ) => createHmac('sha256', key).update(text).digest(encoding);
  const raw = body.toString();
  const beside = { timestampHeader: 'x-time' } as const;
  // Its digest has all of + / - _ and padding to differ in.
  const odd = Buffer.from('{"n": 3}');

  test('base64 in either alphabet, with and without padding', () => {
    const [usual, forUrls] = [mac(odd.toString(), 'base64'), mac(odd.toString(), 'base64url')];
    expect([usual, forUrls]).toEqual([
      expect.stringMatching(/[+/].*=$/),
      expect.stringMatching(/[-_].*[^=]$/),
    ]);
    for (const encoding of ['base64', 'base64url'] as const)
      for (const text of [usual, forUrls])
        expect(check({ 'x-signature': text }, { encoding }, odd)).toBe(true);
  });

  test.each<[string, Partial<SignatureScheme>, Record<string, string>]>([
    [
      'another separator',
      { ...beside, signs: 'timestamp.body', separator: ':' },
      { 'x-time': time, 'x-signature': mac(`${time}:${raw}`) },
    ],
    [
      'no separator, the time last',
      { ...beside, signs: 'body.timestamp', separator: '' },
      { 'x-time': time, 'x-signature': mac(`${raw}${time}`) },
    ],
    [
      'a time in milliseconds',
      { ...beside, signs: 'timestamp.body' },
      { 'x-time': `${time}001`, 'x-signature': mac(`${time}001.${raw}`) },
    ],
    [
      'a time as a date',
      { ...beside, signs: 'timestamp.body' },
      { 'x-time': '2023-11-14T22:13:20Z', 'x-signature': mac(`2023-11-14T22:13:20Z.${raw}`) },
    ],
    [
      'a list with semicolons',
      { list: { timestamp: 'ts', signature: 'h1' }, signs: 'timestamp.body', separator: ':' },
      { 'x-signature': `ts=${time};h1=${mac(`${time}:${raw}`)}` },
    ],
    [
      'a list of signatures, and the time beside it',
      { ...beside, list: { timestamp: 't', signature: 'v1' }, signs: 'timestamp.body' },
      { 'x-time': time, 'x-signature': `v0=00, v1=${mac(`${time}.${raw}`)}` },
    ],
    [
      'an id too, and more than one signature',
      { ...beside, signs: 'id.timestamp.body', idHeader: 'X-Id', prefix: 'v1,', encoding: 'base64' },
      {
        'x-id': 'msg_1',
        'x-time': time,
        'x-signature': `v1,${mac('other', 'base64')} v1,${mac(`msg_1.${time}.${raw}`, 'base64')}`,
      },
    ],
  ])('%s', (_name, change, headers) => {
    expect(check(headers, change)).toBe(true);
    expect(check(headers, change, Buffer.from('{"a": 2}'))).toBe(false);
  });

  test.each(['2023-11-14T22:13:20', '2023-11-14T22:03:20Z', 'yesterday', ''])(
    'a signed time that is old or names no zone does not hold: %j',
    (odd) => {
      const headers = { 'x-time': odd, 'x-signature': mac(`${odd}.${raw}`) };
      expect(check(headers, { ...beside, signs: 'timestamp.body' })).toBe(false);
    },
  );

  test('a secret of Standard Webhooks is a key in base64', () => {
    const key = Buffer.from('0123456789abcdef0123456789abcdef');
    const scheme$ = { ...scheme, encoding: 'base64' } as const;
    const headers = { 'x-signature': mac(raw, 'base64', key) };
    const standard = new Secret(`whsec_${key.toString('base64')}`);
    expect(isSignedBy([standard], scheme$, headers, body, now)).toBe(true);
    expect(
      isSignedBy([new Secret('whsec_')], scheme$, { 'x-signature': mac(raw, 'base64', '') }, body, now),
    ).toBe(false);
  });
});

describe('an odd header is refused without throwing', () => {
  test.each<[string, Record<string, string | string[]>]>([
    ['none', {}],
    ['empty', { 'x-signature': '' }],
    ['too short', { 'x-signature': 'ab' }],
    ['the first byte of the right one', { 'x-signature': sign('new').slice(0, 2) }],
    ['the right one and more', { 'x-signature': `${sign('new')}00` }],
    ['odd length', { 'x-signature': 'abc' }],
    ['not hex', { 'x-signature': 'z'.repeat(64) }],
    ['8 kB', { 'x-signature': 'a'.repeat(8_192) }],
    ['twice', { 'x-signature': [sign('new'), sign('new')] }],
  ])('%s', (_name, headers) => {
    expect(check(headers)).toBe(false);
  });
});
