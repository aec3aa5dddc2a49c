import type { Queryable } from '../../src/platform/database/database.ts';
import { violationsIn, type Delivery } from './invariants.ts';
import { readServiceBooks, type ServiceBooks } from './invariants/observed.ts';

/** What happened in it, no database knows any more: from the moment of the backup until the loss. */
export type Lost = { from: Date; to: Date };

type AfterALoss = {
  database: Queryable;
  sandboxUrl: string;
  deliveries: readonly Delivery[];
  losses: readonly Lost[];
};

/**
 * Asks every invariant of a database that was restored, and of the two that remember more than it does: the
 * stand-in for the service and the receiver. What they saw of calls in a lost time and of orders that are
 * lost is left out.
 */
export async function brokenAfterALoss({
  database,
  sandboxUrl,
  deliveries,
  losses,
}: AfterALoss): Promise<string[]> {
  const rows = await database.query<{ id: string }>('SELECT id FROM orders');
  const known = new Set(rows.map(({ id }) => id));
  const sink = deliveries.filter(({ orderId }) => known.has(orderId));
  return violationsIn({ database, service: without(losses, await readServiceBooks(sandboxUrl)), sink });
}

/** Only the counts forget: the log also proves what the database knows. */
function without(losses: readonly Lost[], { ledger, calls }: ServiceBooks): ServiceBooks {
  const references = structuredClone(calls.references);
  for (const { endpoint, reference, at } of calls.log) {
    const counts = reference === null ? undefined : references[reference];
    const isLost = losses.some(({ from, to }) => new Date(at) >= from && new Date(at) <= to);
    if (endpoint === 'verify' && counts !== undefined && isLost) counts.verify -= 1;
  }
  return { ledger, calls: { ...calls, references } };
}
