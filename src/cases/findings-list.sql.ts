import type { Queryable } from '../platform/database/database.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import type { ReconciliationClass } from './classes.ts';
import {
  FINDINGS,
  IS_WANTED,
  notesOf,
  versionOf,
  wantedValues,
  type ItemsWanted,
  type Note,
} from './work-lists.sql.ts';

/** A finding that a run sees, as it is stored; amounts in minor units of their currencies. */
export type SeenFinding = {
  id: bigint | null;
  class: ReconciliationClass;
  reference: Reference;
  orderId: OrderId | null;
  expected: bigint | null;
  expectedCurrency: string | null;
  actual: bigint | null;
  actualCurrency: string | null;
  /** Null: this run, a dry one, sees it for the first time. */
  firstSeenAt: Date | null;
};

/** A finding with its history; amounts in minor units of their currencies. */
export type StoredFinding = SeenFinding & {
  id: bigint;
  firstSeenAt: Date;
  lastSeenAt: Date;
  /** Seconds since it was first seen, by the database's clock; of a closed one, until it was closed. */
  ageSec: number;
  firstRunId: string;
  lastRunId: string;
  owner: string | null;
  assignedBy: string | null;
  assignedAt: Date | null;
  closedAt: Date | null;
  closedBy: string | null;
  resolution: string | null;
  reopens: bigint | null;
  evidence: object | null;
  notes: Note[];
  /**
   * Changes when something changes that an operator sees and decides upon: the money,
   * the owner, the notes.
   */
  version: string;
};

/** Raised findings of a mode, ordered by id. */
export async function readFindings(
  db: Queryable,
  mode: Mode,
  wanted: ItemsWanted,
  isOpenOnly: boolean,
): Promise<StoredFinding[]> {
  return db.query(
    `SELECT i.id, i.class, i.reference, i.order_id AS "orderId", i.expected,
       coalesce(p.currency, i.currency) AS "expectedCurrency", i.actual, i.currency AS "actualCurrency",
       i.first_seen_at AS "firstSeenAt", i.last_seen_at AS "lastSeenAt",
       extract(epoch FROM coalesce(i.closed_at, now()) - i.first_seen_at)::float8 AS "ageSec",
       i.first_run_id AS "firstRunId", i.last_run_id AS "lastRunId",
       i.owner, i.assigned_by AS "assignedBy", i.assigned_at AS "assignedAt",
       i.closed_at AS "closedAt", i.closed_by AS "closedBy", i.note AS resolution, i.reopens, i.evidence,
       ${notesOf(FINDINGS)} AS notes, ${versionOf(FINDINGS)} AS version
     FROM findings i LEFT JOIN payments p ON p.reference = i.reference
     WHERE ${IS_WANTED} AND i.raised_at IS NOT NULL ${isOpenOnly ? 'AND i.closed_at IS NULL' : ''}
     ORDER BY i.id LIMIT $4`,
    wantedValues(mode, wanted),
  );
}

/** The item of the money that is in suspense under the reference of an open finding; null: there is none. */
export async function heldUnder(db: Queryable, mode: Mode, findingId: bigint): Promise<bigint | null> {
  const [row] = await db.query<{ id: bigint }>(
    `SELECT s.id FROM findings f JOIN suspense_items s USING (mode, reference)
     WHERE f.id = $1 AND f.mode = $2 AND f.closed_at IS NULL AND s.closed_at IS NULL`,
    [findingId, mode],
  );
  return row?.id ?? null;
}

/**
 * Closes one finding for an operator, and writes that into the order's journal. As long as money of it waits
 * in suspense it stays open: the decision about the money closes it.
 * @returns whether the mode had it open, in the version that the operator saw
 */
export async function closeFinding(
  db: Queryable,
  mode: Mode,
  { id, by, note, seen }: { id: bigint; by: string; note: string; seen: string | null },
): Promise<boolean> {
  const rows = await db.query(
    `WITH closed AS (
       UPDATE findings i SET closed_at = now(), closed_by = $3, note = $4
       WHERE id = $1 AND mode = $2 AND closed_at IS NULL AND ($5::text IS NULL OR ${versionOf(FINDINGS)} = $5)
         AND NOT EXISTS (SELECT FROM suspense_items s
           WHERE s.mode = i.mode AND s.reference = i.reference AND s.closed_at IS NULL)
       RETURNING id, order_id, reference, class
     ), entry AS (
       INSERT INTO journal (order_id, event, reference, cause, detail)
       SELECT order_id, 'finding-resolved', reference, 'operator:' || $3,
         jsonb_build_object('finding', id, 'class', class, 'note', $4::text)
       FROM closed WHERE order_id IS NOT NULL
     )
     SELECT id FROM closed`,
    [id, mode, by, note, seen],
  );
  return rows.length === 1;
}
