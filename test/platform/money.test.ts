import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  displayMoney,
  formatMajor,
  isPowerOfTenApart,
  minorDigits,
  parseMajor,
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
