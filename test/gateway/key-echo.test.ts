import { describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { createKeyScrubber, REDACTED } from '../../src/gateway/key-echo.ts';
import { SecretKey } from '../../src/gateway/secret-key.ts';
import { NOBODY_WAITS } from '../../src/gateway/verify.ts';
import { findKey } from '../support/invariants/leaks.ts';
import { json, raw, startOddService } from '../support/service.ts';

const KEY = 'sk_live_Zq7/T+9xWv3bN_kL2mR8pY-s"4dJ6';
const OWN = KEY.slice('sk_live_'.length);
const scrub = createKeyScrubber(new SecretKey(KEY));
const clean = (text: string): string => scrub(Buffer.from(text)).toString();

const percent = (text: string): string =>
  Array.from(text, (c) => `%${c.charCodeAt(0).toString(16)}`).join('');
const unicode = (text: string): string =>
  Array.from(text, (c) => `\\u00${c.charCodeAt(0).toString(16).toUpperCase()}`).join('');
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('an echo of the key is taken out, whatever it looks like', () => {
  test.each([
    ['raw', KEY],
    ['without its prefix', OWN],
    ['a piece of it', OWN.slice(5, 20)],
    ['the shortest piece', OWN.slice(9, 21)],
    ['in JSON', JSON.stringify(KEY)],
    ['escaped throughout, in JSON', unicode(KEY)],
    ['as in an address', encodeURIComponent(KEY)],
    ['escaped throughout, as in an address', percent(KEY)],
    ['escaped in capitals', percent(KEY).toUpperCase().replaceAll('X', 'x')],
    ['base64', base64(KEY)],
    ['base64 behind one character', base64(`:${KEY}`)],
    ['base64 behind two', base64(`a:${KEY}`)],
    ['base64 of its own part, with a neighbour', base64(`${OWN}:more`)],
    ['base64url', Buffer.from(KEY).toString('base64url')],
    ['hex', Buffer.from(KEY).toString('hex')],
    ['hex in capitals', Buffer.from(KEY).toString('hex').toUpperCase()],
    ['twice', `${KEY} and ${OWN}`],
  ])('%s', (_name, echo) => {
    const text = `{"message":"no such key: ${echo}"}`;
    // findKey looks at addresses and plain text; what is escaped in JSON is looked at as its reader sees it.
    expect(findKey(unescaped(text), KEY)).not.toEqual([]);
    const after = clean(text);
    expect(findKey(unescaped(after), KEY)).toEqual([]);
    expect(after).toContain(REDACTED);
    expect(after.startsWith('{"message":"no such key: ')).toBe(true);
  });
});

function unescaped(text: string): string {
  return text
    .replace(/\\u00([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    .replaceAll('\\"', '"');
}

test('an answer without an echo stays the very same bytes', () => {
  const bodies = [
    '{"status":"SUCCESS"}',
    '{"url":"https:\\/\\/a.example\\/%20x"}',
    '{"name":"\u00e9\u4e2d\\u00e9"}',
    '',
  ];
  for (const text of bodies) {
    const body = Buffer.from(text);
    expect(scrub(body)).toBe(body);
  }
  const bytes = Buffer.from([0xff, 0xfe, 0x25, 0x00]);
  expect(scrub(bytes)).toBe(bytes);
});

test('a short key is taken out whole, and its letters elsewhere are left alone', () => {
  const short = createKeyScrubber(new SecretKey('sk_test_x'));
  expect(short(Buffer.from('x sk_test_x x')).toString()).toBe(`x ${REDACTED} x`);
});

test('a verification is kept without the key, its digest is of what came, and it counts as it is', async () => {
  const service = await startOddService();
  const echo = { reference: 'R'.repeat(24), status: 'sk_test_c4n4ry', amount: 25, currency: 'NGN' };
  const text = JSON.stringify({ data: echo });
  service.answer = raw(text);
  const answer = await service.gateway.verify('R'.repeat(24), 'NGN', NOBODY_WAITS);
  expect(answer.body.toString()).not.toContain('c4n4ry');
  expect(answer.bodySha256).toEqual(createHash('sha256').update(text).digest());
  expect(answer).toMatchObject({ kind: 'record', evidence: { status: 'unknown', statusWord: REDACTED } });
  expect(JSON.stringify({ ...answer, body: answer.body.toString() }, bigintAsText)).not.toContain('c4n4ry');
  service.answer = json({ data: 'https://pay.example.com/c/1?key=sk_test_c4n4ry' });
  const money = { amount: 2_500n, currency: 'NGN' };
  const request = {
    email: 'ada@example.com',
    money,
    reference: 'R'.repeat(24),
    redirectUrl: 'http://localhost/',
  };
  expect(await service.gateway.initialize(request)).toMatchObject({ outcome: 'ambiguous' });
  await service.close();
});

function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
