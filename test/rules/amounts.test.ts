import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fromServiceAmount, toServiceAmount } from '../../src/gateway/amounts.ts';
import { formatMajor, isPowerOfTenApart, minorDigits, parseMajor } from '../../src/platform/money.ts';

const MAJOR = { amountUnit: 'major' } as const;
const MINOR = { amountUnit: 'minor', decimals: { IDR: 0 } } as const;
const NO_AMOUNTS = ['1e3', '25,00', '8,500.00', '1_000', '+25', ' 25', '25.', '.5', '', '0x19', '२५', 'NaN', '--5'];

// A number means its shortest text. A text must be a plain decimal.
test.each<[bigint | null, string, string]>([
  [850_000n, 'NGN', '8500'],
  [850_000n, 'NGN', '"8500.00"'],
  [2_500n, 'NGN', '"25.000000"'],
  [18_500n, 'KWD', '18.5'],
  [null, 'KWD', '"18.5001"'],
  [null, 'XOF', '65000.5'],
  [-50_000n, 'NGN', '-500'],
  [100_000n, 'NGN', '1e3'],
  [null, 'NGN', '1e-7'],
  [null, 'NGN', '1e400'],
  [0n, 'NGN', '-0'],
  [0n, 'NGN', '"-0"'],
  [null, 'NGN', '99.99995'],
  [null, 'NGN', '8499.999999999998'],
  [999_999_999_999_999n, 'NGN', '9999999999999.99'],
  [null, 'NGN', '99999999999999.99'],
  [null, 'XOF', '9007199254740993'],
  [null, 'XOF', '"9007199254740993"'],
  [null, 'XXX', '25'],
  [null, 'ngn', '25'],
  ...NO_AMOUNTS.map((text): [null, string, string] => [null, 'NGN', JSON.stringify(text)]),
])('the minor units are %s for %s %s', (minor, currency, json) => {
  expect(fromServiceAmount(JSON.parse(json) as string | number, currency, MAJOR)).toBe(minor);
});

test.each<[bigint, string, number | null]>([
  [850_000n, 'NGN', 850_000],
  [18_500n, 'KWD', 18_500],
  [8_500_000n, 'IDR', 85_000],
  [8_500_001n, 'IDR', null],
  [10n ** 15n, 'NGN', null],
])('%s %s is sent in minor units as %s, and is read back', (amount, currency, sent) => {
  expect(toServiceAmount({ amount, currency }, MINOR)).toBe(sent);
  if (sent !== null) expect(fromServiceAmount(sent, currency, MINOR)).toBe(amount);
});

test('every sent amount is read back exactly, in every unit and currency, as a number and as a text', () => {
  const currencies = fc.constantFrom('NGN', 'XOF', 'KWD', 'IDR', 'CLF');
  const sendAndRead = (some: bigint, currency: string, units: typeof MAJOR | typeof MINOR): void => {
    const amount = units === MINOR && currency === 'IDR' ? some * 100n : some;
    const sent = JSON.stringify(toServiceAmount({ amount, currency }, units));
    for (const value of [JSON.parse(sent) as number, sent])
      expect(fromServiceAmount(value, currency, units)).toBe(amount);
  };
  const amounts = fc.bigInt(1n, 10n ** 15n - 1n);
  const property = fc.property(amounts, currencies, fc.constantFrom(MAJOR, MINOR), sendAndRead);
  fc.assert(property, { numRuns: 5_000, seed: 36 });
});

test('a number is read exactly or not at all', () => {
  const property = fc.property(fc.double({ min: 0, max: 1e16, noNaN: true }), (value) => {
    const read = fromServiceAmount(value, 'KWD', MAJOR);
    if (read !== null) expect(Number(formatMajor({ amount: read, currency: 'KWD' }))).toBe(value);
  });
  fc.assert(property, { numRuns: 5_000, seed: 36 });
});

test.each<[bigint, string, string]>([
  [2_500n, 'NGN', '25.00'],
  [5n, 'KWD', '0.005'],
  [-1n, 'NGN', '-0.01'],
])('%s minor units of %s are written as %s and read back', (amount, currency, text) => {
  expect([formatMajor({ amount, currency }), parseMajor(text, currency)]).toEqual([text, amount]);
});

test('currencies have the decimals of ISO 4217, and codes that are not money have none', () => {
  const digits = ['NGN', 'XOF', 'KWD', 'IDR', 'CLF', 'XAU', 'XXX', 'ngn', 'NAIRA', ''].map(minorDigits);
  expect(digits).toEqual([2, 0, 3, 2, 4, null, null, null, null, null]);
});

test.each<[string, bigint, bigint[]]>([
  ['are', 8_500n, [850_000n, 85n, 85_000n]],
  ['are not', 8_500n, [8_500n, 8_501n, 0n, -850n, 17_000n, 850_001n]],
])('these amounts %s a power of ten apart from %s: %j', (are, amount, others) => {
  for (const other of others) expect([other, isPowerOfTenApart(amount, other)]).toEqual([other, are === 'are']);
});
