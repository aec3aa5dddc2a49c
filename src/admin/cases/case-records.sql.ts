import { FINDINGS, notesOf, SUSPENSE, type Note } from '../../cases/work-lists.sql.ts';
import type { Queryable } from '../../platform/database/database.ts';
import type { OrderId, Reference, RunId } from '../../platform/ids.ts';
import type { Mode } from '../../platform/mode.ts';
import type { CaseKey } from './cases.sql.ts';

/** The references of cases, also of closed ones. */
export function referencesOf(
  db: Queryable,
  mode: Mode,
  keys: readonly CaseKey[],
): Promise<(CaseKey & { reference: Reference })[]> {
  const idsOf = (kind: CaseKey['kind']) => keys.filter((key) => key.kind === kind).map(({ id }) => id);
  return db.query(
    `SELECT 'money' AS kind, id, reference FROM suspense_items WHERE mode = $1 AND id = ANY($2)
     UNION ALL SELECT 'finding', id, reference FROM findings WHERE mode = $1 AND id = ANY($3)`,
    [mode, idsOf('money'), idsOf('finding')],
  );
}

/** The latest case, open or closed, under a reference or an order's id. */
export async function latestCaseOf(db: Queryable, mode: Mode, id: string): Promise<CaseKey | null> {
  const [row] = await db.query<CaseKey>(
    `SELECT kind, id FROM (
       SELECT 'money' AS kind, id, opened_at AS at FROM suspense_items
       WHERE mode = $1 AND (reference = $2 OR order_id = $2)
       UNION ALL SELECT 'finding', id, first_seen_at FROM findings
       WHERE mode = $1 AND (reference = $2 OR order_id = $2) AND raised_at IS NOT NULL
     ) every ORDER BY at DESC LIMIT 1`,
    [mode, id],
  );
  return row ?? null;
}

/** Money or a finding under one reference, open or closed, as it is kept. */
export type CaseRecord = CaseKey & {
  class: string;
  orderId: OrderId | null;
  since: Date;
  /** What was held at first, in minor units. */
  amount: bigint | null;
  currency: string | null;
  /** In which a finding was seen first. */
  runId: RunId | null;
  owner: string | null;
  assignedBy: string | null;
  assignedAt: Date | null;
  closedAt: Date | null;
  closedBy: string | null;
  decision: string | null;
  refundNumber: string | null;
  note: string | null;
  notes: Note[];
};

/** Everything that was ever raised or held under a reference, oldest first. */
export function recordsOf(db: Queryable, mode: Mode, reference: Reference): Promise<CaseRecord[]> {
  const common = `i.id, class, order_id AS "orderId", owner, assigned_by AS "assignedBy",
    assigned_at AS "assignedAt", closed_at AS "closedAt", closed_by AS "closedBy", i.note`;
  return db.query(
    `SELECT 'money' AS kind, ${common}, opened_at AS since,
       (SELECT h.amount FROM held_money h WHERE h.id = i.id) AS amount, currency, NULL AS "runId", decision,
       refund_note AS "refundNumber", ${notesOf(SUSPENSE)} AS notes
     FROM suspense_items i WHERE mode = $1 AND reference = $2
     UNION ALL
     SELECT 'finding', ${common}, first_seen_at, NULL, NULL, first_run_id, NULL, NULL, ${notesOf(FINDINGS)}
     FROM findings i WHERE mode = $1 AND reference = $2 AND raised_at IS NOT NULL
     ORDER BY since, kind, id`,
    [mode, reference],
  );
}
