import { createHash } from 'node:crypto';
import type { Outcome, ReconciliationReport } from './report.ts';

/**
 * What is kept of a run to write its report again: what each side counted, what each class held, what was found. The
 * list itself is not kept; of a million records it is 185 MB, and this is some kilobytes.
 */
export function freeze(outcome: Outcome): { outcome: string; items: string } {
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

/** The outcome as it was. */
export function thaw(kept: { outcome: unknown; items: unknown }): Outcome {
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
      // PostgreSQL keeps the keys of an object in an order of its own.
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
