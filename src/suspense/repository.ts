import type { Database } from '../platform/database.ts';
import type { Mode } from '../platform/mode.ts';

/** Money the shop holds and has not earned: it waits here until somebody gives it back or earns it. */
export function openSuspense(database: Database, mode: Mode) {
  return database.prisma.suspenseItem.findMany({
    where: { mode, closedAt: null },
    orderBy: { openedAt: 'asc' },
    select: {
      id: true,
      class: true,
      reference: true,
      orderId: true,
      amount: true,
      currency: true,
      openedAt: true,
    },
  });
}

/** Ends one item, with a name and what was done. @returns false when there is no such open item */
export async function resolveSuspense(
  database: Database,
  id: bigint,
  by: string,
  note: string,
): Promise<boolean> {
  const rows = await database.query(
    `WITH closed AS (
       UPDATE suspense_items SET closed_at = now(), closed_by = $2, note = $3 WHERE id = $1 AND closed_at IS NULL
       RETURNING id, order_id, reference, class
     ), entry AS (
       INSERT INTO journal (order_id, event, reference, cause, detail)
       SELECT order_id, 'suspense-resolved', reference, 'operator:' || $2, jsonb_build_object('item', id, 'class', class, 'note', $3::text)
       FROM closed WHERE order_id IS NOT NULL
     )
     SELECT id FROM closed`,
    [id, by, note],
  );
  return rows.length === 1;
}
