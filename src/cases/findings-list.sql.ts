import type { Queryable } from '../platform/database/database.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import type { ReconciliationClass } from './classes.ts';

/** A finding of a run as it is stored; amounts in minor units of their currencies. */
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

/** A finding with its life; amounts in minor units of their currencies. */
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
  notes: { at: string; by: string; note: string }[];
  /** Changes with what a person sees of it and decides upon: its money, who works on it, what was noted. */
  version: string;
};

/** What a deed says besides what it does. */
export type DeedSaid = {
  note?: string | null;
  /** The {@link StoredFinding.version} that the person looked at: nothing is done to what has changed since. */
  seen?: string | null;
};

const VERSION = `hashtextextended(concat_ws('|', f.class, f.expected, f.actual, f.currency, f.owner,
  extract(epoch FROM f.assigned_at), (SELECT count(*) FROM finding_notes n WHERE n.finding_id = f.id)), 0)::text`;

/** Which findings are read; what is left out or null narrows nothing. */
export type FindingsWanted = {
  /** The id after which they begin. */
  after: bigint;
  limit: number;
  isOpenOnly: boolean;
  class?: string | null;
  /** Seconds since they were first seen, by the database's clock: from, and below. */
  ageFromSec?: number | null;
  ageBelowSec?: number | null;
  ids?: readonly bigint[] | null;
};

/** Findings of a mode that were raised, by their ids. */
export async function readFindings(
  db: Queryable,
  mode: Mode,
  wanted: FindingsWanted,
): Promise<StoredFinding[]> {
  const { after, limit, isOpenOnly, class: name, ageFromSec, ageBelowSec, ids } = wanted;
  return db.query(
    `SELECT f.id, f.class, f.reference, f.order_id AS "orderId", f.expected,
       coalesce(p.currency, f.currency) AS "expectedCurrency", f.actual, f.currency AS "actualCurrency",
       f.first_seen_at AS "firstSeenAt", f.last_seen_at AS "lastSeenAt",
       extract(epoch FROM coalesce(f.closed_at, now()) - f.first_seen_at)::float8 AS "ageSec",
       f.first_run_id AS "firstRunId", f.last_run_id AS "lastRunId",
       f.owner, f.assigned_by AS "assignedBy", f.assigned_at AS "assignedAt",
       f.closed_at AS "closedAt", f.closed_by AS "closedBy", f.note AS resolution, f.reopens, f.evidence,
       coalesce((SELECT jsonb_agg(jsonb_build_object('at', written_at, 'by', written_by, 'note', note) ORDER BY id)
         FROM finding_notes n WHERE n.finding_id = f.id), '[]') AS notes,
       ${VERSION} AS version
     FROM findings f LEFT JOIN payments p ON p.reference = f.reference
     WHERE f.mode = $1 AND f.id > $2 AND f.raised_at IS NOT NULL ${isOpenOnly ? 'AND f.closed_at IS NULL' : ''}
       AND ($4::text IS NULL OR f.class = $4) AND ($7::bigint[] IS NULL OR f.id = ANY($7))
       AND ($5::float8 IS NULL OR f.first_seen_at <= now() - make_interval(secs => $5))
       AND ($6::float8 IS NULL OR f.first_seen_at > now() - make_interval(secs => $6))
     ORDER BY f.id LIMIT $3`,
    [mode, after, limit, name ?? null, ageFromSec ?? null, ageBelowSec ?? null, ids ?? null],
  );
}

/** Gives a finding to somebody, or to somebody else. @returns false when the mode has no such open finding, or not as seen */
export async function assignFinding(
  db: Queryable,
  mode: Mode,
  id: bigint,
  owner: string,
  by: string,
  { note = null, seen = null }: DeedSaid = {},
): Promise<boolean> {
  const rows = await db.query(
    `WITH assigned AS (
       UPDATE findings f SET owner = $3, assigned_at = now(), assigned_by = $4
       WHERE id = $1 AND mode = $2 AND closed_at IS NULL AND ($6::text IS NULL OR ${VERSION} = $6)
       RETURNING id, order_id, reference, class
     ), said AS (
       INSERT INTO finding_notes (finding_id, written_by, note) SELECT id, $4, $5 FROM assigned WHERE $5::text IS NOT NULL
     ), entry AS (
       INSERT INTO journal (order_id, event, reference, cause, detail)
       SELECT order_id, 'finding-assigned', reference, 'operator:' || $4,
         jsonb_strip_nulls(jsonb_build_object('finding', id, 'class', class, 'owner', $3::text, 'note', $5::text))
       FROM assigned WHERE order_id IS NOT NULL
     )
     SELECT id FROM assigned`,
    [id, mode, owner, by, note, seen],
  );
  return rows.length === 1;
}

/** Adds what somebody has found out. @returns false when the mode has no such open finding */
export async function addNote(
  db: Queryable,
  mode: Mode,
  id: bigint,
  by: string,
  note: string,
): Promise<boolean> {
  const rows = await db.query(
    `INSERT INTO finding_notes (finding_id, written_by, note)
     SELECT id, $3, $4 FROM findings WHERE id = $1 AND mode = $2 AND closed_at IS NULL RETURNING id`,
    [id, mode, by, note],
  );
  return rows.length === 1;
}

/** Closes one finding by a person's hand, and writes that into the order's story. @returns whether the mode had it open, as seen */
export async function closeFinding(
  db: Queryable,
  mode: Mode,
  id: bigint,
  by: string,
  note: string,
  seen: string | null = null,
): Promise<boolean> {
  const rows = await db.query(
    `WITH closed AS (
       UPDATE findings f SET closed_at = now(), closed_by = $3, note = $4
       WHERE id = $1 AND mode = $2 AND closed_at IS NULL AND ($5::text IS NULL OR ${VERSION} = $5)
       RETURNING id, order_id, reference, class
     ), entry AS (
       INSERT INTO journal (order_id, event, reference, cause, detail)
       SELECT order_id, 'finding-resolved', reference, 'operator:' || $3, jsonb_build_object('finding', id, 'class', class, 'note', $4::text)
       FROM closed WHERE order_id IS NOT NULL
     )
     SELECT id FROM closed`,
    [id, mode, by, note, seen],
  );
  return rows.length === 1;
}

/** Which of the findings are open, whatever else happened to them. */
export async function stillOpenFindings(
  db: Queryable,
  mode: Mode,
  ids: readonly bigint[],
): Promise<bigint[]> {
  const rows = await db.query<{ id: bigint }>(
    'SELECT id FROM findings WHERE id = ANY($1) AND mode = $2 AND closed_at IS NULL',
    [ids, mode],
  );
  return rows.map(({ id }) => id);
}
