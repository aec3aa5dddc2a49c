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

const IS_IN_WINDOW = `p.created_at >= coalesce($3::timestamptz, '-infinity')
  AND p.created_at < coalesce($4::timestamptz, 'infinity')`;

const COLUMNS = Object.keys(WORKING_TABLES.scoped)
  .map((column) => `p.${column}`)
  .join(', ');

// Rows near the window in time: a list of it begins up to two days before, and its last payment is made, and
// then confirmed, within a horizon each.
const isNear = (
  time: string,
): string => `${time} >= coalesce($3::timestamptz - interval '2 days', '-infinity')
  AND ${time} < coalesce($4::timestamptz + interval '${2 * HORIZON_SEC} s 2 days', 'infinity')`;

/** A list of so many records may be one of everything: its rows far from the window are no longer few. */
const MANY = 100_000;

/**
 * The rows of `table` for the references of `wanted`. Nearly all are near the window: those are read by their
 * time, in one piece, and only the others are looked up one by one. `OFFSET 0` forces that for a short list:
 * the planner cannot know that they are few, and would read the whole table.
 */
const rowsFor = (
  { listed }: Scope,
  wanted: string,
  table: 'payments' | 'releases',
  time: string,
  columns: string,
): string => `
  WITH near AS MATERIALIZED (SELECT ${columns} FROM ${table} p WHERE mode = $1 AND ${isNear(time)})
  SELECT near.* FROM ${wanted} JOIN near USING (reference)
  UNION ALL
  SELECT other.* FROM ${wanted} wanted CROSS JOIN LATERAL (
    SELECT ${columns} FROM ${table} p WHERE p.mode = $1 AND p.reference = wanted.reference
      ${listed < MANY ? 'OFFSET 0' : ''}) other
  WHERE NOT EXISTS (SELECT FROM near WHERE near.reference = wanted.reference)`;

const paymentsOf = (scope: Scope): string => `
  SELECT ${COLUMNS} FROM payments p WHERE p.mode = $1 AND ${IS_IN_WINDOW}
  UNION ALL
  SELECT ${COLUMNS} FROM (${rowsFor(scope, 'history_rows', 'payments', 'created_at', COLUMNS)}) p
  WHERE NOT (${IS_IN_WINDOW}) AND $2::timestamptz IS NOT NULL`;

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
  const columns = 'reference, amount, currency, released_at';
  return `(${rowsFor(scope, 'scoped', 'releases', 'released_at', columns)})`;
}

/** Whether a row of a table is about a payment of the scope, as an SQL expression. */
export function isOfScope(scope: Scope, table: string): string {
  if (isWhole(scope)) return NO_WINDOW;
  return `${table}.reference IN (SELECT reference FROM ${paymentsIn(scope)} scoped)`;
}
