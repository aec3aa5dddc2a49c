import type { Database, Queryable } from '../platform/database/database.ts';
import type { Mode } from '../platform/mode.ts';
import type { Receiver } from './release.ts';
import { ENTRY, EVENTS, IS_HELD_BACK, NEWEST_ANSWER, RELEASES, type Deliveries } from './delivery.sql.ts';
import type { EventReceiver, EventType } from './event.ts';
import { IS_UNSENT, type Unsent } from './releases.sql.ts';

/** How the id of an event begins. */
const EVENT = 'evt_';

/**
 * Has a release or an event delivered again, under the id it has had from the start: one that was given up,
 * one that still waits, one that was not wanted, or one that its receiver took and lost.
 * - `due`: the worker delivers it within a moment.
 * - `withheld`: its money went back, and the request does not say that it is to be sent all the same.
 * - `unknown`: this mode has nothing with that id, and no release of that order.
 * - `no-receiver`: there is no receiver, so it would wait for ever.
 */
export type Redeliver = (
  request: RedeliveryRequest,
) => Promise<'due' | 'withheld' | 'unknown' | 'no-receiver'>;

type RedeliveryRequest = {
  idOrOrderId: string;
  by: string;
  note: string | null;
  /** Sends a release though its money went back. */
  withheld?: boolean;
};

export type RedeliverParts = {
  database: Database;
  mode: Mode;
  receiver: Receiver | null;
  eventReceiver?: EventReceiver | null;
  /** Called when the delivery is due. */
  onDue: () => void;
};

export function createRedeliver(parts: RedeliverParts): Redeliver {
  const { database, mode, receiver, eventReceiver = null, onDue } = parts;
  return async ({ idOrOrderId, by, note, withheld = false }) => {
    const isEvent = idOrOrderId.startsWith(EVENT);
    if ((isEvent ? eventReceiver : receiver) === null) return 'no-receiver';
    const deliveries = isEvent ? EVENTS : RELEASES;
    const outcome = await makeDeliveryDue(database, deliveries, mode, idOrOrderId, { by, note, withheld });
    if (outcome === 'due') onDue();
    return outcome;
  };
}

/** How many rows share a statement: few enough to lock rows for a moment only, however many there are. */
const UNSENT_AT_ONCE = 500;

/**
 * Makes all releases due that were recorded while there was no receiver, or all events of a type that
 * happened while it was not wanted.
 * @returns how many are due now, or that there is still no receiver
 */
export type SendUnsent = (
  request: Omit<RedeliveryRequest, 'idOrOrderId' | 'withheld'> & { type?: EventType },
) => Promise<number | 'no-receiver'>;

/** @param limit rows of one statement */
export function createSendUnsent(
  { database, mode, receiver, eventReceiver = null, onDue }: RedeliverParts,
  limit = UNSENT_AT_ONCE,
): SendUnsent {
  return async ({ by, note, type = null }) => {
    if ((type === null ? receiver : eventReceiver) === null) return 'no-receiver';
    const deliveries = type === null ? RELEASES : EVENTS;
    for (let total = 0; ;) {
      const count = await makeUnsentDue(database, deliveries, mode, type, { by, note, limit });
      total += count;
      if (count > 0) onDue();
      if (count < limit) return total;
    }
  };
}

/**
 * A sentence about releases that were recorded while there was no receiver, for lists, pages and the log.
 * @returns null when there are none
 */
export function tellOfUnsent({ count, oldest }: Unsent, hasReceiver: boolean): string | null {
  if (count === 0 || oldest === null) return null;
  const releases = count === 1 ? '1 release was' : `${count} releases were`;
  const since = `the oldest on ${oldest.toISOString()}`;
  return hasReceiver
    ? `${releases} recorded before there was a receiver and never sent, ${since}: npm run releases ` +
        '-- send-unsent --by "your name"'
    : `${releases} recorded and never sent, ${since}: there is no receiver (FULFILMENT_URL, or one ` +
        'in src/custom).';
}

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

// Verify says that all of it went back. Or, of a release that its receiver took: all that came went back
// since, by refunds or as a run has seen it, also where a person has closed the finding about that. The
// receiver may have lost it, and then ships.
const IS_GONE = `(SELECT outcome FROM (${NEWEST_ANSWER}) newest) = 'reversed'
  OR delivery = 'delivered' AND money_that_came(releases) <=
  (SELECT coalesce(sum(b.amount), 0) FROM refunds b WHERE b.order_id = releases.order_id)
  + coalesce((SELECT max((f.evidence ->> 'unexplained')::bigint) FROM findings f
    WHERE f.order_id = releases.order_id AND f.class = 'reversed' AND f.raised_at IS NOT NULL
      AND f.closed_by IS DISTINCT FROM 'reconciliation' AND f.gone_at IS NULL), 0)`;

/**
 * Makes a delivery due now, whatever became of it before, and starts its three days anew. A delivery in hand
 * is not disturbed: when it succeeds, it is the one that was asked for.
 * @param id of the row; for a release its order's as well
 * @param withheld whether one is meant that was withheld, or whose money went back since; without it, such a
 * one is left alone
 * @returns `unknown` when the mode has no such row
 */
function makeDeliveryDue(
  database: Database,
  { word, table, update }: Deliveries,
  mode: Mode,
  id: string,
  { by, note, withheld }: { by: string; note: string | null; withheld: boolean },
): Promise<'due' | 'withheld' | 'unknown'> {
  const isMeant = `mode = $1 AND (id = $2 ${word === 'release' ? 'OR order_id = $2' : ''})`;
  return database.transaction(async (tx) => {
    // A statement of its own: the next one sees a refund that was written while this one waited for the lock.
    await tx.query(`SELECT FROM ${table} WHERE ${isMeant} FOR UPDATE`, [mode, id]);
    const [row] = await tx.query<{ isDue: boolean }>(
      `WITH seen AS (
       SELECT id, delivery, attempts,
         coalesce(delivery = 'withheld' OR ${word === 'release' ? IS_GONE : 'false'}, false) AS is_withheld
       FROM ${table}
       WHERE ${isMeant}
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
  });
}

// For the statement below; $5 is the type, of events alone.
const UNSENT_RELEASE = `$5::text IS NULL AND ${IS_UNSENT} AND NOT ${IS_HELD_BACK}`;

/**
 * Makes up to `limit` unsent rows due, oldest first, each under the id it has.
 * @param type of events; null for releases
 * @returns how many
 */
async function makeUnsentDue(
  db: Queryable,
  { word, table, update, byAge }: Deliveries,
  mode: Mode,
  type: string | null,
  { by, note, limit }: { by: string; note: string | null; limit: number },
): Promise<number> {
  const rows = await db.query(
    `WITH oldest AS (
       SELECT id FROM ${table} WHERE mode = $1
         AND ${word === 'event' ? `delivery = 'unneeded' AND type = $5` : UNSENT_RELEASE}
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
