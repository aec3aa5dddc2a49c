import { countOldMessages, pruneEventMessages, pruneMessages } from './fulfilment/prune-messages.sql.ts';
import { countOldAnswers, pruneAnswers, type Batch } from './payments/prune-answers.sql.ts';
import type { Database, Queryable } from './platform/database/database.ts';
import { countOldWebhooks, pruneWebhooks } from './webhooks/prune-webhooks.sql.ts';

/** How many answers of the service and messages to the receiver were emptied, and how many webhooks deleted. */
type Pruned = { answers: number; webhooks: number; messages: number };

/**
 * Prunes what is older than `days`, a thousand rows in a statement: none holds a lock for long. Whatever an
 * open finding, money in suspense, or an order that is pending or in review may need stays.
 */
export async function prune(db: Queryable, days: number, signal?: AbortSignal): Promise<Pruned> {
  return {
    answers: await all((after) => pruneAnswers(db, days, after), signal),
    webhooks: await all((after) => pruneWebhooks(db, days, after), signal),
    messages:
      (await all((after) => pruneMessages(db, days, after), signal)) +
      (await all((after) => pruneEventMessages(db, days, after), signal)),
  };
}

async function all(batch: (after: string | null) => Promise<Batch>, signal?: AbortSignal): Promise<number> {
  let pruned = 0;
  let after: string | null = null;
  do {
    const done: Batch = await batch(after);
    pruned += done.pruned;
    after = done.next;
  } while (after !== null && signal?.aborted !== true);
  return pruned;
}

/** What would be pruned now: reads whole tables. */
export function countOld(database: Database, days: number): Promise<Pruned> {
  return database.transaction(async (tx) => {
    await tx.query('SET LOCAL statement_timeout = 0');
    return {
      answers: await countOldAnswers(tx, days),
      webhooks: await countOldWebhooks(tx, days),
      messages: await countOldMessages(tx, days),
    };
  });
}
