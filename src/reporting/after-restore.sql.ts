import type { Database, Queryable } from '../platform/database/database.ts';
import type { OrderId } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';

/**
 * When shoppers and the service last made a process write here. What reconciliation, operators and heartbeats
 * write does not count: after a restore this is about the moment of the backup until a server or a worker has
 * work.
 */
export async function newestEntry(db: Queryable, mode: Mode): Promise<Date | null> {
  const [row] = await db.query<{ at: Date | null }>(
    `SELECT greatest(
       (SELECT max(created_at) FROM orders WHERE mode = $1),
       (SELECT max(received_at) FROM webhooks WHERE mode = $1),
       (SELECT max(answered_at) FROM verifications
        WHERE mode = $1 AND cause IN ('return', 'webhook', 'hint', 'schedule'))) AS at`,
    [mode],
  );
  return row?.at ?? null;
}

/** When the last complete run over everything began. */
export async function lastCompleteRun(database: Database, mode: Mode): Promise<Date | null> {
  const { reconciliationRun } = await database.prisma();
  const run = await reconciliationRun.findFirst({
    where: { mode, complete: true, since: null, until: null },
    orderBy: { startedAt: 'desc' },
    select: { startedAt: true },
  });
  return run?.startedAt ?? null;
}

export const MAX_CANDIDATES = 10;
/** An unpaid order of the same money. */
export type Candidate = { orderId: OrderId; externalId: string | null };

/**
 * Unpaid orders of that money, the one placed nearest to `around` first, {@link MAX_CANDIDATES} at most.
 * @param amount in minor units
 */
export function candidatesFor(
  db: Queryable,
  mode: Mode,
  { amount, currency }: { amount: bigint; currency: string },
  around: Date,
): Promise<Candidate[]> {
  return db.query(
    `SELECT id AS "orderId", external_id AS "externalId" FROM orders
     WHERE mode = $1 AND amount = $2 AND currency = $3 AND status <> 'paid'
     ORDER BY abs(extract(epoch FROM created_at - $4::timestamptz)), id LIMIT ${MAX_CANDIDATES}`,
    [mode, amount, currency, around],
  );
}
