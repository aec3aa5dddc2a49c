import { expect, test } from '@jest/globals';
import type { Reading } from '../../src/gateway/adapter.ts';
import { evidenceOf, storable, type Evidence } from '../../src/gateway/evidence.ts';
import sandbox from '../../local/sandbox-adapter.ts';

// What a reading of a record proves, whatever adapter has read it.

const READING: Reading = { reference: 'ref', status: 'paid', word: 'SUCCESS', amount: 8500, currency: 'NGN', id: '7' };

function judge(fields: Partial<Reading>): Evidence {
  const reading = { ...READING, ...fields };
  return evidenceOf(reading, { reference: 'ref', mode: 'live' }, sandbox, { httpStatus: 200, body: '' });
}

test.each<[string, Partial<Reading>]>([
  ['of a number', {}],
  ['of texts', { amount: '8500.00', currency: ' ngn' }],
  ['in capitals', { reference: 'REF' }],
  ['of the mode that was asked about', { mode: 'live' }],
])('a reading %s proves the price', (_, fields) => {
  expect(judge(fields)).toMatchObject({
    outcome: 'paid',
    balance: 850_000n,
    outflow: 0n,
    currency: 'NGN',
    doubt: null,
  });
});

test.each<[string, Partial<Reading>]>([
  ['E2: a neighbour', { reference: 'another' }],
  ['no reference', { reference: null }],
  ['no currency', { currency: null }],
  ['no amount', { amount: null }],
  ['M20: amount 0', { amount: 0 }],
  ['E3: almost', { amount: 8499.999999999998 }],
  ['a refund that nobody can read', { refunded: '5,00' }],
  ['P10: test mode', { mode: 'test' }],
])('unproven, and no money, by %s', (_, fields) => {
  expect(judge(fields)).toMatchObject({ outcome: 'unproven', balance: null });
  expect(judge(fields).doubt).toMatch(/./);
});

test('a doubt is kept beside the money', () => {
  expect(judge({ doubt: 'it is disputed' })).toMatchObject({
    outcome: 'paid',
    balance: 850_000n,
    doubt: 'it is disputed',
  });
});

test.each<[Partial<Reading>, string, bigint, bigint | null]>([
  [{ refunded: 500 }, 'paid', 800_000n, 50_000n],
  [{ refunded: 8500 }, 'paid', 0n, 850_000n],
  [{ refunded: 9_000 }, 'paid', 0n, 850_000n],
  [{ status: 'reversed' }, 'reversed', 0n, 850_000n],
  [{ status: 'reversed', refunded: 8000 }, 'reversed', 50_000n, 800_000n],
  [{ status: 'reversed', amount: null }, 'reversed', 0n, null],
])('M23, P7: %j is %s, shows %s, and %s went', (fields, outcome, balance, outflow) => {
  expect(judge(fields)).toMatchObject({ outcome, balance, outflow, doubt: null });
});

test('an error is stored and logged without addresses and control characters, and cut', () => {
  const said = storable(`no such receiver: "Ada" <ada.obi+x@example.com>,\u0000bob@shop.example ${'x'.repeat(600)}`);
  expect(said).toContain('no such receiver: "Ada" <…@example.com>, …@shop.example x');
  expect(said).toHaveLength(500);
});
