import type { VerificationOutcome } from '../payments/decide.ts';
import { noteAsking } from '../payments/note-asking.sql.ts';
import type { Reconcile } from './reconcile.ts';
import { notUnderstood, openNotUnderstood } from './recheck.sql.ts';
import { verifyPayments, type VerifyParts } from './verify-payments.ts';

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
