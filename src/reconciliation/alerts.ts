import { MAX_NAMED, type Alarm, type RaisedFindings } from '../cases/alert.ts';
import type { newlyRaised } from './raise.sql.ts';
import type { ReconciliationReport } from './report/report.ts';

type Raised = Awaited<ReturnType<typeof newlyRaised>>;

/**
 * Sends the alerts of a finished run: one for payments that were reversed, one for all other findings,
 * and one if it is incomplete.
 */
export async function tellOfRun(
  alarm: Alarm,
  { mode, runId, incompleteReason }: ReconciliationReport,
  raised: Raised,
): Promise<void> {
  const reversed = raised.filter((finding) => finding.class === 'reversed');
  const others = raised.filter((finding) => finding.class !== 'reversed');
  if (reversed.length > 0) await alarm({ event: 'payment-reversed', mode, runId, findings: told(reversed) });
  if (others.length > 0) await alarm({ event: 'findings-raised', mode, runId, findings: told(others) });
  if (incompleteReason !== null)
    await alarm({ event: 'reconciliation-incomplete', mode, runId, reason: incompleteReason });
}

function told(findings: Raised): RaisedFindings {
  const counts: RaisedFindings['counts'] = {};
  for (const { class: name } of findings) counts[name] = (counts[name] ?? 0) + 1;
  return {
    counts,
    first: findings.slice(0, MAX_NAMED).map(({ id, ...rest }) => ({ id: String(id), ...rest })),
  };
}
