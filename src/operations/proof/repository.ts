import type { Queryable } from '../../platform/database.ts';
import { CONTRADICTIONS, OLDER } from './contradictions/repository.ts';

/** The end of an order's chain. Kept somewhere else, it proves later that nothing before it was rewritten. */
export type ChainHead = { entries: number; hash: string | null };

export async function headOf(db: Queryable, orderId: string): Promise<ChainHead> {
  const [row] = await db.query<{ seq: number; hash: string }>(
    `SELECT seq, encode(hash, 'hex') AS hash FROM journal WHERE order_id = $1 ORDER BY seq DESC LIMIT 1`,
    [orderId],
  );
  return { entries: row?.seq ?? 0, hash: row?.hash ?? null };
}

/** An order and a sentence about a row of it that contradicts the others. */
export type Contradiction = { orderId: string; what: string };

/** What of some orders was changed by other means than this program, and which are older than the check of their rows. */
export type Proof = { contradictions: Contradiction[]; older: string[] };

export async function proofOf(db: Queryable, orderIds: readonly string[]): Promise<Proof> {
  const contradictions: Contradiction[] = [];
  for (const sql of CONTRADICTIONS) {
    const rows = await db.query<{ id: string; what: string }>(sql, [orderIds]);
    contradictions.push(...rows.map(({ id, what }) => ({ orderId: id, what })));
  }
  const older = await db.query<{ id: string }>(OLDER, [orderIds]);
  return { contradictions, older: older.map(({ id }) => id) };
}

/** Order ids behind `after`, in their order. */
export async function orderIdsAfter(db: Queryable, after: string, limit: number): Promise<string[]> {
  const rows = await db.query<{ id: string }>('SELECT id FROM orders WHERE id > $1 ORDER BY id LIMIT $2', [
    after,
    limit,
  ]);
  return rows.map(({ id }) => id);
}

/** Orders that have a journal and are gone. */
export async function goneOrders(db: Queryable, limit: number): Promise<Contradiction[]> {
  const rows = await db.query<{ id: string }>(
    'SELECT DISTINCT order_id AS id FROM journal j WHERE NOT EXISTS (SELECT FROM orders o WHERE o.id = j.order_id) LIMIT $1',
    [limit],
  );
  return rows.map(({ id }) => ({ orderId: id, what: 'the order is gone, and its journal is not' }));
}
