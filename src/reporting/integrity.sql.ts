import type { ClientBase } from 'pg';
import type { Queryable } from '../platform/database/database.ts';
import type { OrderId } from '../platform/ids.ts';
import { CONTRADICTIONS } from './contradictions.sql.ts';

/**
 * The end of an order's hash chain. A copy kept elsewhere proves later that no
 * earlier entry was rewritten.
 */
export type ChainHead = { entries: number; hash: string | null };

export async function headOf(db: Queryable, orderId: OrderId): Promise<ChainHead> {
  const [row] = await db.query<{ seq: number; hash: string }>(
    `SELECT seq, encode(hash, 'hex') AS hash FROM journal WHERE order_id = $1 ORDER BY seq DESC LIMIT 1`,
    [orderId],
  );
  return { entries: row?.seq ?? 0, hash: row?.hash ?? null };
}

/** An order and a sentence about a row of it that contradicts the others. */
export type Contradiction = { orderId: OrderId; what: string };

/** The rows of some orders that were changed by other means than this program. */
export async function contradictionsOf(
  db: Queryable,
  orderIds: readonly OrderId[],
): Promise<Contradiction[]> {
  const contradictions: Contradiction[] = [];
  for (const sql of CONTRADICTIONS) {
    const rows = await db.query<{ id: OrderId; what: string }>(sql, [orderIds]);
    contradictions.push(...rows.map(({ id, what }) => ({ orderId: id, what })));
  }
  return contradictions;
}

/** Order ids greater than `after`, ascending. Without Prisma's client, which a worker need not load. */
export async function orderIdsAfter(db: Queryable, after: string, limit: number): Promise<OrderId[]> {
  const rows = await db.query<{ id: OrderId }>('SELECT id FROM orders WHERE id > $1 ORDER BY id LIMIT $2', [
    after,
    limit,
  ]);
  return rows.map(({ id }) => id);
}

/** Orders that are gone although their journal exists. */
export async function goneOrders(db: Queryable, limit: number): Promise<Contradiction[]> {
  const rows = await db.query<{ id: OrderId }>(
    `SELECT DISTINCT order_id AS id FROM journal j
     WHERE NOT EXISTS (SELECT FROM orders o WHERE o.id = j.order_id) LIMIT $1`,
    [limit],
  );
  return rows.map(({ id }) => ({ orderId: id, what: 'the order is gone, and its journal is not' }));
}

/** An arbitrary advisory lock number that no other code uses. */
const LOCK_KEY = 1_836_281_965;

/** Locks the check for the session of `client`. @returns false when another process holds the lock */
export async function lockCheck(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ ok: boolean }>('SELECT pg_try_advisory_lock($1) AS ok', [LOCK_KEY]);
  return rows[0]?.ok === true;
}

export async function openCheck(db: Queryable): Promise<bigint | undefined> {
  const [row] = await db.query<{ id: bigint }>('INSERT INTO integrity_checks DEFAULT VALUES RETURNING id');
  return row?.id;
}

/** @param first the first contradictions found */
export async function closeCheck(
  db: Queryable,
  id: bigint | undefined,
  seen: { orders: number; contradictions: number },
  first: readonly Contradiction[],
): Promise<void> {
  await db.query(
    `UPDATE integrity_checks SET finished_at = now(), orders = $2, contradictions = $3, first = $4
     WHERE id = $1`,
    [id, seen.orders, seen.contradictions, JSON.stringify(first)],
  );
}

/**
 * Whether the last check ended more than a week ago. One that found contradictions is repeated after a day:
 * the alert shall end when the rows are corrected.
 */
export async function isCheckDue(db: Queryable): Promise<boolean> {
  const last = await lastIntegrityCheck(db);
  return last === null || last.agoSec > (last.contradictions === 0n ? WEEK_SEC : DAY_SEC);
}

const DAY_SEC = 86_400;
const WEEK_SEC = 7 * DAY_SEC;

/** The last finished check; null: there was none. */
export async function lastIntegrityCheck(
  db: Queryable,
): Promise<{ agoSec: number; orders: bigint; contradictions: bigint } | null> {
  const [row] = await db.query<{ agoSec: number; orders: bigint; contradictions: bigint }>(
    `SELECT extract(epoch FROM now() - finished_at)::float8 AS "agoSec", orders, contradictions
     FROM integrity_checks
     WHERE finished_at IS NOT NULL ORDER BY id DESC LIMIT 1`,
  );
  return row ?? null;
}
