import type { Gateway } from '../gateway/gateway.ts';
import type { Clock } from '../platform/clock.ts';
import type { RunId } from '../platform/ids.ts';
import type { Logger } from '../platform/logger.ts';
import { closeSuspenseAtBegin } from '../cases/findings.sql.ts';
import { suspendFoundMoney } from '../cases/suspend-found-money.sql.ts';
import { recordBegin, totalsOfTaken, type BeginRow } from './begin.sql.ts';
import { type BalanceCheck, noteDifferences } from './report/balances.sql.ts';
import { noteConfirmed } from './compare/classify.sql.ts';
import { giveUpReturned, withholdReversed, type Returned } from '../fulfilment/withhold.sql.ts';
import { keepTransfers, matchTransfers } from './report/transfers.sql.ts';
import type { Watermark } from './compare/conflicts.sql.ts';
import { factsOf } from '../cases/findings.ts';
import {
  closeUnseen,
  countFindings,
  countHeld,
  findingsOfRun,
  lockFindingsAndOrders,
  newlyRaised,
  raiseFindings,
  whatToRaise,
  type Sight,
  type ToRaise,
} from './raise.sql.ts';
import type { ControlTotals } from './report/control-totals.ts';
import type { HistoryRead } from './import/import-history.ts';
import {
  composeReport,
  MAX_ITEMS,
  type Inputs,
  type Outcome,
  type ReconciliationReport,
} from './report/report.ts';
import type { Session } from './session.sql.ts';
import { serializeOutcome, sha256, textOf } from './report/replay.ts';
import { finishRun } from './report/runs.sql.ts';
import type { Verified } from './verify-payments.ts';

type ConcludeParts = {
  gateway: Gateway;
  clock: Clock;
  /**
   * Orders into whose journals one transaction of a run's end writes for one reason; a thousand unless given.
   */
  journalsAtOnce?: number | undefined;
};

export type Run = {
  id: RunId;
  startedAt: Date;
  session: Session;
  isDry: boolean;
  logger: Logger;
};

/** What a run has found out before it is concluded. */
export type Found = {
  history: HistoryRead & { reachesBackDays: number | null };
  verified: Verified;
  books: ControlTotals;
  inputs: Inputs;
  cash: BalanceCheck;
  problem: string | null;
  /** Who begins reconciliation with this run, and why. */
  begin: Pick<BeginRow, 'by' | 'note'> | null;
};

/**
 * `raised`: the findings that this run raised, `isAnySeen`: whether it saw any. `begunAt`: the time of the
 * begin that it recorded.
 */
export type Ended = {
  report: ReconciliationReport;
  raised: Awaited<ReturnType<typeof newlyRaised>>;
  isAnySeen: boolean;
  /** Releases to send, whose money is there again. */
  returned: Returned[];
  /** What the transaction of the run had no room for: `reconcile.ts` goes on. */
  rest: Rest;
  begunAt: Date | null;
};

/** `heldUpTo`: the last finding whose money was held; null: that of all is. */
export type Rest = { isAnyToWithhold: boolean; heldUpTo: bigint | null; isAnyReturned: boolean };
const NO_REST: Rest = { isAnyToWithhold: false, heldUpTo: null, isAnyReturned: false };

