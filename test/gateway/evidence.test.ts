import { describe, expect, test } from '@jest/globals';
import { parseDialect } from '../../src/gateway/dialect/dialect.ts';
import { defaultDialect } from '../support/dialect.ts';
import { findRecord, readEvidence } from '../../src/gateway/records/evidence.ts';
import { readJson } from '../../src/gateway/dialect/json-pointer.ts';

function evidenceOf(json: string, dialect = defaultDialect) {
  const found = findRecord(readJson(Buffer.from(json)), dialect.verify.record);
  return found === null ? null : readEvidence(found.record, dialect.verify, dialect, 'NGN');
}

const FIELDS = '"reference":"R1","status":"SUCCESS","amount":25.00,"currency":"NGN"';
const PAID = {
  status: 'paid',
  reference: { is: 'read', value: 'R1' },
  amount: { is: 'read', value: 2500n },
  currency: { is: 'read', value: 'NGN' },
};

describe('the most probable shapes are read as they come', () => {
  test.each([
    [
      'an envelope whose status speaks about the call',
      `{"status":true,"message":"ok","code":200,"data":{"id":1,${FIELDS}}}`,
    ],
    ['the bare record', `{"id":"t1",${FIELDS}}`],
    ['two envelopes', `{"data":{"data":{${FIELDS}}}}`],
    [
      'amount with its currency',
      '{"data":{"reference":"R1","status":"success","amount":{"value":"25.00","currency":"ngn"}}}',
    ],
    [
      'amount as a text, words in another case',
      '{"data":{"reference":"R1","status":"Success","amount":"25","currency":"ngn"}}',
    ],
  ])('%s', (_name, json) => {
    expect(evidenceOf(json)).toMatchObject(PAID);
  });

  test('a record with only id and status has a status and no evidence', () => {
    expect(evidenceOf('{"data":{"id":1,"status":"SUCCESS"}}')).toMatchObject({
      status: 'paid',
      reference: { is: 'absent' },
      amount: { is: 'absent' },
      currency: { is: 'absent' },
    });
  });
});

describe("an envelope's word about the call is never taken for the payment's", () => {
  test.each([
    '{"status":"success","data":null}',
    '{"status":"success","data":""}',
    '{"status":"success","data":[]}',
    '{"status":"success","message":"x","data":{"data":null}}',
  ])('%s', (json) => {
    expect(evidenceOf(json)?.status ?? 'none').not.toBe('paid');
  });
  test('an empty record is none', () => {
    expect(evidenceOf('{"status":"success","data":{}}')).toBeNull();
  });
});

describe('words', () => {
  test.each([
    ['IN_REVIEW', 'pending'],
    ['in review', 'pending'],
    ['Abandoned', 'pending'],
    ['CANCELED', 'failed'],
    ['EXPIRED', 'expired'],
    ['refunded', 'reversed'],
    ['COLLECTED', 'unknown'],
    ['success!', 'unknown'],
    ['', 'unknown'],
  ])('%j is %s', (word, status) => {
    expect(evidenceOf(JSON.stringify({ data: { status: word } }))?.status).toBe(status);
  });
  test.each(['true', '1', 'null', '["success"]', '{"value":"success"}'])(
    'a status that is no text (%s) is unknown',
    (value) => {
      expect(evidenceOf(`{"data":{"status":${value}}}`)?.status).toBe('unknown');
    },
  );
});

