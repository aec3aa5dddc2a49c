import type { Queryable } from '../platform/database/database.ts';
import type { Mode } from '../platform/mode.ts';
import { ENTRY, type Deliveries } from './delivery.sql.ts';
import { IS_UNSENT } from './releases.sql.ts';

/** The journal entry of each row of `asked` that belongs to an order. @param by $ numbers of name and note */
const entryOf = (
  word: string,
  was: string,
  attempts: string,
  [by, note]: [by: string, note: string],
): string => `
  ${ENTRY}
  SELECT order_id, '${word}-redelivery', reference, 'operator:' || ${by},
    jsonb_strip_nulls(jsonb_build_object(
      '${word}', id, 'was', ${was}, 'attempts', ${attempts}, 'note', ${note}::text))
  FROM asked WHERE order_id IS NOT NULL ORDER BY order_id`;

// Of a release that its receiver took: all that came went back since, by refunds or as the service shows it.
// The receiver may have lost it, and then ships.
const IS_GONE = `delivery = 'delivered' AND money_that_came(releases) <=
  (SELECT coalesce(sum(b.amount), 0) FROM refunds b WHERE b.order_id = releases.order_id)
  + coalesce((SELECT max((f.evidence ->> 'unexplained')::bigint) FROM findings f
    WHERE f.order_id = releases.order_id AND f.class = 'reversed' AND f.raised_at IS NOT NULL AND f.closed_at IS NULL), 0)`;

/**
 * Makes a delivery due now, whatever became of it before, and starts its three days anew. A delivery in hand
 * is not disturbed: when it succeeds, it is the one that was asked for.
 * @param id of the row; for a release its order's as well
 * @param withheld whether one is meant that was withheld, or whose money went back since; without it, such a
 * one is left alone
 * @returns `unknown` when the mode has no such row
 */
export async function makeDeliveryDue(
  db: Queryable,
  { word, table, update }: Deliveries,
  mode: Mode,
  id: string,
  { by, note, withheld }: { by: string; note: string | null; withheld: boolean },
): Promise<'due' | 'withheld' | 'unknown'> {
  const [row] = await db.query<{ isDue: boolean }>(
    `WITH seen AS (
       SELECT id, delivery, attempts,
         delivery = 'withheld' OR ${word === 'release' ? IS_GONE : 'false'} AS is_withheld FROM ${table}
       WHERE mode = $1 AND (id = $2 ${word === 'release' ? 'OR order_id = $2' : ''}) FOR UPDATE
     ), asked AS (
       ${update} r SET delivery = 'waiting', next_check_at = now(), attempts = 0,
         asked_again_at = now(), tried_since = NULL ${word === 'event' ? ', asked_again_by = $3' : ''}
       FROM seen WHERE r.id = seen.id AND (NOT seen.is_withheld OR $5)
       RETURNING r.id, r.order_id, r.reference, seen.attempts,
         CASE WHEN seen.is_withheld THEN 'withheld' ELSE seen.delivery END AS was
     ), entry AS (${entryOf(word, 'was', 'attempts', ['$3', '$4'])})
     SELECT asked.id IS NOT NULL AS "isDue" FROM seen LEFT JOIN asked USING (id)`,
    [mode, id, by, note, withheld],
  );
  if (row === undefined) return 'unknown';
  return row.isDue ? 'due' : 'withheld';
}

/**
 * Makes up to `limit` unsent rows due, oldest first, each under the id it has.
 * @param type of events; null for releases
 * @returns how many
 */
export async function makeUnsentDue(
  db: Queryable,
  { word, table, update, byAge }: Deliveries,
  mode: Mode,
  type: string | null,
  { by, note, limit }: { by: string; note: string | null; limit: number },
): Promise<number> {
  const rows = await db.query(
    `WITH oldest AS (
       SELECT id FROM ${table} WHERE mode = $1
         AND ${word === 'event' ? `delivery = 'unneeded' AND type = $5` : `$5::text IS NULL AND ${IS_UNSENT}`}
       ORDER BY ${byAge} LIMIT $4 FOR UPDATE
     ), asked AS (
       ${update} r SET delivery = 'waiting', next_check_at = now(), asked_again_at = now()
         ${word === 'event' ? ', asked_again_by = $2' : ''}
       FROM oldest WHERE r.id = oldest.id
       RETURNING r.id, r.order_id, r.reference
     ), entry AS (${entryOf(word, "'unneeded'", '0', ['$2', '$3'])})
     SELECT id FROM asked`,
    [mode, by, note, limit, type],
  );
  return rows.length;
}
