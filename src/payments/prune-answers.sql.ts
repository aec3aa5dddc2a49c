import { noOpenCase, noOpenFinding } from '../cases/work-lists.sql.ts';
import { bytesNameAddress, patternsOf } from '../orders/erasure.sql.ts';
import type { Queryable } from '../platform/database/database.ts';
import type { Prunable } from '../platform/database/prune.sql.ts';
import type { OrderId } from '../platform/ids.ts';

/**
 * Empties the answers about these orders, and each that names the address. Digests and what was read stay; so
 * does the evidence of an open finding.
 * @returns how many
 */
export async function emptyAnswersOf(
  db: Queryable,
  orderIds: readonly OrderId[],
  email: string,
): Promise<number> {
  const rows = await db.query(
    `UPDATE verifications v SET body = NULL
     WHERE body IS NOT NULL AND (order_id = ANY($1) OR ${bytesNameAddress('body', '$2')})
       AND ${noOpenFinding('v')}
     RETURNING 1 AS emptied`,
    [orderIds, patternsOf(email)],
  );
  return rows.length;
}

/** Of an order that waits for money or for a person, and of undecided money, everything stays. */
export const OLD_ANSWERS: Prunable = {
  table: 'verifications',
  keys: { id: 'bigint' },
  at: 'answered_at',
  write: 'UPDATE verifications old SET body = NULL FROM batch',
  isOld: `old.body IS NOT NULL AND old.answered_at < now() - make_interval(days => $1)
    AND ${noOpenCase('old')}
    AND NOT EXISTS (SELECT FROM orders o WHERE o.id = old.order_id AND o.status IN ('pending', 'review'))`,
};
