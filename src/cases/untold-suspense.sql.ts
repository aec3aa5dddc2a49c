import type { Queryable } from '../platform/database/database.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';

/** Items in suspense that were opened, for an alert. */
export type OpenedItems = {
  /** By class. */
  counts: Record<string, number>;
  /** The first few; all of them are in `npm run suspense`. */
  first: { id: string; class: string; reference: Reference; orderId: OrderId | null }[];
};

/** Money that comes in the meantime is told together: a hundred items are one alert, and not a hundred. */
const PAUSE = `interval '5 minutes'`;

/** An arbitrary advisory lock number that no other code uses; the second key is the mode. */
const LOCK_KEY = 7_203_449;

// What an alert of its own tells (a unit error, a finding) is taken with the rest, and not told again.
const TAKEN = `
  UPDATE suspense_items i SET alerted_at = now()
  FROM (SELECT id FROM suspense_items WHERE mode = $1 AND alerted_at IS NULL AND closed_at IS NULL
      AND NOT EXISTS (SELECT FROM alert_states WHERE mode = $1 AND event = 'suspense-opened'
        AND news_at > now() - ${PAUSE})
      ORDER BY id FOR NO KEY UPDATE SKIP LOCKED) untold
  WHERE i.id = untold.id
  RETURNING i.id, i.class, i.reference, i.order_id, i.class <> 'unit_error' AND NOT EXISTS (
    SELECT FROM findings f WHERE f.mode = i.mode AND f.reference = i.reference AND f.raised_at IS NOT NULL
      AND f.closed_at IS NULL) AS is_news`;

/**
 * Takes the open items that have no alert yet: each is taken once, by one process. Call it in the transaction
 * that notes the alert.
 * @param maxNamed how many of them are named one by one
 * @returns null: there are none, another process is taking them, or there was an alert within the last five
 * minutes
 */
export async function takeUntoldItems(
  tx: Queryable,
  mode: Mode,
  maxNamed: number,
): Promise<OpenedItems | null> {
  // Two processes that take at the same time would share the items out, and send two alerts.
  const [lock] = await tx.query<{ isOurs: boolean }>(
    'SELECT pg_try_advisory_xact_lock($1, hashtext($2)) AS "isOurs"',
    [LOCK_KEY, mode],
  );
  if (lock?.isOurs !== true) return null;
  const rows = await tx.query<OpenedItems['first'][number]>(
    `WITH taken AS (${TAKEN})
     SELECT id::text AS id, class, reference, order_id AS "orderId" FROM taken WHERE is_news ORDER BY taken.id`,
    [mode],
  );
  if (rows.length === 0) return null;
  const counts: OpenedItems['counts'] = {};
  for (const { class: name } of rows) counts[name] = (counts[name] ?? 0) + 1;
  return { counts, first: rows.slice(0, maxNamed) };
}
