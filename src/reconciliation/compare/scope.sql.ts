import type { Queryable } from '../../platform/database/database.ts';
import { createTableAs, WORKING_TABLES } from '../working-tables.ts';
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

/**
 * Whether a payment was written before the run began, as an SQL expression: later ones are compared if they
 * are listed.
 */
export function isWritten(payments: string): string {
  return `${payments}.created_at < $2`;
}

const IS_IN_WINDOW = `p.created_at >= coalesce($3::timestamptz, '-infinity')
  AND p.created_at < coalesce($4::timestamptz, 'infinity')`;

const COLUMNS = Object.keys(WORKING_TABLES.scoped)
  .map((column) => `p.${column}`)
  .join(', ');

const IN_WINDOW = `SELECT ${COLUMNS} FROM payments p WHERE p.mode = $1 AND ${IS_IN_WINDOW}`;
// Few of the list are left when those of the window are taken away, and only they are looked up.
const LISTED_ELSEWHERE = `SELECT ${COLUMNS} FROM history_rows h
  JOIN payments p ON p.mode = $1 AND p.reference = h.reference
  WHERE NOT EXISTS (SELECT FROM (${IN_WINDOW}) inside WHERE inside.reference = h.reference)
    AND $2::timestamptz IS NOT NULL`;

// PostgreSQL wants to know the type of each parameter.
const NO_WINDOW = '$3::timestamptz IS NULL AND $4::timestamptz IS NULL';

function isWhole({ since, until }: Scope): boolean {
  return since === null && until === null;
}

/**
 * Creates table `scoped` for a run over a window: of a million payments it looks up its own, and once. Call
 * it in the snapshot in which the sides are compared, before everything else.
 */
export async function gatherScope(db: Queryable, scope: Scope): Promise<void> {
  if (isWhole(scope)) return;
  await db.query(createTableAs('scoped', `${IN_WINDOW} UNION ALL ${LISTED_ELSEWHERE}`), ofScope(scope));
  await db.query('ANALYZE scoped');
}

/** The payments of a scope as an SQL subquery, also those written since the run began. */
export function paymentsIn(scope: Scope): string {
  if (!isWhole(scope)) return `(SELECT * FROM scoped WHERE NOT (${NO_WINDOW}))`;
  return `(SELECT * FROM payments WHERE mode = $1 AND ${NO_WINDOW})`;
}

/** Their releases. */
export function releasesIn(scope: Scope): string {
  if (isWhole(scope)) return `(SELECT * FROM releases WHERE mode = $1 AND ${NO_WINDOW})`;
  return `(SELECT r.* FROM ${paymentsIn(scope)} p JOIN releases r ON r.mode = $1 AND r.reference = p.reference)`;
}

/** Whether a row of a table is about a payment of the scope, as an SQL expression. */
export function isOfScope(scope: Scope, table: string): string {
  if (isWhole(scope)) return NO_WINDOW;
  return `${table}.reference IN (SELECT reference FROM ${paymentsIn(scope)} scoped)`;
}
