import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { caseAdvice, caseText, caseTitle } from '../../src/cases/case-text.ts';
import { FINDING_CLASSES } from '../../src/cases/classes.ts';
import { amountsOf, differenceWords } from '../../src/admin/runs/run-parts.tsx';
import type { ItemFacts } from '../../src/cases/findings.ts';
import { newReference } from '../../src/platform/ids.ts';

const kwd = (amount: bigint) => ({ amount, currency: 'KWD' });
const about = (name: string, expected: bigint | null, actual: bigint | null, held: bigint | null = null) =>
  caseText({
    class: name,
    expected: expected === null ? null : kwd(expected),
    actual: actual === null ? null : kwd(actual),
    held: held === null ? null : kwd(held),
  });

describe('one sentence about each kind of case', () => {
  test.each(FINDING_CLASSES)('%s has a title and a sentence, with and without amounts', (name) => {
    const { title, sentence } = about(name, 4_750n, 9_500n, 4_750n);
    expect(title).not.toBe(name.replaceAll('_', ' '));
    expect(sentence).toMatch(/^[A-Z].*\.$/);
    expect(about(name, null, null).sentence).not.toMatch(/null|undefined/);
    expect(caseAdvice(name)).not.toBe('');
  });

  test('too much and too little name the difference in major units', () => {
    expect(about('overpaid', 4_750n, 9_500n).sentence).toBe(
      'Paid KWD 9.500 for KWD 4.750: KWD 4.750 too much.',
    );
    expect(about('underpaid', 4_750n, 1n).sentence).toBe(
      'Paid KWD 0.001 of KWD 4.750: KWD 4.749 is missing.',
    );
  });

  test('money in suspense speaks where no finding was raised yet', () => {
    expect(about('underpaid', 4_750n, null, 1_000n).sentence).toContain('Paid KWD 1.000 of KWD 4.750');
  });

  test('a check knows neither what is held nor which currency was asked for', () => {
    expect(about('charged_again', 4_750n, 9_500n).sentence).toContain('charged KWD 4.750 more');
    expect(about('currency_mismatch', null, 9_500n).sentence).toBe(
      'Paid KWD 9.500, and the order asked for another currency.',
    );
  });

  test('a currency that ISO 4217 does not know, and a class without words', () => {
    const odd = { amount: 5n, currency: 'QQQ' };
    expect(
      caseText({ class: 'currency_mismatch', expected: kwd(1n), actual: odd, held: null }).sentence,
    ).toBe('Paid 5 minor units QQQ, and the order asked for KWD 0.001.');
    expect(caseTitle('of_another_kind')).toBe('of another kind');
    expect(caseAdvice('of_another_kind')).toBe('');
  });
});

test('a run names what is missing, also where the balance is below zero', () => {
  const item: ItemFacts = {
    id: '1',
    class: 'cash_difference',
    reference: newReference(),
    orderId: null,
    expected: '2.500',
    actual: '-6.000',
    currency: 'KWD',
    firstSeenAt: '2026-01-01T00:00:00.000Z',
  };
  expect(differenceWords([item], 'en')).toBe('KWD 8.500 missing');
  // Here only the currency that was paid is known: the order's amount is not one of it.
  const other: ItemFacts = { ...item, class: 'currency_mismatch', actual: '2.500' };
  expect(amountsOf(other)).toEqual({ expected: null, actual: { amount: 2_500n, currency: 'KWD' } });
});

describe('the table of the runbook', () => {
  const runbook = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8');
  const ngn = (amount: bigint) => ({ amount, currency: 'NGN' });
  const ACTUAL: Partial<Record<string, { amount: bigint; currency: string }>> = {
    underpaid: ngn(4_250_00n),
    overpaid: ngn(9_000_00n),
    unit_error: ngn(850_000_00n),
    currency_mismatch: kwd(4_750n),
  };

  test.each(FINDING_CLASSES)('has the sentence of %s', (name) => {
    const actual = ACTUAL[name] ?? ngn(8_500_00n);
    const held = name === 'charged_again' ? ngn(500_00n) : actual;
    const { title, sentence } = caseText({ class: name, expected: ngn(8_500_00n), actual, held });
    const row = [`[\`${name}\`](#${name})`, title, sentence, caseAdvice(name)];
    expect(runbook.replace(/ +\|/g, ' |')).toContain(`| ${row.join(' | ')} |`);
  });
});
