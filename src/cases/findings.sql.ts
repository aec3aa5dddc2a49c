import type { Queryable } from '../platform/database/database.ts';
import { ORDER_REFERENCE_PATTERN, type OrderId, type Reference } from '../platform/ids.ts';
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