describe('amounts are read from their source text', () => {
  const amountOf = (amount: string) =>
    evidenceOf(`{"data":{"status":"SUCCESS","currency":"NGN","amount":${amount}}}`)?.amount;
  test('beyond what a float can hold', () => {
    expect(amountOf('90071992547409.93')).toEqual({ is: 'read', value: 9007199254740993n });
  });
  test.each([
    '25.001',
    '99.99995',
    '1e400',
    '1e-400',
    '1e31',
    '-2.5e1',
    '2.5005e1',
    '2.5e+9999999999999999999999',
    `${'9'.repeat(100_000)}e9`,
    '"2.5e1"',
    '"1.85E+1"',
    '-25',
    '-0',
    '"25,00"',
    '"NaN"',
    'true',
    'null',
    '[25]',
    '{"amount":25}',
  ])('%s cannot be read', (amount) => {
    expect(amountOf(amount)).toEqual({ is: 'unreadable' });
  });
  test.each([
    ['1.85e1', 1850n],
    ['2.5E+1', 2500n],
    ['2500e-2', 2500n],
    ['0.025e3', 2500n],
    ['5e-1', 50n],
    ['5.00e-2', 5n],
    ['0e9', 0n],
    ['9.007199254740993e13', 9007199254740993n],
    ['99999999999999900e-2', 99999999999999900n],
  ])('G14: %s, a JSON number with an exponent, is read exactly', (amount, value) => {
    expect(amountOf(amount)).toEqual({ is: 'read', value });
  });
  test('G14: minor units with an exponent, where they are whole', () => {
    const { dialect } = parseDialect('{"amountUnit":"minor"}');
    const minor = (amount: string) =>
      evidenceOf(`{"data":{"status":"SUCCESS","currency":"NGN","amount":${amount}}}`, dialect)?.amount;
    expect(minor('1.85e3')).toEqual({ is: 'read', value: 1850n });
    expect(minor('1.85e1')).toEqual({ is: 'unreadable' });
    expect(minor('1e18')).toEqual({ is: 'unreadable' });
  });
  test('an object with two amounts is refused whole', () => {
    expect(() => readJson(Buffer.from('{"amount":1,"amount":2}'))).toThrow();
  });
  test('minor units, where the dialect says so', () => {
    const { dialect } = parseDialect('{"amountUnit":"minor"}');
    expect(
      evidenceOf('{"data":{"status":"SUCCESS","currency":"NGN","amount":2500}}', dialect)?.amount,
    ).toEqual({ is: 'read', value: 2500n });
    expect(
      evidenceOf('{"data":{"status":"SUCCESS","currency":"NGN","amount":25.5}}', dialect)?.amount,
    ).toEqual({ is: 'unreadable' });
  });
});

test.each(['XAU', 'XXX', 'XDR', 'XTS', 'xag'])(
  'C6: a record in %s names no currency, and its amount is none',
  (code) => {
    expect(
      evidenceOf(`{"data":{"status":"SUCCESS","currency":"${code}","amount":25,"reference":"R1"}}`)?.currency,
    ).toEqual({ is: 'unreadable' });
  },
);

test('C6: a record in XCG, a currency of 2025', () => {
  expect(evidenceOf('{"data":{"status":"SUCCESS","currency":"XCG","amount":18.5}}')).toMatchObject({
    currency: { is: 'read', value: 'XCG' },
    amount: { is: 'read', value: 1850n },
  });
});

describe('the mode that a record names', () => {
  const modeOf = (field: string, dialect = defaultDialect) =>
    evidenceOf(`{"data":{${FIELDS},${field}}}`, dialect)?.mode;
  test.each([
    ['"mode":"test"', 'test'],
    ['"mode":"LIVE"', 'live'],
    ['"mode":"test_mode"', 'test'],
    ['"environment":"sandbox"', 'test'],
    ['"environment":"production"', 'live'],
    ['"livemode":false', 'test'],
    ['"livemode":true', 'live'],
    ['"domain":"test"', 'test'],
    ['"livemode":1', 'live'],
    ['"livemode":"false"', 'test'],
    ['"isTest":true', 'test'],
    ['"sandbox":"yes"', 'test'],
    ['"test_mode":0', 'live'],
    ['"mode":"card","livemode":false', 'test'],
  ])('%s is %s', (field, mode) => {
    expect(modeOf(field)).toBe(mode);
  });
  test.each([
    '"mode":"card"',
    '"mode":null',
    '"mode":true',
    '"mode":["test"]',
    '"environment":"eu-west-1"',
    '"domain":"pay.example.com"',
    '"livemode":"maybe"',
    '"isTest":"maybe"',
    '"test":{"is":true}',
    '"liveChat":true',
    '"mode":"constructor"',
    '"note":"test"',
  ])('%s says nothing', (field) => {
    expect(modeOf(field)).toBeNull();
  });
  test('contradicts another one in the same record', () => {
    const read = evidenceOf(`{"data":{${FIELDS},"mode":"live","isTest":true}}`);
    expect(read?.contradiction).toMatch(/isTest.* disagrees/);
  });
  test('stands where the dialect says', () => {
    const { dialect } = parseDialect('{"verify":{"mode":["/meta/is_test"]}}');
    expect(modeOf('"meta":{"is_test":true}', dialect)).toBe('test');
    expect(modeOf('"meta":{"is_test":false}', dialect)).toBe('live');
    expect(modeOf('"mode":"live"', dialect)).toBeNull();
  });
});

test('a hostile key does not reach the prototype of anything', () => {
  const found = findRecord(
    readJson(Buffer.from('{"data":{"__proto__":{"status":"SUCCESS"},"id":1}}')),
    defaultDialect.verify.record,
  );
  expect(readEvidence(found?.record, defaultDialect.verify, defaultDialect, 'NGN').status).toBe('unknown');
  expect(({} as Record<string, unknown>).status).toBeUndefined();
});
