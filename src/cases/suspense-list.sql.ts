import type { Queryable } from '../platform/database/database.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import type { Resolution } from './decision.ts';

/** Money the shop holds and has not earned: it waits here until somebody gives it back or earns it. */
export type SuspenseItem = {
  id: bigint;
  class: string;
  /** Minor units. */
  amount: bigint;
  currency: string;
  reference: Reference;
  /** Null: the money came under a reference that is not ours. */
  orderId: OrderId | null;
  openedAt: Date;
  /** Whole days since then, by the database's clock. */
  ageDays: number;
  owner: string | null;
  assignedAt: Date | null;
  /** What people wrote on the way. */
  notes: { at: string; by: string; note: string }[];
  /** Changes with what a person sees of it and decides upon: its money, who works on it, what was noted. */
  version: string;
};

/** What a deed says besides what it does. */
export type DeedSaid = {
  note?: string | null;
  /** The {@link SuspenseItem.version} that the person looked at: nothing is done to what has changed since. */
  seen?: string | null;
};

const VERSION = `hashtextextended(concat_ws('|', s.class, s.amount, s.currency, s.owner, extract(epoch FROM s.assigned_at),
  (SELECT count(*) FROM suspense_notes n WHERE n.item_id = s.id)), 0)::text`;

/** Which open items are read; what is left out or null narrows nothing. */
export type SuspenseWanted = {
  /** The id after which they begin. */
  after?: bigint;
  limit?: number;
  class?: string | null;
  /** Seconds since they were opened, by the database's clock: from, and below. */
  ageFromSec?: number | null;
  ageBelowSec?: number | null;
  ids?: readonly bigint[];
};

/** What nobody has ended yet, oldest first: by their ids. */
export function openSuspense(
  db: Queryable,
  mode: Mode,
  wanted: SuspenseWanted = {},
): Promise<SuspenseItem[]> {
  const { after = 0n, limit = null, class: name = null, ageFromSec = null, ageBelowSec = null } = wanted;
  return db.query(
    `SELECT id, class, amount, currency, reference, order_id AS "orderId", opened_at AS "openedAt", owner,
       floor(extract(epoch FROM now() - opened_at) / 86400)::int AS "ageDays", assigned_at AS "assignedAt",
       coalesce((SELECT jsonb_agg(jsonb_build_object('at', written_at, 'by', written_by, 'note', n.note) ORDER BY n.id)
         FROM suspense_notes n WHERE n.item_id = s.id), '[]') AS notes,
       ${VERSION} AS version
     FROM suspense_items s
     WHERE mode = $1 AND closed_at IS NULL AND id > $2 AND ($4::text IS NULL OR class = $4)
       AND ($5::float8 IS NULL OR opened_at <= now() - make_interval(secs => $5))
       AND ($6::float8 IS NULL OR opened_at > now() - make_interval(secs => $6))
       AND ($7::bigint[] IS NULL OR id = ANY($7))
     ORDER BY id LIMIT $3`,
    [mode, after, limit, name, ageFromSec, ageBelowSec, wanted.ids ?? null],
  );
}

/** Gives an item to somebody, or to somebody else. @returns false when the mode has no such open item, or not as seen */
export async function assignSuspense(
  db: Queryable,
  mode: Mode,
  id: bigint,
  owner: string,
  by: string,
  { note = null, seen = null }: DeedSaid = {},
): Promise<boolean> {
  const rows = await db.query(
    `WITH assigned AS (
       UPDATE suspense_items s SET owner = $3, assigned_at = now(), assigned_by = $4
       WHERE id = $1 AND mode = $2 AND closed_at IS NULL AND ($6::text IS NULL OR ${VERSION} = $6)
       RETURNING id, order_id, reference, class
     ), said AS (
       INSERT INTO suspense_notes (item_id, written_by, note) SELECT id, $4, $5 FROM assigned WHERE $5::text IS NOT NULL
     ), entry AS (
       INSERT INTO journal (order_id, event, reference, cause, detail)
       SELECT order_id, 'suspense-assigned', reference, 'operator:' || $4,
         jsonb_strip_nulls(jsonb_build_object('item', id, 'class', class, 'owner', $3::text, 'note', $5::text))
       FROM assigned WHERE order_id IS NOT NULL
     )
     SELECT id FROM assigned`,
    [id, mode, owner, by, note, seen],
  );
  return rows.length === 1;
}

/** Adds what somebody has found out. @returns false when the mode has no such open item */
export async function addSuspenseNote(
  db: Queryable,
  mode: Mode,
  id: bigint,
  by: string,
  note: string,
): Promise<boolean> {
  const rows = await db.query(
    `INSERT INTO suspense_notes (item_id, written_by, note)
     SELECT id, $3, $4 FROM suspense_items WHERE id = $1 AND mode = $2 AND closed_at IS NULL RETURNING id`,
    [id, mode, by, note],
  );
  return rows.length === 1;
}

/** Ends an item, with a decision, a name and what was done. @returns false when the mode has no such open item, or not as seen */
export async function resolveSuspense(
  db: Queryable,
  mode: Mode,
  id: bigint,
  { by, note, decision, refundNote }: Resolution,
  seen: string | null = null,
): Promise<boolean> {
  const rows = await db.query(
    // The payment before its item, as settling locks them: an answer about this very money may be on its way.
    `WITH locked AS MATERIALIZED (
       SELECT p.reference FROM suspense_items s JOIN payments p USING (mode, reference) JOIN orders o ON o.id = p.order_id
       WHERE s.id = $1 AND s.mode = $2 FOR NO KEY UPDATE OF o, p
     ), closed AS (
       UPDATE suspense_items s SET closed_at = now(), closed_by = $3, note = $4, decision = $5, refund_note = $6
       WHERE id = $1 AND mode = $2 AND closed_at IS NULL AND ($7::text IS NULL OR ${VERSION} = $7)
         AND (SELECT count(*) FROM locked) >= 0
       RETURNING id, order_id, reference, class, decision, note, refund_note
     ), entry AS (
       INSERT INTO journal (order_id, event, reference, cause, detail)
       SELECT order_id, 'suspense-resolved', reference, 'operator:' || $3, jsonb_strip_nulls(jsonb_build_object(
         'item', id, 'class', class, 'decision', decision, 'note', note, 'refund', refund_note))
       FROM closed WHERE order_id IS NOT NULL
     )
     SELECT id FROM closed`,
    [id, mode, by, note, decision, refundNote, seen],
  );
  return rows.length === 1;
}

/** Which of the items are open, whatever else happened to them. */
export async function stillOpenSuspense(
  db: Queryable,
  mode: Mode,
  ids: readonly bigint[],
): Promise<bigint[]> {
  const rows = await db.query<{ id: bigint }>(
    'SELECT id FROM suspense_items WHERE id = ANY($1) AND mode = $2 AND closed_at IS NULL',
    [ids, mode],
  );
  return rows.map(({ id }) => id);
}
