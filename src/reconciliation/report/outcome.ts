import { createHash } from 'node:crypto';
import type { Outcome, ReconciliationReport } from './report.ts';

/**
 * What is stored of a run so that its report can be rendered again: the counts of each side, the totals
 * of each class, the findings. The list itself is not stored: of a million records it is 185 MB, and
 * this is some kilobytes.
 */
export function serializeOutcome(outcome: Outcome): { outcome: string; items: string } {
  const { items, ...rest } = outcome;
  const text = (value: unknown): string =>
    JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? one.toString() : one));
  return { outcome: text(rest), items: text(items) };
}

type Frozen<T> = T extends bigint
  ? string
  : T extends string
    ? T
    : T extends readonly (infer U)[]
      ? Frozen<U>[]
      : T extends object
        ? { [K in keyof T]: Frozen<T[K]> }
        : T;

/** Restores the outcome that {@link serializeOutcome} stored. */
export function deserializeOutcome(kept: { outcome: unknown; items: unknown }): Outcome {
  const { books, findings, ...rest } = kept.outcome as Frozen<Omit<Outcome, 'items'>>;
  return {
    ...rest,
    books: {
      sides: books.sides.map((side) => ({
        ...side,
        rows: BigInt(side.rows),
        named: BigInt(side.named),
        differing: BigInt(side.differing),
      })),
      classes: books.classes.map((one) => ({ ...one, rows: BigInt(one.rows) })),
    },
    findings: findings.map((one) => ({ ...one, count: BigInt(one.count) })),
    items: (kept.items as Outcome['items']).map(
      // PostgreSQL does not keep the order of an object's keys.
      ({ id, class: name, reference, orderId, expected, actual, currency, firstSeenAt }) => ({
        id,
        class: name,
        reference,
        orderId,
        expected,
        actual,
        currency,
        firstSeenAt,
      }),
    ),
  };
}

/** The report as `--json` prints it. */
export function textOf(report: ReconciliationReport): string {
  return JSON.stringify(report);
}

export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
