import type pg from 'pg';
import type { Queryable } from '../../platform/database.ts';
import type { Contradiction } from '../proof/repository.ts';
import type { Integrity } from './check.ts';

/** Any number that nobody else locks. */
const LOCK_KEY = 1_836_281_965;

/** Takes the lock of the check for this session. @returns false when another process has it */
export async function takeLock(session: pg.PoolClient): Promise<boolean> {
  const { rows } = await session.query<{ ok: boolean }>('SELECT pg_try_advisory_lock($1) AS ok', [LOCK_KEY]);
  return rows[0]?.ok === true;
}

export async function beginCheck(db: Queryable): Promise<bigint | undefined> {
  const [row] = await db.query<{ id: bigint }>('INSERT INTO integrity_checks DEFAULT VALUES RETURNING id');
  return row?.id;
}

export async function endCheck(
  db: Queryable,
  id: bigint | undefined,
  seen: Integrity,
  first: readonly Contradiction[],
): Promise<void> {
  await db.query(
    `UPDATE integrity_checks SET finished_at = now(), orders = $2, contradictions = $3, first = $4 WHERE id = $1`,
    [id, seen.orders, seen.contradictions, JSON.stringify(first)],
  );
}

/** Whether no check has ended for a week. */
export async function isDue(db: Queryable): Promise<boolean> {
  const rows = await db.query(
    `SELECT FROM integrity_checks WHERE finished_at > now() - interval '7 days' LIMIT 1`,
  );
  return rows.length === 0;
}

/** The last whole check; null: there was none. */
export async function lastIntegrityCheck(
  db: Queryable,
): Promise<{ agoSec: number; orders: bigint; contradictions: bigint } | null> {
  const [row] = await db.query<{ agoSec: number; orders: bigint; contradictions: bigint }>(
    `SELECT extract(epoch FROM now() - finished_at)::float8 AS "agoSec", orders, contradictions FROM integrity_checks
     WHERE finished_at IS NOT NULL ORDER BY id DESC LIMIT 1`,
  );
  return row ?? null;
}
