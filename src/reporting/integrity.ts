import type { Database } from '../platform/database/database.ts';
import type { OrderId } from '../platform/ids.ts';
import { contradictionsOf, goneOrders, orderIdsAfter, type Contradiction } from './integrity.sql.ts';

/** How many orders were checked, and how many rows were changed by other means. */
export type Integrity = { orders: number; contradictions: number };

type IntegrityOptions = {
  onFound: (found: Contradiction) => unknown;
  onProgress?: (orders: number) => void;
  signal?: AbortSignal;
};

const ORDERS_AT_ONCE = 500;
/** No shopper waits for this check, and its statements read more than those of a request. */
const PATIENTLY = `SET LOCAL statement_timeout = '10min'`;
/** At most this many journals without an order are named. */
const MAX_GONE = 1_000;

/**
 * Checks the hash chain of every order and every row that it describes, with some hundred orders in
 * memory at a time. Each part is read in one snapshot, so an order that changes meanwhile causes no
 * contradiction; the shop keeps running.
 * @throws the signal's reason when it is aborted
 */
export async function checkIntegrity(
  database: Database,
  { onFound, onProgress, signal }: IntegrityOptions,
): Promise<Integrity> {
  const all: Integrity = { orders: 0, contradictions: 0 };
  const take = async (found: readonly Contradiction[]): Promise<void> => {
    all.contradictions += found.length;
    for (const one of found) await onFound(one);
  };
  for (let after: OrderId | '' = ''; ;) {
    signal?.throwIfAborted();
    const ids = await orderIdsAfter(database, after, ORDERS_AT_ONCE);
    const last = ids.at(-1);
    if (last === undefined) break;
    const contradictions = await database.transaction(async (tx) => {
      await tx.query(`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`);
      await tx.query(PATIENTLY);
      return contradictionsOf(tx, ids);
    });
    await take(contradictions);
    all.orders += ids.length;
    onProgress?.(all.orders);
    after = last;
  }
  const gone = await database.transaction(async (tx) => {
    await tx.query(PATIENTLY);
    return goneOrders(tx, MAX_GONE);
  });
  await take(gone);
  return all;
}
