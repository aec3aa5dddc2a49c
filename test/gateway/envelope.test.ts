import { describe, expect, test } from '@jest/globals';
import { isFailedCall, findRecord, readEvidence } from '../../src/gateway/records/evidence.ts';
import { parseDialect } from '../../src/gateway/dialect/dialect.ts';
import { readJson } from '../../src/gateway/dialect/json-pointer.ts';
import { defaultDialect } from '../support/dialect.ts';

const RECORD = { reference: 'R1', status: 'SUCCESS', amount: 25, currency: 'NGN' };

/** What the answer says of the payment; "nothing" when it says that the call failed. */
function statusIn(answer: unknown, dialect = defaultDialect): string {
  const document = readJson(Buffer.from(JSON.stringify(answer)));
  const found = findRecord(document, dialect.verify.record);
  if (found === null || isFailedCall(document, found.pointer)) return 'nothing';
  return readEvidence(found.record, dialect.verify, dialect, 'NGN').status;
}

/** Every wrapper that was seen in the field, around a full record. */
const responseBody = parseDialect('{"verify":{"record":["/responseBody"]}}').dialect;
const WRAPPERS: [string, (flags: object) => unknown, typeof defaultDialect][] = [
  ['data', (flags) => ({ ...flags, message: 'x', data: RECORD }), defaultDialect],
  ['data.data, flags outside', (flags) => ({ ...flags, data: { data: RECORD } }), defaultDialect],
  ['data.data, flags in the middle', (flags) => ({ data: { ...flags, data: RECORD } }), defaultDialect],
  ['responseBody', (flags) => ({ ...flags, responseBody: RECORD }), responseBody],
];

const SUCCESS_FLAGS = [
  true,
  'true',
  'success',
  'SUCCESS',
  'Successful',
  'ok',
  200,
  '200',
  201,
  '00',
  '0',
  0,
  null,
];
const FAILURE_FLAGS = [false, 'false', 'FALSE', 'error', 'Error', 'failed', 'FAILED', 'failure', 'fail'];

describe.each(WRAPPERS)('around a paid record, in %s', (_name, wrap, dialect) => {
  test('no flag at all: paid', () => {
    expect(statusIn(wrap({}), dialect)).toBe('paid');
  });
  test.each(SUCCESS_FLAGS)('a call that went well (%j): paid, whatever the flag is called', (flag) => {
    for (const key of [
      'status',
      'success',
      'ok',
      'requestSuccessful',
      'code',
      'responseCode',
      'statusCode',
    ]) {
      expect(statusIn(wrap({ [key]: flag }), dialect)).toBe('paid');
    }
  });
  test.each(FAILURE_FLAGS)('a call that failed (%j): it proves nothing', (flag) => {
    for (const key of ['status', 'success', 'ok', 'requestSuccessful']) {
      expect(statusIn(wrap({ [key]: flag }), dialect)).toBe('nothing');
    }
  });
  test.each([400, 404, '404', 422, 500, '503'])('a code of an HTTP error (%j): it proves nothing', (code) => {
    for (const key of ['status', 'code', 'statusCode'])
      expect(statusIn(wrap({ status: true, [key]: code }), dialect)).toBe('nothing');
  });
  test.each([true, 'not found', { message: 'x' }])('an error (%j): it proves nothing', (error) => {
    expect(statusIn(wrap({ error }), dialect)).toBe('nothing');
  });
  test.each([false, null, '', {}, '0', 'none'])('an error field that names none (%j): paid', (error) => {
    expect(statusIn(wrap({ error }), dialect)).toBe('paid');
  });
  test('an outer word of the payment, not of the call: the record decides', () => {
    for (const status of ['SUCCESS', 'paid', 'completed'])
      expect(statusIn(wrap({ status }), dialect)).toBe('paid');
  });
});

test("the outer word never pays: the record's own does", () => {
  expect(statusIn({ status: 'success', success: true, data: { ...RECORD, status: 'failed' } })).toBe(
    'failed',
  );
  expect(statusIn({ status: 'success', data: { ...RECORD, status: 'PENDING' } })).toBe('pending');
});

describe('a bare record', () => {
  test("its status is the payment's", () => {
    expect(statusIn(RECORD)).toBe('paid');
    expect(statusIn({ ...RECORD, status: 'FAILED' })).toBe('failed');
    expect(statusIn({ ...RECORD, status: 'error' })).toBe('unknown');
    expect(statusIn({ ...RECORD, status: false })).toBe('unknown');
  });
  test('its code and an error of an earlier try are its own', () => {
    expect(statusIn({ ...RECORD, code: 404, error: 'insufficient funds' })).toBe('paid');
  });
  test.each([true, 'true', 'success', 200, '00', 0])('success %j beside it: paid', (success) => {
    expect(statusIn({ ...RECORD, success })).toBe('paid');
  });
  test.each([{ success: false }, { success: 'false' }, { requestSuccessful: false }, { error: true }])(
    'a failed call beside it (%j): it proves nothing',
    (flag) => {
      expect(statusIn({ ...RECORD, ...flag })).toBe('nothing');
    },
  );
});
