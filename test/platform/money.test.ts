import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  displayMoney,
  formatMajor,
  isPowerOfTenApart,
  minorDigits,
  parseMajor,
  plainDecimal,
} from '../../src/platform/money.ts';

describe('an amount keeps its value between minor units and text', () => {
  test.each([
    ['NGN', 2, 2500n, '25.00', 'NGN 25.00'],
    ['NGN', 2, 5n, '0.05', 'NGN 0.05'],
    ['XOF', 0, 2500n, '2500', 'XOF 2,500'],
    ['KWD', 3, 4750n, '4.750', 'KWD 4.750'],
  ])('%s has %i digits: %s is %s', (currency, digits, amount, text, shown) => {
    expect(minorDigits(currency)).toBe(digits);
    expect(formatMajor({ amount, currency })).toBe(text);
    expect(parseMajor(text, currency)).toBe(amount);
    expect(displayMoney({ amount, currency })).toBe(shown);
  });

  test.each([
    'XXX',
    'XTS',
    'XAU',
    'XAG',
    'XDR',
    'XPT',
    'XPD',
    'XBA',
    'XSU',
    'XUA',
    'ngn',
    'Ngn',
    'NGN ',
    'BTC',
    '',
  ])('C6: %j is no currency', (code) => {
    expect(minorDigits(code)).toBeNull();
    expect(parseMajor('25.00', code)).toBeNull();
  });

  test('C6: every currency that this computer knows and people can pay in is known', () => {
    // Withdrawn ones, drawing rights and units of account that ICU keeps for old books.
    const old = ['HRK', 'SLL', 'ZWL', 'XDR', 'XSU', 'LTL', 'LVL', 'EEK', 'XAD'];
    const codes = Intl.supportedValuesOf('currency').filter((code) => !old.includes(code));
    expect(codes.length).toBeGreaterThan(150);
    expect(codes.filter((code) => minorDigits(code) === null)).toEqual([]);
    expect(minorDigits('XCG')).toBe(2);
  });

  test('for every amount and currency, there and back', () => {
    const amounts = fc.bigInt({ min: 0n, max: 999_999_999_999_999n });
    fc.assert(
      fc.property(amounts, fc.constantFrom('NGN', 'XOF', 'KWD', 'CLF'), (amount, currency) => {
        expect(parseMajor(formatMajor({ amount, currency }), currency)).toBe(amount);
      }),
    );
  });
});

test('the largest amounts are exact to the last digit, where a float is not', () => {
  expect(parseMajor('999999999999999.99', 'NGN')).toBe(99_999_999_999_999_999n);
  expect(parseMajor('90071992547409.931', 'KWD')).toBe(90_071_992_547_409_931n);
});

describe('a text that is not exactly that money is refused, never rounded', () => {
  test.each([
    ['99.995', 'NGN'],
    ['99.99995', 'NGN'],
    ['1.5', 'XOF'],
    ['1e3', 'NGN'],
    ['1,000.00', 'NGN'],
    ['-1.00', 'NGN'],
    ['+1', 'NGN'],
    ['NaN', 'NGN'],
    ['Infinity', 'NGN'],
    ['', 'NGN'],
    [' 1', 'NGN'],
    ['1.', 'NGN'],
    ['.5', 'NGN'],
    ['0x10', 'NGN'],
    ['١٢', 'NGN'],
    ['1000000000000000', 'NGN'],
    ['999999999999999', 'CLF'],
    ['1.00', 'ABC'],
  ])('%j %s', (text, currency) => {
    expect(parseMajor(text, currency)).toBeNull();
  });

  test('zeros behind the last minor unit change nothing', () => {
    expect(parseMajor('25.0000', 'NGN')).toBe(2500n);
    expect(parseMajor('2500.00', 'XOF')).toBe(2500n);
  });
});

test('amounts a power of ten apart are told from amounts that are merely different', () => {
  expect(isPowerOfTenApart(2500n, 250_000n)).toBe(true);
  expect(isPowerOfTenApart(250_000n, 2500n)).toBe(true);
  expect(isPowerOfTenApart(2500n, 2500n)).toBe(false);
  expect(isPowerOfTenApart(2500n, 5000n)).toBe(false);
  expect(isPowerOfTenApart(0n, 2500n)).toBe(false);
});

describe('G14: a JSON number with an exponent loses it digit by digit, or is none', () => {
  test.each([
    ['25.00', '25.00'],
    ['1.85e1', '18.5'],
    ['1.85E+1', '18.5'],
    ['1e3', '1000'],
    ['5e-3', '0.005'],
    ['-2.50e1', '-25.0'],
    ['0.05e2', '5'],
    ['12.5e-1', '1.25'],
    ['1e30', `1${'0'.repeat(30)}`],
    ['0e0', '0'],
  ])('%s is %s', (text, plain) => {
    expect(plainDecimal(text)).toBe(plain);
  });
  test.each([
    '1e31',
    '1e-31',
    '1e400',
    '1e-400',
    '1e99999999999',
    'e5',
    '1e',
    '1e+',
    '1.e5',
    `${'1'.repeat(41)}e1`,
  ])('%s is not written out', (text) => {
    expect(plainDecimal(text)).toBeNull();
  });
  test('no other than the number itself', () => {
    const number = fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 17n }), fc.integer({ min: -15, max: 15 }));
    fc.assert(
      fc.property(number, fc.nat(8), ([digits, exponent], point) => {
        const text = digits.toString().padStart(point + 1, '0');
        const mantissa = point === 0 ? text : `${text.slice(0, -point)}.${text.slice(-point)}`;
        const [whole = '', fraction = ''] = (plainDecimal(`${mantissa}e${exponent}`) ?? '').split('.');
        // Both as whole numbers of 10^-40.
        expect(BigInt(whole + fraction.padEnd(40, '0'))).toBe(digits * 10n ** BigInt(40 + exponent - point));
      }),
    );
  });
});
