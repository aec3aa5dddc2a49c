import { OLD_MESSAGES } from './fulfilment/delivery.sql.ts';
import { OLD_ANSWERS } from './payments/prune-answers.sql.ts';
import type { Database } from './platform/database/database.ts';
import { countOld, pruneBatch, type Batch, type Prunable } from './platform/database/prune.sql.ts';
import { OLD_WEBHOOKS } from './webhooks/prune-webhooks.sql.ts';

/**
 * How many answers of the service and messages to the receiver were emptied, and how many webhooks deleted.
 */
type Pruned = { answers: number; webhooks: number; messages: number };

type Transactions = Pick<Database, 'transaction'>;

/**
 * Prunes what is older than `days`, a thousand rows in a statement: none holds a lock for long. Whatever an
 * open finding, money in suspense, or an order that is pending or in review may need stays.
 */
export function prune(database: Transactions, days: number, signal?: AbortSignal): Promise<Pruned> {
  return sums((kind) => pruneAll(database, kind, days, signal));
}

/** What would be pruned now: reads whole tables. */
export function countAllOld(database: Database, days: number): Promise<Pruned> {
  return database.transaction(async (tx) => {
    await tx.query('SET LOCAL statement_timeout = 0');
    return sums((kind) => countOld(tx, kind, days));
  });
}

async function sums(count: (kind: Prunable) => Promise<number>): Promise<Pruned> {
  const answers = await count(OLD_ANSWERS);
  const webhooks = await count(OLD_WEBHOOKS);
  let messages = 0;
  for (const kind of OLD_MESSAGES) messages += await count(kind);
  return { answers, webhooks, messages };
}

async function pruneAll(
  database: Transactions,
  kind: Prunable,
  days: number,
  signal?: AbortSignal,
): Promise<number> {
  let pruned = 0;
  let after: string | null = null;
  do {
    const done: Batch = await pruneBatch(database, kind, days, after);
    pruned += done.pruned;
    after = done.next;
  } while (after !== null && signal?.aborted !== true);
  return pruned;
}
