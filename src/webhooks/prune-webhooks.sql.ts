import { noOpenCase, noOpenFinding } from '../cases/work-lists.sql.ts';
import { bytesNameAddress, patternsOf } from '../orders/erasure.sql.ts';
import type { Queryable } from '../platform/database/database.ts';
import type { OrderId } from '../platform/ids.ts';
import type { Prunable } from '../platform/database/prune.sql.ts';

/**
 * Deletes the webhooks about these orders, and each that names the address, also one that named no payment of
 * ours. The evidence of an open finding stays.
 * @returns how many
 */
export async function deleteWebhooksOf(
  db: Queryable,
  orderIds: readonly OrderId[],
  email: string,
): Promise<number> {
  const rows = await db.query(
    `DELETE FROM webhooks w
     WHERE (reference IN (SELECT p.reference FROM payments p WHERE p.order_id = ANY($1))
       OR ${bytesNameAddress('body', '$2')}) AND ${noOpenFinding('w')}
     RETURNING 1 AS deleted`,
    [orderIds, patternsOf(email)],
  );
  return rows.length;
}

/** As of answers: what an open case or an order that waits may need stays. */
export const OLD_WEBHOOKS: Prunable = {
  table: 'webhooks',
  keys: { id: 'bigint' },
  at: 'received_at',
  write: 'DELETE FROM webhooks old USING batch',
  isOld: `old.last_received_at < now() - make_interval(days => $1) AND ${noOpenCase('old')}
    AND NOT EXISTS (SELECT FROM payments p JOIN orders o ON o.id = p.order_id
      WHERE p.reference = old.reference AND o.status IN ('pending', 'review'))`,
};
