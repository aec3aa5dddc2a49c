import { readFileSync } from 'node:fs';
import { describe, expect, test as testOfBoth } from '@jest/globals';
import { defaultDialect } from '../support/dialect.ts';
import { IS_WHOLE } from '../support/extent.ts';
import { testOfFew as test } from '../support/test-of-all.ts';
import { parseDialect } from '../../src/gateway/dialect/dialect.ts';
import { contentOf } from '../../src/gateway/verify.ts';
import type { Evidence } from '../../src/gateway/records/evidence.ts';
import { CONTRADICTORY, HONEST, PLAIN_RECORD } from './contradictory-records.ts';

/** What verify makes of an answer; numbers written as `"@8.5e3"` are put in as they stand. */
function evidenceOf(answer: object, dialect = defaultDialect): Evidence {
  const body = Buffer.from(JSON.stringify(answer).replace(/"@([^"]*)"/g, '$1'));
  const content = contentOf(
    { status: 200, headers: { 'content-type': 'application/json' }, body },
    dialect,
    'NGN',
  );
  if (content.kind !== 'record') throw new Error(`no record: ${JSON.stringify(content)}`);
  return content.evidence;
}
const contradictionIn = (change: object, dialect = defaultDialect): string | null =>
  evidenceOf({ data: { ...PLAIN_RECORD, ...change } }, dialect).contradiction;

describe('A2: a record that contradicts itself says so', () => {
  test.each(Object.entries(CONTRADICTORY))('%s', (_name, change) => {
    expect(contradictionIn(change)).toEqual(expect.any(String));
  });
});

describe('A2: an honest record does not', () => {
  test.each(Object.entries(HONEST))('%s', (_name, change) => {
    expect(contradictionIn(change)).toBeNull();
  });
  test('nor does one with all of that at once', () => {
    const { amount, currency } = PLAIN_RECORD;
    const all = Object.values(HONEST).reduce((some, one) => ({ ...some, ...one }), {});
    expect(contradictionIn({ ...all, amount, currency })).toBeNull();
  });
});

test.each(['PENDING', 'FAILED', 'EXPIRED', 'REVERSED', 'COLLECTED'])(
  'A2: a record that says %s stays what it is',
  (status) => {
    for (const change of Object.values(CONTRADICTORY))
      expect(contradictionIn({ ...change, status })).toBeNull();
  },
);

describe('A2: what the dialect file names itself is decided', () => {
  const naming = (verify: object) => parseDialect(JSON.stringify({ verify })).dialect;
  test('the amount', () => {
    const dialect = naming({ amount: ['/amount'] });
    expect(contradictionIn({ amountReceived: 200 }, dialect)).toBeNull();
    expect(contradictionIn({ amountReceived: 200, refunded: true }, dialect)).not.toBeNull();
    expect(contradictionIn({ paymentStatus: 'pending' }, dialect)).not.toBeNull();
  });
  test('the status', () => {
    const dialect = naming({ status: ['/payment_status'] });
    const change = { payment_status: 'paid', status: 'open' };
    expect(contradictionIn(change, dialect)).toBeNull();
    expect(contradictionIn({ ...change, amount_paid: 1 }, dialect)).not.toBeNull();
    expect(contradictionIn({ ...change, refunded: true }, dialect)).not.toBeNull();
  });
  test('but a currency inside the amount is the amount’s', () => {
    const dialect = naming({ currency: ['/currency'], amount: ['/amount/value'] });
    expect(contradictionIn({ amount: { value: 8500, currency: 'USD' } }, dialect)).not.toBeNull();
  });
  test('a file that repeats the defaults has decided nothing', () => {
    const { amount, status } = defaultDialect.verify;
    expect(contradictionIn({ amountReceived: 200 }, naming({ amount }))).not.toBeNull();
    expect(contradictionIn({ paymentStatus: 'pending' }, naming({ status }))).not.toBeNull();
  });
  test.each([
    [{ amount: ['/amountReceived', '/amount'] }, { amountReceived: 8500, amount: 9000 }],
    [{ status: ['/state', '/status'] }, { state: 'paid', status: 'pending' }],
    [{ reference: ['/reference', '/merchant_ref'] }, { merchant_ref: 'another' }],
    [{ currency: ['/currency', '/iso'] }, { iso: 'USD' }],
    [{ currency: ['/currency', '/iso'] }, { iso: 'n/a' }],
  ])('two fields that %j both names are not "the first wins": %j', (verify, change) => {
    expect(contradictionIn(change, naming(verify))).not.toBeNull();
  });
  test('an amount that may be absent does not make another one of no account', () => {
    const dialect = naming({ amountMayBeAbsent: true });
    expect(contradictionIn({ amount: undefined }, dialect)).toBeNull();
    expect(contradictionIn({ amount: undefined, amountReceived: 1 }, dialect)).not.toBeNull();
  });
});

