import type { ReconciliationClass } from '../cases/classes.ts';
import type { VerificationOutcome } from '../payments/decide.ts';
import type { Queryable } from '../platform/database/database.ts';
import type { Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';

/** What another dialect may explain: as verify's outcome, and as the class of a finding. */
const OUTCOMES = ['unknown_status', 'unproven', 'unreadable', 'unit_error'] satisfies VerificationOutcome[];
const CLASSES = ['unknown_status', 'unreadable', 'unit_error'] satisfies ReconciliationClass[];

/**
 * Payments that are held, or in an open finding, because an answer was not understood. Not those that a
 * person decided.
 */
export async function notUnderstood(db: Queryable, mode: Mode): Promise<Reference[]> {
  const rows = await db.query<{ reference: Reference }>(
    `SELECT reference FROM payments p WHERE mode = $1 AND decided_at IS NULL
       AND (status = 'held' AND (SELECT outcome FROM verifications v
           WHERE v.reference = p.reference ORDER BY id DESC LIMIT 1) = ANY($2)
         OR EXISTS (SELECT FROM findings f WHERE f.mode = $1 AND f.reference = p.reference
           AND f.closed_at IS NULL AND f.class = ANY($3)))
     ORDER BY created_at, reference`,
    [mode, OUTCOMES, CLASSES],
  );
  return rows.map(({ reference }) => reference);
}

/** Open findings of these classes, also about transactions that are not ours. */
export async function openNotUnderstood(db: Queryable, mode: Mode): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    'SELECT count(*)::int FROM findings WHERE mode = $1 AND closed_at IS NULL AND class = ANY($2)',
    [mode, CLASSES],
  );
  return row?.count ?? 0;
}
