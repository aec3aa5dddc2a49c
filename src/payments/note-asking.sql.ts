import type { Queryable } from '../platform/database/database.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';

export type AskRequest = {
  reference: Reference;
  by: string;
  note: string;
  /** The webhook to act upon again; null: none. */
  webhook: string | null;
};

/**
 * Records in the order's journal that a person asks for a check.
 * @returns the order's id, or null when the payment is not ours
 */
export async function noteAsking(db: Queryable, mode: Mode, ask: AskRequest): Promise<OrderId | null> {
  const [row] = await db.query<{ orderId: OrderId }>(
    `INSERT INTO journal (order_id, event, reference, cause, detail)
     SELECT order_id, 'check-asked', reference, 'operator:' || $3,
       jsonb_strip_nulls(jsonb_build_object('note', $4::text, 'webhook', $5::text))
     FROM payments WHERE reference = $1 AND mode = $2
     RETURNING order_id AS "orderId"`,
    [ask.reference, mode, ask.by, ask.note, ask.webhook],
  );
  return row?.orderId ?? null;
}
