import type { Mode } from '../../platform/mode.ts';

/**
 * What is compared: payments written in the window and before the run began, and
 * everything the history lists.
 */
export type Scope = { mode: Mode; startedAt: Date; since: Date | null; until: Date | null };

/**
 * The parameters $1 to $4 of a statement about a scope. They limit payments only: everything the history
 * lists is compared, whenever it was written.
 */
export function ofScope({ mode, startedAt, since, until }: Scope): unknown[] {
  return [mode, startedAt, since, until];
}

/** Whether a payment was written in the window of $2 to $4, as an SQL expression. */
export function isInWindow(payments: string): string {
  return `${payments}.created_at < $2 AND ($3::timestamptz IS NULL OR ${payments}.created_at >= $3)
  AND ($4::timestamptz IS NULL OR ${payments}.created_at < $4)`;
}
