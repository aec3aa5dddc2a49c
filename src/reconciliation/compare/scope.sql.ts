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

/** Whether a payment was written before the run began, as an SQL expression: later ones are compared if they are listed. */
export function isWritten(payments: string): string {
  return `${payments}.created_at < $2`;
}

const IS_IN_WINDOW = `p.created_at >= coalesce($3::timestamptz, '-infinity')
  AND p.created_at < coalesce($4::timestamptz, 'infinity')`;

// Both from indexes: of a million payments a small window reads only its own.
const IN_WINDOW_OR_LISTED = `SELECT p.* FROM payments p WHERE p.mode = $1 AND ${IS_IN_WINDOW}
  UNION ALL
  SELECT p.* FROM history_rows h JOIN payments p ON p.mode = $1 AND p.reference = h.reference
  WHERE NOT (${IS_IN_WINDOW})`;

// PostgreSQL wants to know the type of each parameter.
const NO_WINDOW = '$3::timestamptz IS NULL AND $4::timestamptz IS NULL';

/** The payments of a scope as an SQL subquery, also those written since the run began. */
export function paymentsIn({ since, until }: Scope): string {
  if (since !== null || until !== null) return `(${IN_WINDOW_OR_LISTED})`;
  return `(SELECT * FROM payments WHERE mode = $1 AND ${NO_WINDOW})`;
}

/** Their releases. */
export function releasesIn(scope: Scope): string {
  return `(SELECT * FROM releases WHERE mode = $1 AND ${isOfScope(scope, 'releases')})`;
}

/** Whether a row of a table is about a payment of the scope, as an SQL expression. */
export function isOfScope(scope: Scope, table: string): string {
  if (scope.since === null && scope.until === null) return NO_WINDOW;
  return `${table}.reference IN (SELECT reference FROM ${paymentsIn(scope)} scoped)`;
}
