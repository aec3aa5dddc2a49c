import { formatMajor } from '../platform/money.ts';
import type { Sum } from './classification/repository.ts';
import type { IdentityLine } from './report.ts';

/**
 * The accounting identity, one line per currency: what the service was paid = what was settled + what each class holds
 * beyond that, to the minor unit. A difference means that a rule or a sum is wrong, and is never explained away.
 */
export function identityOf(sums: readonly Sum[]): { lines: IdentityLine[]; closes: boolean } {
  const currencies = [...new Set(sums.map(({ currency }) => currency))].sort();
  const lines = currencies.map((currency) => {
    const own = sums.filter((sum) => sum.currency === currency);
    const total = (part: Sum['part']): bigint =>
      own.filter((sum) => sum.part === part).reduce((all, { sum }) => all + BigInt(sum), 0n);
    const text = (amount: bigint): string => formatMajor({ amount, currency });
    const classes: IdentityLine['classes'] = {};
    for (const { part, class: name, sum } of own) {
      if (part === 'class' && name !== null) classes[name] = text(BigInt(sum));
    }
    const difference = total('service') - total('settled') - total('class');
    return {
      line: {
        currency,
        serviceTotal: text(total('service')),
        settled: text(total('settled')),
        classes,
        difference: text(difference),
      },
      difference,
    };
  });
  return {
    lines: lines.map(({ line }) => line),
    closes: lines.every(({ difference }) => difference === 0n),
  };
}