describe('A2: what stands around the record', () => {
  const around = (change: object): string | null =>
    evidenceOf({ status: 'success', ...change, data: PLAIN_RECORD }).contradiction;
  test.each([
    { status: 'reversed' },
    { status: 'PENDING' },
    { status: 'expired' },
    { refunded: true },
    { refunds: [{ amount: 8500 }] },
    { transaction: { status: 'pending' } },
    { paymentStatus: 'refunded' },
    { amountPaid: 200 },
    { currency: 'USD' },
    { amount: 200 },
    { charge: { amount: 200 } },
  ])('%j speaks of the payment, too', (change) => {
    expect(around(change)).not.toBeNull();
  });
  test.each([
    { Success: false },
    { isSuccess: 'false' },
    { successful: false },
    { Status: 'Failed' },
    { error: ['not found'] },
    { error: 404 },
    { errors: [{ code: 'NOT_FOUND' }] },
  ])('%j says that the call failed', (change) => {
    expect(() => around(change)).toThrow('call-failed');
  });
  test.each([{ mode: 'test' }, { livemode: 'false' }])('%j is the mode of a record without one', (change) => {
    expect(evidenceOf({ ...change, data: PLAIN_RECORD }).mode).toBe('test');
  });
  test('also between two envelopes', () => {
    const data = { ...PLAIN_RECORD, status: 'pending', data: PLAIN_RECORD };
    expect(evidenceOf({ status: true, data }).contradiction).not.toBeNull();
  });
  test.each([
    {},
    { status: true },
    { status: 200 },
    { status: '00', state: null },
    { status: 'ok', message: 'x', code: '00' },
    { success: 0, statusText: 'OK', refunds: [], refunded: false },
    { meta: { status: 'pending' }, customer: { status: 'pending' }, paymentStatus: 'PAID' },
    { error: { type: null, code: null, message: null } },
    { error: {}, errors: [] },
    { error: 0, Success: true, isSuccessful: 1 },
  ])('%j is the call’s', (change) => {
    expect(around(change)).toBeNull();
  });
});

describe('A2: an answer that is the record itself', () => {
  const bare = (change: object, dialect = defaultDialect): string | null =>
    evidenceOf({ ...PLAIN_RECORD, ...change }, dialect).contradiction;
  test.each([
    { message: 'Transaction fetched' },
    { message: null },
    { code: 200 },
    { Message: 'ok' },
    { status_code: 200 },
    { transaction: { status: 'success' } },
    { payment: { reference: 'x', amount: 8500 } },
    { message: 'ok', transaction: { status: 'pending' } },
    { charge: { state: 'paid' } },
    { result: { amount: 8500 } },
  ])('with %j is an envelope, and its status is the call’s', (change) => {
    expect(bare(change)).toMatch(/"status" beside|disagrees/);
  });
  test.each([
    {},
    { success: true },
    { customer: { status: 'active', reference: 'c1' }, card: { status: 'expired' } },
    { metadata: { status: 'pending', amount: 1 }, authorization: { status: 'x' } },
    { gateway_response: 'Approved', responseCode: '00', response_message: 'Approved', authCode: '1' },
    { transactionId: 'x', paymentMethod: { status: 'active' }, paymentDetails: { method: 'card' } },
    { fees: { amount: 12 }, settlement: { status: 'pending', reference: 'b1', amount: 1 } },
  ])('with %j is a record', (change) => {
    expect(bare(change)).toBeNull();
  });
  test('where the dialect file names the record or the status, that is decided', () => {
    const naming = (verify: object) => parseDialect(JSON.stringify({ verify })).dialect;
    expect(bare({ message: 'Approved' }, naming({ record: [''] }))).toBeNull();
    expect(bare({ message: 'x', state: 'paid' }, naming({ status: ['/state'] }))).toBeNull();
    expect(bare({ message: 'Approved' }, naming({ record: ['/data', ''] }))).not.toBeNull();
  });
});

describe('A2: the page "What we believe" shows what is so', () => {
  const page = readFileSync(new URL('../../docs/what-we-believe.md', import.meta.url), 'utf8');
  const [against, honest] = [...page.matchAll(/^```json\n([\s\S]*?)^```/gm)].map(
    ([, text = '']) => JSON.parse(text) as object[],
  );
  test('records that contradict themselves', () => {
    expect(against?.length).toBeGreaterThan(10);
    expect(against?.filter((change) => contradictionIn(change) === null)).toEqual([]);
  });
  test('and their false friends', () => {
    expect(honest?.length).toBeGreaterThan(10);
    expect(honest?.filter((change) => contradictionIn(change) !== null)).toEqual([]);
  });
});

test('A2: the sentence names fields and no values, and no name is long or unprintable', () => {
  const name = `refunded\u0000\u202e${' '.repeat(40)}amount`;
  const text = contradictionIn({ [name]: 'secret-value', paymentStatus: 'secret-word', amountPaid: 4242 });
  expect(text).toMatch(/^[\x20-\x7e]+$/);
  expect(text).not.toMatch(/secret|4242/);
  expect(text?.length).toBeLessThan(3 * 120);
  expect(contradictionIn({ paymentStatus: 'pending' })).toBe('"paymentStatus" disagrees with the status');
  expect(contradictionIn({ amountPaid: 1 })).toBe('"amountPaid" disagrees with the amount');
});

testOfBoth('A2: a record with thousands of odd keys is read in no time', () => {
  const keys = IS_WHOLE ? 20_000 : 5_000;
  const odd = Object.fromEntries(
    Array.from({ length: keys }, (_none, at) => [`${'payat'.repeat(11)}${at}`, at]),
  );
  const begun = process.cpuUsage();
  expect(contradictionIn(odd)).toBeNull();
  expect(process.cpuUsage(begun).user).toBeLessThan(250 * keys);
});
