import { describe, expect, test } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { parseDialect, type SignatureScheme } from '../../src/gateway/dialect/dialect.ts';
import { behindRow, NO_HINTS } from '../../src/gateway/history/paging-hints.ts';
import { readRetryHint } from '../../src/gateway/traffic/backoff.ts';
import { isSignedBy } from '../../src/gateway/webhook.ts';
import { Secret } from '../../src/platform/secret.ts';

const body = Buffer.from('{"a": 1}');
const now = 1_700_000_000;
const secrets = [new Secret('new'), new Secret('old')];

function schemeOf(signature: object): SignatureScheme {
  const { signature: scheme } = parseDialect(JSON.stringify({ webhook: { signature } })).dialect.webhook;
  if (scheme === null) throw new Error('no scheme');
  return scheme;
}
const holds = (signature: object, header: string): boolean =>
  isSignedBy(secrets, schemeOf(signature), { 'x-signature': header }, body, now);
const digest = (secret: string, time: number): string =>
  createHmac('sha256', secret).update(`${time}.${body.toString()}`).digest('hex');

describe('a list of a time and signatures', () => {
  const listed = { list: {}, signs: 'timestamp.body' };
  test('holds when one of its signatures fits, and its time is recent', () => {
    expect(holds(listed, `t=${now},v1=${digest('new', now)}`)).toBe(true);
    expect(holds(listed, `t=${now}, v0=00, v1=00, v1=${digest('old', now)}`)).toBe(true);
  });
  test.each([
    ['another secret', `t=${now},v1=${digest('other', now)}`],
    ['another time than the signed one', `t=${now - 1},v1=${digest('new', now)}`],
    ['an old time', `t=${now - 301},v1=${digest('new', now - 301)}`],
    ['no time', `v1=${digest('new', now)}`],
    ['the wrong name', `t=${now},v2=${digest('new', now)}`],
    ['nothing', ''],
  ])('does not hold with %s', (_name, header) => {
    expect(holds(listed, header)).toBe(false);
  });
});

test('a static scheme holds with one of the secrets itself and nothing else', () => {
  const fixed = { scheme: 'static' };
  expect(['new', 'old'].map((text) => holds(fixed, text))).toEqual([true, true]);
  expect(['ne', 'newer', '', 'NEW'].map((text) => holds(fixed, text))).toEqual([false, false, false, false]);
});

describe('a cursor that is a field of the last row', () => {
  const row = Buffer.from('{"id": 90071992547409931}');
  test('keeps its digits', () => {
    expect(behindRow(NO_HINTS, row, '/id').cursor).toEqual({ to: '90071992547409931' });
  });
  test.each([
    ['a page without rows', null, NO_HINTS],
    ['a row without the field', Buffer.from('{"name": 1}'), NO_HINTS],
    ['a row that is not JSON', Buffer.from('{'), NO_HINTS],
    ['a page that calls itself the last', row, { ...NO_HINTS, hasMore: false }],
  ])('ends at %s', (_name, last, hints) => {
    expect(behindRow(hints, last, '/id').cursor).toBe('end');
  });
});

describe('how long a service asks us to wait', () => {
  const clock = { now: () => new Date(now * 1_000), elapsedMs: () => 0 };
  const asked = (status: number, headers: Record<string, string>): number | undefined =>
    readRetryHint({ status, headers }, clock)?.sec;
  test.each([
    ['seconds in ratelimit-reset', { 'ratelimit-reset': '7' }, 7],
    ['seconds since 1970', { 'x-ratelimit-reset': String(now + 9) }, 9],
    ['milliseconds since 1970', { 'x-ratelimit-reset': String((now + 9) * 1_000) }, 9],
    ['Retry-After before both', { 'retry-after': '3', 'ratelimit-reset': '7' }, 3],
    ['at most an hour', { 'ratelimit-reset': '86400' }, 3_600],
    ['nothing for the past', { 'x-ratelimit-reset': String(now - 9) }, undefined],
    ['nothing for nonsense', { 'x-ratelimit-reset': 'soon' }, undefined],
  ])('%s', (_name, headers, sec) => {
    expect(asked(429, headers)).toBe(sec);
  });
  test.each([
    ['a date', { 'retry-after': new Date((now + 302) * 1_000).toUTCString() }],
    ['the end of a window', { 'x-ratelimit-reset': String(now + 302) }],
  ])('%s is read by the clock of the service, which may be minutes apart from ours', (_name, headers) => {
    const date = new Date((now + 300) * 1_000).toUTCString();
    expect(asked(429, { ...headers, date })).toBe(2);
    expect(asked(429, headers)).toBe(302);
    expect(asked(429, { ...headers, date: 'yesterday' })).toBe(302);
  });
  test('the end of a window on any other answer is no reason to wait', () => {
    expect(asked(503, { 'x-ratelimit-reset': '60' })).toBeUndefined();
    expect(asked(200, { 'ratelimit-reset': '60' })).toBeUndefined();
  });
});
