import { expect, test } from '@jest/globals';
import { createHmac } from 'node:crypto';
import {
  cursor,
  doubtAbout,
  firstText,
  hmac,
  link,
  modeOf,
  offsets,
  pages,
  referencesIn,
  words,
} from '../../src/gateway/adapter-helpers.ts';

// Each building block of adapters, tested separately.

const classOf = words({ paid: ['success', 'paid'], pending: ['pending'], failed: ['failed'] });

test.each([
  ['paid', 'SUCCESS Paid'],
  ['pending', 'pending'],
  ['failed', 'FAILED'],
  ['unknown', 'settled true 200 failed/paid'],
])('words classifies as %s: %s', (status, list) => {
  const said = list.split(' ').map((word) => classOf(` ${word}`));
  expect(said).toEqual(said.map(() => status));
});

test.each<[string | null, unknown]>([
  ['a', { data: 'a', link: 'b' }],
  ['b', { data: { link: 'b' } }],
  ['b', { data: null, link: 'b' }],
  [null, { data: 7 }],
  [null, null],
])('firstText returns %j for %j', (found, answer) => {
  expect(firstText(answer, ['data', 'data.link', 'link'])).toBe(found);
});

test.each<['test' | 'live' | null, object]>([
  ['test', { livemode: false }],
  ['test', { isTest: true }],
  ['test', { mode: 'Test' }],
  ['test', { mode: 'card', environment: 'sandbox' }],
  ['live', { livemode: true }],
  ['live', { environment: 'production' }],
  [null, { mode: 'card' }],
])('modeOf returns %j for %j', (mode, record) => {
  expect(modeOf(record)).toBe(mode);
});

const RECORD = { id: 7, reference: 'a', status: 'SUCCESS', amount: 8500, currency: 'NGN' };
const AMOUNTS = 'amount_received amountReceived amount_paid amountPaid paid_amount paidAmount';
const TAKEN = 'amount_captured amountCaptured amount_collected amountCollected';
const STATUSES = 'paymentStatus payment_status transactionStatus transaction_status';
const each = (names: string, value: unknown): [object][] => names.split(' ').map((name) => [{ [name]: value }]);

test.each<[object]>([
  ...each(`${AMOUNTS} ${TAKEN}`, 200),
  ...each(STATUSES, 'PENDING'),
  ...each('refunded reversed disputed', true),
  // The status may be that of the call.
  [{ payment: { status: 'PENDING', amount: 8500 } }],
  [{ transaction: { status: 'PENDING', reference: 'a' } }],
  [{ amount: { value: 8500, currency: 'USD' } }],
])('a paid record is doubted if it contains %j', (fields) => {
  expect(doubtAbout({ ...RECORD, ...fields }, classOf)).toMatch(/./);
});

test.each<[object]>([
  [{}],
  [{ fees: 127.5, net_amount: 8372.5, adjusted_received_amount: 8372.5 }],
  [{ paid_amount: '8500.00', amountReceived: 8500, paymentStatus: 'paid' }],
  [{ customer: { status: 'pending' }, refunded: false, livemode: true }],
])('a paid record is not doubted if it contains %j', (fields) => {
  expect(doubtAbout({ ...RECORD, ...fields }, classOf)).toBeNull();
});

test.each<[string[], unknown]>([
  [['a'], { event: 'x', data: RECORD }],
  [['a'], RECORD],
  [
    ['a', 'b'],
    [RECORD, { data: { reference: 'b' } }],
  ],
  [['a'], { events: [{ data: RECORD }, RECORD] }],
  [['b', 'c'], { data: [{ reference: 'b' }, { reference: 'c' }] }],
  [[], { event: 'x', data: { id: 7, reference: 7 } }],
  [[], null],
])('referencesIn finds %j in %j', (references, body) => {
  expect(referencesIn(body)).toEqual(references);
});

test('references are read from the path that the adapter sets', () => {
  expect(referencesIn({ data: { order: { ref: 'a' } } }, 'order.ref')).toEqual(['a']);
});

const HERE = { path: '/l?page=3&skip=50', number: 3, rows: 20 };
const [byPage, byOffset, byLink] = [pages({ page: 'page' }), offsets({ offset: 'skip' }), link({ at: 'next' })];
const byCursor = cursor({ parameter: 'page', at: 'meta.next' });

test.each<[string, string | null, string | null]>([
  ['numbered pages continue', byPage({}, HERE), '/l?page=4&skip=50'],
  ['an empty page is the last one', byPage({}, { ...HERE, rows: 0 }), null],
  ['isLast marks the last page', pages({ page: 'page', isLast: () => true })({}, HERE), null],
  ['offsets advance by the rows received', byOffset({}, HERE), '/l?page=3&skip=70'],
  ['a cursor is followed', byCursor({ meta: { next: 'a/b' } }, HERE), '/l?page=a%2Fb&skip=50'],
  ['a page without a cursor is the last one', byCursor({ meta: { next: null } }, HERE), null],
  ['the path of a link is followed, but not its host', byLink({ next: 'https://evil.example/l?c=2' }), '/l?c=2'],
  ['a page without a link is the last one', byLink({ next: '' }), null],
])('next page: %s', (_, next, expected) => {
  expect(next).toBe(expected);
});

