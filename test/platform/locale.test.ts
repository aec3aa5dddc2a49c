import { describe, expect, test } from '@jest/globals';
import { displayMoment, localeOf } from '../../src/platform/locale.ts';
import { displayMoney, displayNumber } from '../../src/platform/money.ts';

describe('numbers are written as the reader asks for', () => {
  test.each([
    ['de', 'de'],
    ['fr-SN,fr;q=0.9,en;q=0.8', 'fr-SN'],
    ['en;q=0.5, de-AT;q=0.9', 'de-AT'],
    ['de;q=0, fr', 'fr'],
    ['xx-klingon, *;q=0.1, fr;q=0.2', 'fr'],
    ['ar-KW', 'ar-KW'],
    ['zh-Hans-CN', 'zh-Hans-CN'],
  ])('%s', (header, locale) => {
    expect(localeOf(header)).toBe(`${locale}-u-nu-latn`);
  });

  test.each([
    ['nothing', undefined],
    ['an empty header', ''],
    ['anything at all', '*'],
    ['a language nobody knows', 'xx'],
    ['hostile text', '<script>,"; DROP TABLE orders'],
    ['digits of another script, by extension', 'en-u-nu-arab'],
    ['a language far down a list that somebody made up', `${'xx,'.repeat(10)}de`],
    ['more than anybody writes', 'x'.repeat(8_000)],
  ])('and as the pages are for %s', (_name, header) => {
    expect(localeOf(header)).toBe('en');
  });
});

describe('each currency keeps its own decimals in each language', () => {
  test.each([
    ['en', 'NGN 1,234,567.80', 'XOF 123,456,780', 'KWD 123,456.780'],
    ['de', '1.234.567,80 NGN', '123.456.780 XOF', '123.456,780 KWD'],
    ['fr', '1\u202f234\u202f567,80 NGN', '123\u202f456\u202f780 XOF', '123\u202f456,780 KWD'],
    ['en-IN', 'NGN 12,34,567.80', 'XOF 12,34,56,780', 'KWD 1,23,456.780'],
    ['ar-KW', '1,234,567.80 NGN', '123,456,780 XOF', '123,456.780 KWD'],
  ])('%s', (tag, ...shown) => {
    const locale = localeOf(tag);
    const written = ['NGN', 'XOF', 'KWD'].map((currency) =>
      displayMoney({ amount: 123_456_780n, currency }, locale),
    );
    expect(written).toEqual(shown);
  });

  test('to the last minor unit, however large, and below zero', () => {
    expect(displayMoney({ amount: 9_007_199_254_740_993n, currency: 'NGN' }, 'de')).toBe(
      '90.071.992.547.409,93 NGN',
    );
    expect(displayMoney({ amount: -5n, currency: 'KWD' }, 'de')).toBe('-0,005 KWD');
    expect(displayNumber('-1250.50', 'de')).toBe('-1.250,50');
    expect(displayNumber('1250', 'de')).toBe('1.250');
  });
});

describe('moments are written as the reader asks for, in UTC, in words that say their language', () => {
  const at = new Date('2025-12-11T23:07:00Z');
  test.each([
    [undefined, '11 December 2025 at 23:07', 'en-GB'],
    ['en', '11 December 2025 at 23:07', 'en-GB'],
    ['en-US', 'December 11, 2025 at 11:07 PM', 'en-US'],
    ['de', '11. Dezember 2025 um 23:07', 'de'],
    ['fr-SN', '11 décembre 2025 à 23:07', 'fr-SN'],
    ['ar-SA', '11 ديسمبر 2025 في 11:07 م', 'ar-SA'],
    ['th', '11 ธันวาคม ค.ศ. 2025 เวลา 23:07', 'th'],
    ['zh-Hans-CN', '2025年12月11日 23:07', 'zh-Hans-CN'],
  ])('%s', (header, text, lang) => {
    const shown = displayMoment(at, localeOf(header));
    expect({ ...shown, text: shown.text.replace(/\s/g, ' ') }).toEqual({ text, lang });
  });
});
