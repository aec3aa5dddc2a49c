import { expect, test } from '@jest/globals';
import type { Reading } from '../../src/gateway/adapter.ts';
import { evidenceOf, storable, type Evidence } from '../../src/gateway/evidence.ts';
import sandbox from '../../local/sandbox-adapter.ts';

// What the reading of a record proves, for any adapter.

const READING: Reading = { reference: 'ref', status: 'paid', word: 'SUCCESS', amount: 8500, currency: 'NGN', id: '7' };

function judge(fields: Partial<Reading>): Evidence {
  const reading = { ...READING, ...fields };
  return evidenceOf(reading, { reference: 'ref', mode: 'live' }, sandbox, { httpStatus: 200, body: '' });
}

test.each<[string, Partial<Reading>]>([
  ['with a number', {}],
  ['with texts', { amount: '8500.00', currency: ' ngn' }],
  ['with capitals', { reference: 'REF' }],
  ['with the expected mode', { mode: 'live' }],
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
  ['another reference', { reference: 'another' }],
  ['no reference', { reference: null }],
  ['no currency', { currency: null }],
  ['no amount', { amount: null }],
  ['an amount of 0', { amount: 0 }],
  ['an amount that is not exact', { amount: 8499.999999999998 }],
  ['an unreadable refund', { refunded: '5,00' }],
  ['test mode', { mode: 'test' }],
])('a reading with %s is unproven and shows no money', (_, fields) => {
  expect(judge(fields)).toMatchObject({ outcome: 'unproven', balance: null });
  expect(judge(fields).doubt).toMatch(/./);
});

test('a doubt is kept with the money', () => {
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
])('%j is %s, with a balance of %s and an outflow of %s', (fields, outcome, balance, outflow) => {
  expect(judge(fields)).toMatchObject({ outcome, balance, outflow, doubt: null });
});

test('an error is stored and logged without e-mail addresses and control characters, and is cut', () => {
  const said = storable(`no such receiver: "Ada" <ada.obi+x@example.com>,\u0000bob@shop.example ${'x'.repeat(600)}`);
  expect(said).toContain('no such receiver: "Ada" <…@example.com>, …@shop.example x');
  expect(said).toHaveLength(500);
});
