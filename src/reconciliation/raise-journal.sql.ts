import type { Queryable } from '../platform/database/database.ts';
import type { RunId } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';

/**
 * Each entry locks its order until the transaction ends, and a transaction has room
 * for some thousand locks.
 */
const ENTRIES_AT_ONCE = 200;

const TELL = `
  WITH seen AS MATERIALIZED (
    SELECT f.id, f.order_id, f.reference, finding_told(f) AS told FROM findings f
    WHERE f.mode = $1 AND f.last_run_id = $2 AND f.closed_at IS NULL AND f.order_id IS NOT NULL AND f.id > $3
    ORDER BY f.id LIMIT ${ENTRIES_AT_ONCE}
  ), entry AS (
    INSERT INTO journal (order_id, event, reference, cause, detail)
    SELECT order_id, 'finding-raised', reference, 'reconciliation', told FROM seen
    WHERE told IS DISTINCT FROM (SELECT j.detail FROM journal j WHERE j.order_id = seen.order_id
      AND j.event = 'finding-raised' AND j.detail ->> 'finding' = seen.id::text ORDER BY j.seq DESC LIMIT 1)
    ORDER BY order_id, reference
  )
  SELECT max(id) AS last FROM seen`;

/**
 * Writes the findings of this run into the journals of their orders, where their content is new. If an
 * amount is changed by other means afterwards, the journal contradicts it. Call it after the transaction
 * that raised them; it may be called again.
 */
export async function journalFindings(db: Queryable, mode: Mode, runId: RunId): Promise<void> {
  for (let after: bigint | null = 0n; after !== null;) {
    const [row]: { last: bigint | null }[] = await db.query<{ last: bigint | null }>(TELL, [
      mode,
      runId,
      after,
    ]);
    after = row?.last ?? null;
  }
}
