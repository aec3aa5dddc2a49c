import type { ReconciliationClass } from '../cases/classes.ts';
import type { VerificationOutcome } from '../payments/decide.ts';
import type { Queryable } from '../platform/database/database.ts';
import type { Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import { noteAsking } from '../payments/checks.sql.ts';
import type { Reconcile } from './reconcile.ts';
import { verifyPayments, type VerifyParts } from './verify-payments.ts';

/** What another dialect may explain: as verify's outcome, and as the class of a finding. */
const OUTCOMES = ['unknown_status', 'unproven', 'unreadable', 'unit_error'] satisfies VerificationOutcome[];
const CLASSES = ['unknown_status', 'unreadable', 'unit_error'] satisfies ReconciliationClass[];

/**
 * Payments that are held, or in an open finding, because an answer was not understood. Not those that a
 * person decided.
 */
async function notUnderstood(db: Queryable, mode: Mode): Promise<Reference[]> {
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
async function openNotUnderstood(db: Queryable, mode: Mode): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    'SELECT count(*)::int FROM findings WHERE mode = $1 AND closed_at IS NULL AND class = ANY($2)',
    [mode, CLASSES],
  );
  return row?.count ?? 0;
}

/**
 * `asked`: how many payments have each outcome now. `problem`: why some could not be asked; null: all were.
 */
export type Rechecked = {
  asked: Partial<Record<VerificationOutcome, number>>;
  findings: { closed: number; open: number };
  problem: string | null;
};

/**
 * After a change of the dialect: asks verify again about the payments whose answers were not understood,
 * within the budget of calls, and reconciles. Confirmation settles what is explained now; what is not stays
 * as it was.
 * @throws {ReconciliationRunningError} while a run is active; verify was asked then
 */
export async function recheck(
  parts: VerifyParts & { reconcile: Reconcile },
  { by, note }: { by: string; note: string },
): Promise<Rechecked> {
  const { database, mode, reconcile } = parts;
  const before = await openNotUnderstood(database, mode);
  const references = await notUnderstood(database, mode);
  for (const reference of references)
    await noteAsking(database, mode, { reference, by, note, webhook: null });
  const { answers, problem } = await verifyPayments(parts, references);
  const asked: Rechecked['asked'] = {};
  for (const { outcome } of answers) asked[outcome] = (asked[outcome] ?? 0) + 1;
  const { incompleteReason } = await reconcile({ dryRun: false });
  const open = await openNotUnderstood(database, mode);
  return {
    asked,
    findings: { closed: Math.max(before - open, 0), open },
    problem: problem ?? incompleteReason,
  };
}
