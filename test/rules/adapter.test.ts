import { expect, test } from '@jest/globals';
import { createHmac } from 'node:crypto';
import adapter from '../../src/custom/service.ts';
import { cursor, hmac, link, offsets, pages } from '../../src/gateway/adapter-helpers.ts';
import { evidenceOf, storable, type Evidence } from '../../src/gateway/evidence.ts';

const REFERENCE = 'k3v9x2m4q8r7t1w5y6z0abcdef';
const PAGE = 'https://pay.example/abc';
const RECORD = { id: 7, reference: REFERENCE, status: 'SUCCESS', amount: 8500, currency: 'NGN' };

/** What verify's answer proves in live mode, with the default adapter; null: no record, or it cannot be read. */
function judge(answer: unknown): Evidence | null {
  const record = adapter.verify.record(answer);
  const reading = record === null ? null : adapter.read(record);
  return reading && evidenceOf(reading, { reference: REFERENCE, mode: 'live' }, adapter, { httpStatus: 200, body: '' });
}

const URL_NAMES = 'authorizationUrl authorization_url checkoutUrl checkout_url checkoutLink link url'.split(' ');
const NOTHING = [{}, { data: null }, { data: {} }, { data: { reference: REFERENCE } }, 'OK', null, []];

test.each<[unknown, unknown]>([
  [PAGE, { status: true, data: PAGE }],
  ...URL_NAMES.map((name): [unknown, unknown] => [PAGE, { data: { reference: REFERENCE, [name]: PAGE } }]),
  [PAGE, { data: { authorizationUrl: null, link: PAGE } }],
  [{ refused: 'no' }, { status: false, message: 'no', data: PAGE }],
  ...NOTHING.map((answer): [unknown, unknown] => [null, answer]),
])('initialize: %j is what %j says', (found, answer) => {
  expect(adapter.initialize.checkoutUrl(answer)).toEqual(found);
});

test.each<[string, unknown]>([
  ['in its envelope', { status: true, message: 'ok', code: 200, data: RECORD }],
  ['bare', RECORD],
  ['with texts', { ...RECORD, id: 'tx7', amount: '8500.00', currency: 'ngn' }],
  ['in capitals', { ...RECORD, reference: REFERENCE.toUpperCase() }],
  ['M24: with fees', { ...RECORD, fees: 127.5, net_amount: 8372.5, adjusted_received_amount: 8372.5 }],
  ['with the same again', { ...RECORD, paid_amount: '8500.00', amountReceived: 8500, paymentStatus: 'paid' }],
  ['with others', { ...RECORD, customer: { status: 'pending' }, refunded: false, livemode: true, mode: 'card' }],
])('verify: a record %s proves the price', (_, answer) => {
  expect(judge(answer)).toMatchObject({ outcome: 'paid', shows: 850_000n, gone: 0n, currency: 'NGN', doubt: null });
});

const TEST_MODE = [{ livemode: false }, { isTest: true }, { mode: 'test' }, { mode: 'card', environment: 'sandbox' }];

test.each<[Evidence['outcome'] | null, string, unknown]>([
  [null, 'a failed call', { status: false, message: 'not found', data: {} }],
  [null, 'no record', { status: true, data: null }],
  [null, 'no status', { status: true, data: { reference: REFERENCE } }],
  ['pending', 'only id and status', { data: { id: 7, status: 'PENDING' } }],
  ['pending', 'E1: a call that succeeded', { status: 'success', data: { ...RECORD, status: 'PENDING' } }],
  ['unproven', 'a success of only id and status', { data: { id: 7, status: 'SUCCESS' } }],
  ['unproven', 'E2: a neighbour', { ...RECORD, reference: 'another' }],
  ['unproven', 'no currency', { ...RECORD, currency: null }],
  ['unproven', 'an amount inside', { ...RECORD, amount: { value: 8500, currency: 'NGN' } }],
  ['unproven', 'M20: amount 0', { ...RECORD, amount: 0 }],
  ['unproven', 'E3: almost', { ...RECORD, amount: 8499.999999999998 }],
  ['unproven', 'a refund that nobody can read', { ...RECORD, amount_refunded: '5,00' }],
  ...TEST_MODE.map((mode): ['unproven', string, unknown] => ['unproven', 'P10: test mode', { ...RECORD, ...mode }]),
])('verify: %s and no money by %s: %j', (outcome, _, answer) => {
  const evidence = judge(answer);
  expect([evidence?.outcome ?? null, evidence?.shows ?? null]).toEqual([outcome, null]);
});

const AMOUNTS = 'amount_received amountReceived amount_paid amountPaid paid_amount paidAmount';
const TAKEN = 'amount_captured amountCaptured amount_collected amountCollected';
const STATUSES = 'paymentStatus payment_status transactionStatus transaction_status';
const each = (names: string, value: unknown): [object][] => names.split(' ').map((name) => [{ [name]: value }]);

test.each<[object]>([
  ...each(`${AMOUNTS} ${TAKEN}`, 200),
  ...each(STATUSES, 'PENDING'),
  ...each('refunded reversed disputed', true),
  // E1: the status may be the call's own.
  [{ payment: { status: 'PENDING', amount: 8500 } }],
  [{ transaction: { status: 'PENDING', reference: REFERENCE } }],
])('E1, M24: a paid record is doubted beside %j', (fields) => {
  const evidence = judge({ ...RECORD, ...fields });
  expect(evidence).toMatchObject({ outcome: 'paid', shows: 850_000n });
  expect(evidence?.doubt).toMatch(/./);
});