/** Raises and closes findings and stores the run, all in one transaction. */
export async function conclude(
  parts: ConcludeParts,
  run: Run,
  found: Found,
  {
    isListVerified,
    looked,
    ...covered
  }: Omit<Sight, 'sawCash'> & {
    isListVerified: boolean;
    looked: Watermark;
  },
): Promise<Ended> {
  const { session, isDry } = run;
  const { mode } = parts.gateway;
  if (found.cash.lines !== null) await noteDifferences(session, found.cash.lines);
  const begun = found.begin && { ...found.begin, begunAt: found.history.startedAt, runId: run.id };
  const { now, isAnySeen, isAnyToClose } = await whatToRaise(session, mode);
  const { journalsAtOnce } = parts;
  let returned: Returned[] = [];
  const rest = { ...NO_REST };
  if (!isDry) {
    if (isAnySeen || isAnyToClose) await lockFindingsAndOrders(session, mode);
    if (begun !== null) {
      await recordBegin(session, mode, begun);
      await closeSuspenseAtBegin(session, mode, begun);
    }
    if (isAnySeen) {
      await raiseFindings(session, mode, run.id);
      rest.isAnyToWithhold = await withholdReversed(session, mode, run.id, journalsAtOnce);
      rest.heldUpTo = await suspendFoundMoney(session, mode, run.id, 0n, journalsAtOnce);
    }
    if (found.verified.answers.length > 0) await noteConfirmed(session, mode);
    // A begin closes findings under the name of a person; the next run closes the rest.
    if (isListVerified && begun === null) {
      if (isAnyToClose)
        await closeUnseen(session, mode, run.id, { ...covered, sawCash: found.cash.lines !== null });
      ({ returned, isAnyLeft: rest.isAnyReturned } = await giveUpReturned(session, mode, journalsAtOnce));
    }
  }
  const outcome = await outcomeOf(parts, run, found, { ...covered, now, isAnySeen });
  if (!isDry && found.cash.transfers !== null)
    await keepTransfers(session, mode, { transfers: found.cash.transfers, runId: run.id });
  const report = composeReport(outcome);
  const { verdict, matched, repaired, findings, incompleteReason } = report;
  run.logger[verdict === 'agreed' ? 'info' : 'warn'](
    { verdict, matched, repaired, findings, reason: incompleteReason },
    'reconciled',
  );
  if (isDry) return { report, raised: [], isAnySeen, returned, rest, begunAt: null };
  const kept = serializeOutcome(outcome);
  await finishRun(session, {
    report,
    reportSha256: sha256(textOf(report)),
    ...kept,
    itemsSha256: sha256(kept.items),
    inputs: { ...found.inputs, looked },
  });
  const raised = isAnySeen ? await newlyRaised(session, mode, run.id) : [];
  return { report, raised, isAnySeen, returned, rest, begunAt: begun?.begunAt ?? null };
}

async function outcomeOf(
  { gateway, clock }: ConcludeParts,
  { id, session, startedAt, isDry }: Run,
  { history, verified, books, inputs, cash, problem, begin }: Found,
  { since, until, now, isAnySeen }: Pick<Sight, 'since' | 'until'> & Pick<ToRaise, 'now' | 'isAnySeen'>,
): Promise<Outcome> {
  const { mode } = gateway;
  const { records, pages, unreadable, reachesBackDays } = history;
  const items = isAnySeen ? await findingsOfRun(session, mode, MAX_ITEMS) : [];
  return {
    runId: id,
    mode,
    startedAt: startedAt.toISOString(),
    finishedAt: clock.now().toISOString(),
    asOf: now.toISOString(),
    ...((since ?? until) !== null && {
      window: { since: since?.toISOString() ?? null, until: until?.toISOString() ?? null },
    }),
    history: { records, pages, unreadable, ...(reachesBackDays !== null && { reachesBackDays }) },
    problem,
    ...(begin !== null && { begun: { isDry, ...(await totalsOfTaken(session)) } }),
    verified: verified.answers.length,
    books,
    balances: cash.lines,
    ...(cash.transfers !== null && { transfers: await matchTransfers(session, mode, cash.transfers) }),
    findings: isAnySeen ? await countFindings(session, mode) : [],
    held: await countHeld(session, mode, { since, until }),
    inputs,
    items: items.map((item) => factsOf(item, startedAt)),
  };
}

export function digestsOf({ dialect }: Gateway, { sides }: ControlTotals): Omit<Inputs, 'history'> {
  const ours = sides
    .filter(({ side }) => side !== 'history')
    .map(({ side, currency, rows, sum }) => [side, currency ?? '', String(rows), sum].join(' '));
  return {
    ours: sha256(ours.sort().join('\n')).toString('hex'),
    dialect: sha256(JSON.stringify(dialect)).toString('hex'),
  };
}