const BODY = Buffer.from('{"amount": 8500.00}');
const NOW = new Date('2026-03-01T12:00:00Z');
const SEC = String(NOW.getTime() / 1_000);
const OLD = String(Number(SEC) - 301);
const mac = (signed: string | Buffer, encoding: 'hex' | 'base64' = 'hex', algorithm = 'sha256'): string =>
  createHmac(algorithm, 'secret').update(signed).digest(encoding);
const stamped = (time: string): string => mac(`${time}.${BODY.toString()}`);
const list = (time: string): string => `t=${time}, v1=${stamped(time)}`;

const PLAIN = { header: 'x-mac', algorithm: 'sha256', encoding: 'hex' } as const;
const PREFIXED = { ...PLAIN, prefix: 'sha256=' };
const TIMED = { ...PLAIN, signs: ({ timestamp }: { timestamp: string }) => `${timestamp}.${BODY.toString()}` };
const LISTED = { ...TIMED, list: { timestamp: 't', signature: 'v1' }, toleranceSec: 300 };
const HEADED = { ...TIMED, timestampHeader: 'x-time', toleranceSec: 300 };

test.each<[boolean, string, Parameters<typeof hmac>[0], Record<string, string>]>([
  [true, 'hex', PLAIN, { 'x-mac': mac(BODY) }],
  [true, 'hex in capitals', PLAIN, { 'x-mac': mac(BODY).toUpperCase() }],
  [true, 'base64', { ...PLAIN, encoding: 'base64' }, { 'x-mac': mac(BODY, 'base64') }],
  [true, 'SHA-512', { ...PLAIN, algorithm: 'sha512' }, { 'x-mac': mac(BODY, 'hex', 'sha512') }],
  [true, 'a prefix', PREFIXED, { 'x-mac': `sha256=${mac(BODY)}` }],
  [false, 'a missing prefix', PREFIXED, { 'x-mac': mac(BODY) }],
  [true, 'the first signature of a list', LISTED, { 'x-mac': `${list(SEC)},v1=00` }],
  [true, 'the last signature of a list', LISTED, { 'x-mac': list(SEC).replace('v1', 'v1=00,v1') }],
  [false, 'a list with an old timestamp', LISTED, { 'x-mac': list(OLD) }],
  [false, 'a list signed with another timestamp', LISTED, { 'x-mac': list(OLD).replace(OLD, SEC) }],
  [true, 'a timestamp in its own header', HEADED, { 'x-mac': stamped(SEC), 'x-time': SEC }],
  [
    true,
    'header names in capitals',
    { ...HEADED, header: 'X-Mac', timestampHeader: 'X-Time' },
    { 'x-mac': stamped(SEC), 'x-time': SEC },
  ],
  [true, 'a timestamp in milliseconds', HEADED, { 'x-mac': stamped(`${SEC}000`), 'x-time': `${SEC}000` }],
  [false, 'a timestamp as a date', HEADED, { 'x-mac': stamped(NOW.toISOString()), 'x-time': NOW.toISOString() }],
  [false, 'no timestamp', HEADED, { 'x-mac': stamped(SEC) }],
  [false, 'none', PLAIN, {}],
  [false, 'the signature of another body', PLAIN, { 'x-mac': mac('another') }],
])('the signature check returns %s: %s', (is, _, scheme, headers) => {
  expect(hmac(scheme)({ headers, body: BODY, secret: 'secret', now: NOW })).toBe(is);
  expect(hmac(scheme)({ headers, body: BODY, secret: 'another', now: NOW })).toBe(false);
});

test('hmac throws at once for a tolerance without a timestamp', () => {
  expect(() => hmac({ ...PLAIN, toleranceSec: 300 })).toThrow('toleranceSec but no timestamp');
  expect(() => hmac({ ...HEADED, timestampHeader: undefined })).toThrow('toleranceSec but no timestamp');
});

test('hmac throws at once if signs uses a timestamp and neither a header nor a list holds it', () => {
  expect(() => hmac(TIMED)).toThrow('uses a timestamp: set timestampHeader or list');
  const signs = (parts: { timestamp: string; body: Buffer }) => `${parts.body.toString()}${parts.timestamp}`;
  expect(() => hmac({ ...PLAIN, signs })).toThrow('uses a timestamp: set timestampHeader or list');
});

test('signs may add a fixed text to the body, and may expect certain members in the body', () => {
  const address = hmac({ ...PLAIN, signs: ({ body }) => `https://shop.example${body.toString()}` });
  const message = { body: BODY, secret: 'secret', now: NOW };
  expect(address({ ...message, headers: { 'x-mac': mac(`https://shop.example${BODY.toString()}`) } })).toBe(true);
  const firstAmount = ({ body }: { body: Buffer }) => {
    const { data } = JSON.parse(body.toString()) as { data: { amount: number }[] };
    return data.map(({ amount }) => amount).join();
  };
  const list = { ...message, body: Buffer.from('{"data":[{"amount":8500}]}'), headers: { 'x-mac': mac('8500') } };
  expect(hmac({ ...PLAIN, signs: firstAmount })(list)).toBe(true);
});
