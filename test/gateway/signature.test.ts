import { describe, expect, test } from '@jest/globals';
import { createHmac } from 'node:crypto';
import type { SignatureScheme } from '../../src/gateway/dialect/dialect.ts';
import { defaultDialect } from '../support/dialect.ts';
import { isSignedBy } from '../../src/gateway/webhook-signature.ts';
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
