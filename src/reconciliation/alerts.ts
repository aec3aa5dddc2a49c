import { MAX_NAMED, type Alarm, type Covered, type RaisedFindings } from '../alerts/alert.ts';
import type { Queryable } from '../platform/database/database.ts';
import { MONEY_IS_BACK, type Returned } from '../fulfilment/withhold.sql.ts';
import type { Mode } from '../platform/mode.ts';
import type { Ended } from './conclude.ts';
import type { newlyRaised } from './raise.sql.ts';

type Window = { since?: Date | undefined; until?: Date | undefined };
type Raised = Awaited<ReturnType<typeof newlyRaised>>;

/**
 * Notes the alerts of a finished run: one for payments that were reversed, one for all other findings, and
 * one if it is incomplete and was not stopped; one for each release whose money is back; and what is over.
 * Call it in the transaction that raises them.
 */
export async function noteAlerts(
  tx: Queryable,
  alarm: Alarm,
  { report: { mode, runId, incompleteReason }, raised, returned }: Ended,
  options: Window & { signal?: AbortSignal | undefined },
): Promise<void> {
  const covers = coveredBy(options);
  const reversed = raised.filter((finding) => finding.class === 'reversed');
  const others = raised.filter((finding) => finding.class !== 'reversed');
  if (reversed.length > 0)
    await alarm({ event: 'payment-reversed', mode, runId, findings: told(reversed) }, tx);
  if (others.length > 0) await alarm({ event: 'findings-raised', mode, runId, findings: told(others) }, tx);
  await noteGivenUp(tx, alarm, mode, returned);
  await alarm({ event: 'reconciliation-skipped', mode, over: true }, tx);
  const event = 'reconciliation-incomplete';
  const ended: Covered[] = covers === 'everything' ? ['everything', 'window'] : ['window'];
  for (const of of ended) {
    await alarm({ event: 'reconciliation-failed', mode, covers: of, over: true }, tx);
    if (incompleteReason === null) await alarm({ event, mode, covers: of, over: true }, tx);
  }
  if (incompleteReason !== null && options.signal?.aborted !== true)
    await alarm({ event, mode, runId, covers, reason: incompleteReason }, tx);
}

/** One alert for each. Call it in the transaction that gives them up. */
export async function noteGivenUp(
  tx: Queryable,
  alarm: Alarm,
  mode: Mode,
  returned: readonly Returned[],
): Promise<void> {
  for (const release of returned)
    await alarm({ event: 'release-given-up', mode, ...release, reason: MONEY_IS_BACK }, tx);
}

export function coveredBy({ since, until }: Window): Covered {
  return since === undefined && until === undefined ? 'everything' : 'window';
}

function told(findings: Raised): RaisedFindings {
  const counts: RaisedFindings['counts'] = {};
  for (const { class: name } of findings) counts[name] = (counts[name] ?? 0) + 1;
  return {
    counts,
    first: findings.slice(0, MAX_NAMED).map(({ id, ...rest }) => ({ id: String(id), ...rest })),
  };
}
