import type { Queryable } from '../../platform/database.ts';
import type { Mode } from '../../platform/mode.ts';
import { FINDING_CLASSES, type ReconciliationClass } from '../classes.ts';

/** An open finding as it is stored; amounts in minor units of their currencies. */
export type OpenFinding = {
  id: bigint | null;
  class: ReconciliationClass;
  reference: string;
  orderId: string | null;
  expected: bigint | null;
  expectedCurrency: string | null;
  actual: bigint | null;
  actualCurrency: string | null;
  /** Null: this run, a dry one, sees it for the first time. */
  firstSeenAt: Date | null;
  ageSec: number;
};

// A person has looked at exactly this disagreement and closed it: it is not raised again. Other money or another class
// is another disagreement, and so is one that had gone away and came back.
const NOT_RESOLVED = `NOT EXISTS (
  SELECT FROM findings f WHERE f.mode = $1 AND f.class = c.class AND f.reference = c.reference
    AND f.closed_at IS NOT NULL AND f.closed_by <> 'reconciliation'
    AND (f.expected, f.actual, f.currency) IS NOT DISTINCT FROM (c.expected, c.actual, coalesce(c.actual_currency, c.expected_currency)))`;

/** Raises what this run sees: an open finding is seen again, a closed one starts a new row. */
export async function raiseFindings(db: Queryable, mode: Mode, runId: string): Promise<void> {
  await db.query(
    `INSERT INTO findings (mode, class, reference, order_id, currency, expected, actual, first_run_id, last_run_id)
     SELECT DISTINCT ON (c.class, c.reference)
       $1, c.class, c.reference, c.order_id, coalesce(c.actual_currency, c.expected_currency), c.expected, c.actual, $2, $2
     FROM classified c WHERE c.class = ANY($3) AND ${NOT_RESOLVED}
     ON CONFLICT (mode, class, reference) WHERE closed_at IS NULL DO UPDATE
     SET last_run_id = excluded.last_run_id, last_seen_at = now(), order_id = excluded.order_id,
       currency = excluded.currency, expected = excluded.expected, actual = excluded.actual`,
    [mode, runId, FINDING_CLASSES],
  );
}

/**
 * Closes what a complete run no longer sees. A run over a window has not looked at the rest: it closes only what it
 * put into another class.
 */
export async function closeUnseen(db: Queryable, mode: Mode, runId: string, sawAll: boolean): Promise<void> {
  await db.query(
    `UPDATE findings f SET closed_at = now(), closed_by = 'reconciliation'
     WHERE mode = $1 AND closed_at IS NULL AND last_run_id <> $2
       AND ($3 OR EXISTS (SELECT FROM classified c WHERE c.reference = f.reference)
         -- What is plainly matched is in no class of its own.
         OR EXISTS (SELECT FROM history_rows h WHERE h.reference = f.reference))`,
    [mode, runId, sawAll],
  );
}

/** What this run sees and nobody has resolved, oldest first. */
export async function findingsOfRun(db: Queryable, mode: Mode, limit: number): Promise<OpenFinding[]> {
  return db.query(
    `SELECT f.id, c.class, c.reference, c.order_id AS "orderId", c.expected, c.expected_currency AS "expectedCurrency",
       c.actual, c.actual_currency AS "actualCurrency", f.first_seen_at AS "firstSeenAt",
       coalesce(extract(epoch FROM now() - f.first_seen_at), 0)::float8 AS "ageSec"
     FROM classified c LEFT JOIN findings f
       ON f.mode = $1 AND f.class = c.class AND f.reference = c.reference AND f.closed_at IS NULL
     WHERE c.class = ANY($2) AND ${NOT_RESOLVED}
     ORDER BY f.first_seen_at NULLS LAST, c.class, c.reference LIMIT $3`,
    [mode, FINDING_CLASSES, limit],
  );
}

export async function countFindings(
  db: Queryable,
  mode: Mode,
): Promise<{ class: ReconciliationClass; count: bigint }[]> {
  return db.query(
    `SELECT c.class, count(*) AS count FROM classified c WHERE c.class = ANY($2) AND ${NOT_RESOLVED}
     GROUP BY c.class ORDER BY c.class`,
    [mode, FINDING_CLASSES],
  );
}

/** All open findings of a mode, oldest first. */
export async function openFindings(db: Queryable, mode: Mode): Promise<OpenFinding[]> {
  return db.query(
    `SELECT f.id, f.class, f.reference, f.order_id AS "orderId", f.expected, coalesce(p.currency, f.currency) AS "expectedCurrency",
       f.actual, f.currency AS "actualCurrency", f.first_seen_at AS "firstSeenAt",
       extract(epoch FROM now() - f.first_seen_at)::float8 AS "ageSec"
     FROM findings f LEFT JOIN payments p USING (reference)
     WHERE f.mode = $1 AND f.closed_at IS NULL ORDER BY f.first_seen_at, f.id`,
    [mode],
  );
}

/** Closes one finding by a person's hand, and writes that into the order's story. @returns whether it was open */
export async function closeFinding(db: Queryable, id: bigint, by: string, note: string): Promise<boolean> {
  const rows = await db.query(
    `WITH closed AS (
       UPDATE findings SET closed_at = now(), closed_by = $2, note = $3 WHERE id = $1 AND closed_at IS NULL
       RETURNING id, order_id, reference, class
     ), entry AS (
       INSERT INTO journal (order_id, event, reference, cause, detail)
       SELECT order_id, 'finding-resolved', reference, 'operator:' || $2, jsonb_build_object('finding', id, 'class', class, 'note', $3::text)
       FROM closed WHERE order_id IS NOT NULL
     )
     SELECT id FROM closed`,
    [id, by, note],
  );
  return rows.length === 1;
}
