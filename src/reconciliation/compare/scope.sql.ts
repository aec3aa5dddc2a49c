import type { Reach } from '../../gateway/history/windows.ts';
import type { Queryable } from '../../platform/database/database.ts';
import { createTableAs, WORKING_TABLES } from '../working-tables.ts';
import { HORIZON_SEC } from '../../payments/check-schedule.ts';
import type { Mode } from '../../platform/mode.ts';

/**
 * What is compared: payments written in the window and before the run began, and
 * everything the history lists.
 */
export type Scope = {
  mode: Mode;
  startedAt: Date;
  since: Date | null;
  until: Date | null;
  /** How many records the history lists. */
  listed: number;
  /** Where a list of the window begins and ends. */
  reach: Reach;
};

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

const IS_IN_WINDOW = `near.created_at >= coalesce($3::timestamptz, '-infinity')
  AND near.created_at < coalesce($4::timestamptz, 'infinity')`;

const COLUMNS = Object.keys(WORKING_TABLES.scoped);

// What a list of the window may hold. The last transaction of a payment is made, and its money released,
// within a horizon.
function isNear(time: string, { reach: { beforeMs, afterMs } }: Scope): string {
  const from = beforeMs === null ? 'NULL::timestamptz' : `$3::timestamptz - interval '${beforeMs} ms'`;
  const to =
    afterMs === null ? 'NULL::timestamptz' : `$4::timestamptz + interval '${HORIZON_SEC} s ${afterMs} ms'`;
  return `${time} >= coalesce(${from}, '-infinity') AND ${time} < coalesce(${to}, 'infinity')`;
}

/**
 * `columns` of `table`: its rows near the window, and those for the references of `wanted`, wherever they
 * are. Nearly all are near: those are read by their time, in one piece, and only the others are looked up one
 * by one. `OFFSET 0` forces that: the planner cannot know that they are few, and would read the whole table.
 * Rows near the window that are not wanted have no `wanted.reference`.
 */
const rowsFor = (
  scope: Scope,
  wanted: string,
  table: 'payments' | 'releases',
  time: string,
  columns: string[],
): string => `
  SELECT ${columns.map((column) => `coalesce(near.${column}, far.${column}) AS ${column}`).join(', ')}
  FROM (SELECT * FROM ${table} near WHERE mode = $1 AND ${isNear(time, scope)}) near
  FULL JOIN (SELECT reference FROM ${wanted}) wanted ON wanted.reference = near.reference
  LEFT JOIN LATERAL (
    SELECT * FROM ${table} far
    WHERE near.reference IS NULL AND far.mode = $1 AND far.reference = wanted.reference
    OFFSET 0) far ON true
  WHERE coalesce(near.reference, far.reference) IS NOT NULL`;

const paymentsOf = (scope: Scope): string => `
  ${rowsFor(scope, 'history_rows', 'payments', 'created_at', COLUMNS)}
    AND (wanted.reference IS NOT NULL OR ${IS_IN_WINDOW}) AND $2::timestamptz IS NOT NULL`;

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
  await db.query(createTableAs('scoped', paymentsOf(scope)), ofScope(scope));
}

/** The payments of a scope as an SQL subquery, also those written since the run began. */
export function paymentsIn(scope: Scope): string {
  if (!isWhole(scope)) return `(SELECT * FROM scoped WHERE NOT (${NO_WINDOW}))`;
  return `(SELECT * FROM payments WHERE mode = $1 AND ${NO_WINDOW})`;
}

/** Their releases. */
export function releasesIn(scope: Scope): string {
  if (isWhole(scope)) return `(SELECT * FROM releases WHERE mode = $1 AND ${NO_WINDOW})`;
  const columns = ['reference', 'amount', 'currency', 'released_at'];
  const rows = rowsFor(scope, 'scoped', 'releases', 'released_at', columns);
  return `(${rows} AND wanted.reference IS NOT NULL)`;
}

/** The rows of a table about payments of the scope, as an SQL expression; `wanted` are those to look at. */
export function ofPaymentsIn(scope: Scope, table: string, wanted: string): string {
  if (isWhole(scope)) return `(SELECT * FROM ${table} WHERE ${wanted} AND ${NO_WINDOW})`;
  // A join and not IN: for IN, PostgreSQL before 18 always hashes the payments, and here they are the many.
  return `(SELECT ${table}.* FROM ${table} JOIN ${paymentsIn(scope)} scoped USING (reference)
    WHERE ${wanted} OFFSET 0)`;
}
