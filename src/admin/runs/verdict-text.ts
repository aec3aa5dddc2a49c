import { caseTitle, moneyOf } from '../../cases/case-text.ts';
import type { Verdict } from '../../cases/classes.ts';
import type { ItemFacts } from '../../cases/findings.ts';
import { displayMoney, type Money } from '../../platform/money.ts';
import type { RunRow } from './runs.sql.ts';

/** The result of a check in two words. */
export function verdictWords(verdict: Verdict | null): string {
  if (verdict === null) return 'under way';
  return { agreed: 'agreed', findings: 'not agreed', incomplete: 'not checked' }[verdict];
}

/** Why a check ended as it did, in a line. */
export function whyOf({
  verdict,
  problem,
  findings,
}: Pick<RunRow, 'verdict' | 'problem' | 'findings'>): string {
  if (verdict === 'incomplete') return problemSentence(problem);
  const kinds = countsOf(findings).map(([name, count]) => `${caseTitle(name)}: ${count}`);
  if (verdict === 'findings' && kinds.length === 0) return 'The sums do not add up.';
  return kinds.join(', ');
}

/**
 * How many differences of each kind are open. Payments without a verdict, because the list was cut, are none.
 */
export function countsOf(findings: RunRow['findings']): [name: string, count: number][] {
  return Object.entries(findings ?? {}).flatMap(([name, count = 0]) =>
    name === 'history_truncated' ? [] : [[name, count]],
  );
}

/** Why a check could not be completed, as a sentence, with the program's own words in brackets. */
export function problemSentence(problem: string | null): string {
  if (problem === null) return 'The check did not finish.';
  if (problem.includes('process of the run was lost')) return 'The program was stopped during the check.';
  if (/JSON|holds no list|unreadable/.test(problem))
    return `The service’s list of payments came back unreadable (${problem}).`;
  if (/HTTP [45]\d\d/.test(problem)) return `The service did not give its list of payments (${problem}).`;
  return `${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`;
}

type Sums = { more: Map<string, bigint>; less: Map<string, bigint> };

/** `NGN 87,249.00 too much, XOF 64,999 missing`; empty where nothing can be summed. */
export function differenceWords(items: readonly ItemFacts[], locale: string): string {
  const sums: Sums = { more: new Map(), less: new Map() };
  for (const item of items) {
    const { expected, actual } = amountsOf(item);
    if (expected === null || actual === null) continue;
    const difference = actual.amount - expected.amount;
    const side = difference > 0n ? sums.more : sums.less;
    const size = difference > 0n ? difference : -difference;
    if (size > 0n) side.set(actual.currency, (side.get(actual.currency) ?? 0n) + size);
  }
  const written = (side: Map<string, bigint>, word: string): string[] =>
    side.size === 0
      ? []
      : [
          `${[...side].map(([currency, amount]) => displayMoney({ currency, amount }, locale)).join(' and ')} ${word}`,
        ];
  return [...written(sums.more, 'too much'), ...written(sums.less, 'missing')].join(', ');
}

/** The amounts of a difference. The item keeps only the currency that was paid, so another one is unknown. */
export function amountsOf(item: ItemFacts): Record<'expected' | 'actual', Money | null> {
  const expected = item.class === 'currency_mismatch' ? null : item.expected;
  return { expected: moneyOf(expected, item.currency), actual: moneyOf(item.actual, item.currency) };
}
