import type { Database } from '../platform/database/database.ts';
import type { OrderId } from '../platform/ids.ts';
import {
  contradictionsOf,
  goneOrders,
  orderIdsAfter,
  type Contradiction,
  closeCheck,
  isCheckDue,
  lockCheck,
  openCheck,
} from './integrity.sql.ts';
import type { Logger } from '../platform/logger.ts';
import type { Mode } from '../platform/mode.ts';
import type { Alarm } from '../alerts/alert.ts';

/** How many orders were checked, and how many rows were changed by other means. */
type Integrity = { orders: number; contradictions: number };

type IntegrityOptions = {
  onFound: (found: Contradiction) => unknown;
  onProgress?: (orders: number) => void;
  signal?: AbortSignal;
  /** Orders of one part. */
  atOnce?: number;
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
  { onFound, onProgress, signal, atOnce = ORDERS_AT_ONCE }: IntegrityOptions,
): Promise<Integrity> {
  const all: Integrity = { orders: 0, contradictions: 0 };
  const take = async (found: readonly Contradiction[]): Promise<void> => {
    all.contradictions += found.length;
    for (const one of found) await onFound(one);
  };
  for (let after: OrderId | '' = ''; ;) {
    signal?.throwIfAborted();
    const ids = await orderIdsAfter(database, after, atOnce);
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

/** The rest is printed by `npm run explain -- --all`. */
const MAX_NAMED = 20;

type IntegrityJobParts = {
  database: Database;
  mode: Mode;
  alarm: Alarm;
  logger: Logger;
  signal: AbortSignal;
};

/**
 * Checks every order's hash chain if a check is due and no other process is running one.
 * The result goes to a log line, to metrics, and to an alert when a row was changed by other means.
 * @returns null when there was nothing to do
 */
export async function checkIntegrityWeekly(parts: IntegrityJobParts): Promise<Integrity | null> {
  const client = await parts.database.sessions.connect();
  client.on('error', () => undefined);
  try {
    if (!(await lockCheck(client)) || !(await isCheckDue(parts.database))) return null;
    return await check(parts);
  } finally {
    // Ends the session, and with it the lock.
    client.release(true);
  }
}

async function check({ database, mode, alarm, logger, signal }: IntegrityJobParts): Promise<Integrity> {
  const id = await openCheck(database);
  const first: Contradiction[] = [];
  const onFound = (one: Contradiction): void => {
    if (first.length < MAX_NAMED) first.push(one);
  };
  const seen = await checkIntegrity(database, { onFound, signal });
  logger.info(seen, 'integrity of all orders checked');
  const event = 'journal-broken';
  if (seen.contradictions === 0) await alarm({ event, mode, over: true });
  else {
    const reason = `${seen.contradictions} rows were changed by other means, first of all: ${first
      .slice(0, 3)
      .map(({ orderId, what }) => `${orderId}: ${what}`)
      .join('; ')}. All of them: npm run explain -- --all`;
    await alarm({ event, mode, reason });
  }
  // Last: what was not reported is checked again.
  await closeCheck(database, id, seen, first);
  return seen;
}
