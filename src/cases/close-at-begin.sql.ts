import type { Queryable } from '../platform/database/database.ts';
import { ORDER_REFERENCE_PATTERN } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';

/** Who began reconciliation, why, and the begin's time. */
type BegunBy = { by: string; note: string; begunAt: Date };

/**
 * Ends the undecided suspense of the transactions that this begin or an earlier one took, with its name and
 * note: a worker of a version that knows no begins holds their money again. Money under a reference of the
 * form of ours stays for a person to decide about: once decided, it could never be given back to its order.
 */
export async function closeSuspenseAtBegin(
  db: Queryable,
  mode: Mode,
  { by, note }: Pick<BegunBy, 'by' | 'note'>,
): Promise<void> {
  await db.query(
    `UPDATE suspense_items i SET closed_at = now(), closed_by = $2, note = $3, decision = 'other'
     FROM before_begin b
     WHERE i.mode = $1 AND i.closed_at IS NULL AND i.order_id IS NULL
       AND b.mode = $1 AND b.reference = i.reference AND i.reference !~ '${ORDER_REFERENCE_PATTERN.source}'`,
    [mode, by, note],
  );
}

/** An entry locks its order until its statement ends, and PostgreSQL has room for some thousand locks. */
const CLOSED_AT_ONCE = 200;

const ENTRY = `
  INSERT INTO journal (order_id, event, reference, cause, detail)
  SELECT order_id, 'finding-resolved', reference, 'operator:' || $3,
    jsonb_build_object('finding', id, 'class', class, 'note', $4::text)
  FROM closed WHERE order_id IS NOT NULL ORDER BY order_id, reference`;

const CLOSE = `
  WITH wanted AS (
    SELECT f.id FROM findings f JOIN before_begin b USING (mode, reference)
    WHERE f.mode = $1 AND b.begun_at = $2 AND f.closed_at IS NULL
    ORDER BY f.order_id, f.id LIMIT ${CLOSED_AT_ONCE}
  ), closed AS (
    UPDATE findings i SET closed_at = now(), closed_by = $3, note = $4
    FROM wanted WHERE i.id = wanted.id AND i.closed_at IS NULL
    RETURNING i.id, i.order_id, i.reference, i.class
  ), entry AS (${ENTRY})
  SELECT id FROM closed`;

/**
 * Closes the open findings about what a begin took, with its name and note, and writes that into the journals
 * of their orders. Call it after the transaction of the begin; what it does not reach, the next run closes.
 */
export async function closeFindingsAtBegin(
  db: Queryable,
  mode: Mode,
  { by, note, begunAt }: BegunBy,
): Promise<void> {
  for (let closed = CLOSED_AT_ONCE; closed > 0;)
    closed = (await db.query(CLOSE, [mode, begunAt, by, note])).length;
}
