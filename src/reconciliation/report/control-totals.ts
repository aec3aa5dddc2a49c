import { formatMajor } from '../../platform/money.ts';
import type { ReconciliationClass } from '../../cases/classes.ts';
import type { ClassTotal } from '../compare/classify.sql.ts';
import type { SideTotal } from '../compare/matching.sql.ts';

/**
 * The money of one currency: `serviceTotal` = `confirmed` + the sum of `classes` + `difference`.
 * Texts in major units.
 */
export type IdentityLine = {
  currency: string;
  /** Everything that the history says was paid. */
  serviceTotal: string;
  /** Everything that our orders were released for. */
  confirmed: string;
  /**
   * How much more each class holds there than is confirmed here; negative where we confirmed what the
   * service does not show.
   */
  classes: Partial<Record<ReconciliationClass, string>>;
  /** Unless it is zero ("0.00"), the books do not close and the verdict is not `agreed`. */
  difference: string;
};

/** What a comparison counted: each side from its own table, and each class from the rows that differ. */
export type ControlTotals = { sides: readonly SideTotal[]; classes: readonly ClassTotal[] };

/**
 * Rows of these classes hold there exactly what is confirmed here. If they do not, that
 * counts as a difference.
 */
const EVEN = new Set<ReconciliationClass>(['matched', 'matched_late', 'repaired']);

/**
 * The accounting identity, one line per currency: what the service was paid = what was confirmed + what
 * each class holds beyond that, to the minor unit. A difference means that a rule or a sum is wrong,
 * and is always reported.
 */
export function identityOf({ sides, classes }: ControlTotals): { lines: IdentityLine[]; closes: boolean } {
  const currencies = [...sides, ...classes].flatMap(({ currency, sum }) =>
    currency !== null && sum !== '0' ? [currency] : [],
  );
  const lines = [...new Set(currencies)].sort().map((currency) => lineOf({ sides, classes }, currency));
  return {
    lines: lines.map(({ line }) => line),
    closes: lines.every(({ difference }) => difference === 0n),
  };
}

function lineOf(
  { sides, classes }: ControlTotals,
  currency: string,
): { line: IdentityLine; difference: bigint } {
  const text = (amount: bigint): string => formatMajor({ amount, currency });
  const total = (side: SideTotal['side']): bigint =>
    sides
      .filter((one) => one.side === side && one.currency === currency)
      .reduce((all, { sum }) => all + BigInt(sum), 0n);
  const between = classes.filter(
    (one) => one.currency === currency && one.sum !== '0' && !EVEN.has(one.class),
  );
  const difference =
    total('history') - total('releases') - between.reduce((all, { sum }) => all + BigInt(sum), 0n);
  return {
    line: {
      currency,
      serviceTotal: text(total('history')),
      confirmed: text(total('releases')),
      classes: Object.fromEntries(between.map((one) => [one.class, text(BigInt(one.sum))])),
      difference: text(difference),
    },
    difference,
  };
}

/**
 * The rows without a finding: what each side holds beyond the rows that differ. All three sides must be
 * left with the same number, or the match has lost a row.
 */
export function remainder(sides: ControlTotals['sides']): { matched: number; unclassified: number } {
  const left = (['history', 'payments', 'releases'] as const).map((side) =>
    sides
      .filter((one) => one.side === side)
      .reduce((all, { rows, differing }) => all + Number(rows - differing), 0),
  );
  return { matched: Math.min(...left), unclassified: Math.max(...left) - Math.min(...left) };
}

/** Payments of ours that were compared. */
export function paymentsOf(sides: ControlTotals['sides']): number {
  return sides.filter(({ side }) => side === 'payments').reduce((all, { rows }) => all + Number(rows), 0);
}

/** References that were read, each counted once. */
export function referencesOf(sides: ControlTotals['sides']): number {
  return sides.reduce((all, { named }) => all + Number(named), 0);
}