test.each([
  [{ amount_refunded: 500 }, 'paid', 800_000n, 50_000n],
  [{ refunded: 500 }, 'paid', 800_000n, 50_000n],
  [{ amount_refunded: 8500 }, 'paid', 0n, 850_000n],
  [{ amount_refunded: 9000 }, 'paid', 0n, 900_000n],
  [{ status: 'REVERSED' }, 'reversed', 0n, 850_000n],
  [{ status: 'Refunded', amount_refunded: 8000 }, 'reversed', 50_000n, 800_000n],
  [{ status: 'chargeback', amount: null }, 'reversed', 0n, null],
])('M23, P7: %j is %s, shows %s, and %s went', (fields, outcome, shows, gone) => {
  expect(judge({ ...RECORD, ...fields })).toMatchObject({ outcome, shows, gone, doubt: null });
});

test.each([
  ['paid', 'SUCCESS success Successful succeeded PAID completed'],
  ['pending', 'PENDING IN_REVIEW processing abandoned'],
  ['failed', 'FAILED declined cancelled canceled'],
  ['reversed', 'REVERSED refunded chargeback'],
  ['unknown', 'COLLECTED REFUND_PENDING settled true 200 00 failed/cancelled'],
])('words: %s is %s', (outcome, list) => {
  const said = list.split(' ').map((status) => judge({ ...RECORD, status })?.outcome);
  expect(said).toEqual(said.map(() => outcome));
});

test.each<[number | null, unknown]>([
  [1, { data: [RECORD] }],
  [2, { status: true, data: { data: [RECORD, RECORD], page: 1, hasNextPage: false } }],
  [0, { data: [] }],
  [null, { data: {} }],
  [null, { status: false, message: 'no', data: {} }],
  [null, { status: false, message: 'no', data: [] }],
])('E11: %s rows are on the page %j', (rows, page) => {
  expect(adapter.history.rows(page)?.length ?? null).toBe(rows);
});

test.each<[unknown, string[]]>([
  [{ event: 'x', data: RECORD }, [REFERENCE]],
  [RECORD, [REFERENCE]],
  [
    [RECORD, { data: { reference: 'b' } }],
    [REFERENCE, 'b'],
  ],
  [{ events: [{ data: RECORD }] }, [REFERENCE]],
  [{ data: [{ reference: 'a' }, { reference: 'b' }] }, ['a', 'b']],
  [{ event: 'x', data: { id: 7, reference: 7 } }, []],
  [null, []],
])('P20: the webhook %j is about %j', (body, references) => {
  expect([...new Set(adapter.webhook.references(body))]).toEqual(references);
});

const HERE = { path: '/l?page=3&skip=50', number: 3, rows: 20 };
const [byPage, byOffset, byLink] = [pages({ page: 'page' }), offsets({ offset: 'skip' }), link({ at: 'next' })];
const byCursor = cursor({ parameter: 'page', at: 'meta.next' });

test.each<[string, string | null, string | null]>([
  ['numbered pages go on', byPage({}, HERE), '/l?page=4&skip=50'],
  ['an empty page ends them', byPage({}, { ...HERE, rows: 0 }), null],
  ['or the page says so', pages({ page: 'page', isLast: () => true })({}, HERE), null],
  ['offsets advance by the rows received', byOffset({}, HERE), '/l?page=3&skip=70'],
  ['a cursor is followed', byCursor({ meta: { next: 'a/b' } }, HERE), '/l?page=a%2Fb&skip=50'],
  ['no cursor is the end', byCursor({ meta: { next: null } }, HERE), null],
  ['a link is followed on our own host', byLink({ next: 'https://evil.example/l?c=2' }), '/l?c=2'],
  ['no link is the end', byLink({ next: '' }), null],
])('E5: %s', (_, next, expected) => {
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
  [false, 'a prefix that is missing', PREFIXED, { 'x-mac': mac(BODY) }],
  [true, 'the first of a list', LISTED, { 'x-mac': `${list(SEC)},v1=00` }],
  [true, 'the last of a list', LISTED, { 'x-mac': list(SEC).replace('v1', 'v1=00,v1') }],
  [false, 'a list that is too old', LISTED, { 'x-mac': list(OLD) }],
  [false, 'a list with another time', LISTED, { 'x-mac': list(OLD).replace(OLD, SEC) }],
  [true, 'a time in its own header', HEADED, { 'x-mac': stamped(SEC), 'x-time': SEC }],
  [false, 'no time', HEADED, { 'x-mac': stamped(SEC) }],
  [false, 'none', PLAIN, {}],
  [false, 'that of another body', PLAIN, { 'x-mac': mac('another') }],
])('a signature is right, %s: %s', (is, _, scheme, headers) => {
  expect(hmac(scheme)({ headers, body: BODY, secret: 'secret', now: NOW })).toBe(is);
  expect(hmac(scheme)({ headers, body: BODY, secret: 'another', now: NOW })).toBe(false);
});

test('an error is stored and logged without addresses and control characters, and cut', () => {
  const said = storable(`no such receiver: "Ada" <ada.obi+x@example.com>,\u0000bob@shop.example ${'x'.repeat(600)}`);
  expect(said).toContain('no such receiver: "Ada" <…@example.com>, …@shop.example x');
  expect(said).toHaveLength(500);
});
