import type { Gateway } from '../gateway/gateway.ts';
import { reachOf } from '../gateway/history/windows.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Logger } from '../platform/logger.ts';
import type { Confirm } from '../payments/confirm.ts';
import type { Alarm } from '../alerts/alert.ts';
import { findSentinels, setSentinels } from './import/sentinels.sql.ts';
import { removeCheckpoint } from './import/checkpoint.sql.ts';
import {
  fetchBalances,
  reconcileBalances,
  type BalanceSnapshot,
  type BalanceCheck,
} from './report/balances.sql.ts';
import { paymentsToVerify } from './compare/classify.sql.ts';
import { daysOf, type Coverage } from './coverage.sql.ts';
import { conclude, digestsOf, type Ended, type Found, type Run as ConcludedRun } from './conclude.ts';
import { collectConflicts } from './compare/conflicts.sql.ts';
import type { ControlTotals } from './report/control-totals.ts';
import { createComparer } from './compare-sides.ts';
import type { Scope } from './compare/scope.sql.ts';
import type { Progress } from './progress.ts';
import { stageHistory, type HistoryRead } from './import/import-history.ts';
import { BeginRefusedError } from './errors.ts';
import { noteVerified } from './import/staging.sql.ts';
import { noteAlerts } from './alerts.ts';
import { verifyPayments, type Verified } from './verify-payments.ts';

export type ReconcileParts = {
  database: Database;
  gateway: Gateway;
  confirm: Confirm;
  clock: Clock;
  logger: Logger;
  /** Payments verified at the same time. */
  concurrency: number;
  alarm: Alarm;
  /** As for {@link conclude}. */
  journalsAtOnce?: number | undefined;
  /** Wraps each step of a run, for tracing. */
  watchStep?: WatchStep | undefined;
};

/** What README.md calls them, too. */
type RunStep = 'read history' | 'listen to webhooks' | 'compare' | 'verify' | 'compare again' | 'conclude';
export type WatchStep = <T>(step: RunStep, work: () => Promise<T>) => Promise<T>;

export type Begin = { by: string; note: string; evenOfOurForm?: boolean };

export type ReconcileOptions = {
  /**
   * Expect only payments created from this time on, and before `until`. What the history lists is
   * compared in any case.
   */
  since?: Date | undefined;
  until?: Date | undefined;
  /**
   * A named person says that reconciliation begins now: what the list shows that is not ours, and what it
   * lacks of ours that is unpaid (in test mode also paid), is from before and never a finding. Not with a
   * window. `evenOfOurForm`: also what is not ours and has a reference of the form of ours.
   */
  begin?: Begin | undefined;
  /** Reads and compares; writes nothing and verifies nothing. */
  dryRun: boolean;
  onProgress?: ((progress: Progress) => void) | undefined;
  /**
   * A worker reconciles so often: nothing is done when a run of another one has ended within that time, and
   * the worker itself tells what alerts are due.
   */
  scheduledEveryMs?: number | undefined;
  /** Stops the run at the next step. */
  signal?: AbortSignal | undefined;
};

export type Run = ConcludedRun & { options: ReconcileOptions };

/**
 * The most payments that one run asks about: at fifty calls a second under two minutes.
 * The next run continues.
 */
const MAX_VERIFIED = 5_000;

const unwatched: WatchStep = (_step, work) => work();

/**
 * One run under the lock of `session`: the steps that README.md lists, in their order.
 * @throws BeginRefusedError when reconciliation cannot begin
 */
export async function runOnce(parts: ReconcileParts, run: Run): Promise<Ended> {
  const { session, options } = run;
  const { mode } = parts.gateway;
  const { watchStep: step = unwatched } = parts;
  const { since = null, until = null, begin = null, onProgress } = options;
  // Where the dialect names windows, payments before our first one are not requested.
  const isAll = since === null && until === null && parts.gateway.dialect.history.paging.windowDays === null;
  const cashBefore = await fetchBalances(parts.gateway, isAll);
  // A checkpoint may be of the service that was asked before.
  if (begin !== null && !options.dryRun) await removeCheckpoint(session, mode);
  const history = await step('read history', () => stageHistory(session, parts.gateway, options));
  if (begin !== null && history.cut !== null) throw new BeginRefusedError(history.cut);
  const looked = await step('listen to webhooks', () => collectConflicts(session, parts.gateway));
  // A window shows another part of the list than the run before read, and a begin may be with another
  // service.
  const sentinels = isAll && begin === null ? await findSentinels(session, mode) : null;
  const scope: Scope = {
    ...{ mode, startedAt: history.startedAt, since, until, listed: history.records },
    reach: reachOf(parts.gateway.dialect.history.paging),
  };
  onProgress?.({ step: 'compare' });
  const compared = { session, gateway: parts.gateway, history, scope, sentinels };
  const comparer = createComparer({ ...compared, isAsking: !options.dryRun });
  const before = await step('compare', async () => {
    const all = await comparer.all();
    return begin === null ? all : comparer.withoutTaken(begin.evenOfOurForm === true);
  });
  const { coverage } = before;
  history.cut ??= coverage.cut;
  if (begin !== null && history.cut !== null) throw new BeginRefusedError(history.cut);
  const verified = await step('verify', () => verifyWhatDiffers(parts, run, history, coverage));
  const books = verified.answers.length === 0 ? before : await step('compare again', () => comparer.again());
  const inputs = { ...digestsOf(parts.gateway, books), history: books.list.digest };
  const isListVerified = history.cut === null && verified.problem === null;
  const cash = await cashOf(parts, history, cashBefore, books);
  const problem = history.cut ?? verified.problem ?? cash.problem;
  // What verify was not asked about would be raised later, under no one's name.
  if (begin !== null && problem !== null) throw new BeginRefusedError(problem);
  const found: Found = {
    history: { ...history, reachesBackDays: history.isPart ? null : daysOf(coverage, scope.startedAt) },
    verified,
    books: { sides: books.sides, classes: books.classes },
    inputs,
    cash,
    problem,
    begin,
  };
  // What the service filters by an end may lack a reversal that came later: that closes no finding.
  const isReadToNow = until === null || parts.gateway.dialect.history.paging.untilParam === null;
  const sight = { isAll, since, until, isListVerified: isListVerified && isReadToNow };
  const ended = await step('conclude', () =>
    session.transaction(async () => {
      const done = await conclude(parts, run, found, { ...sight, looked });
      if (!options.dryRun) await noteAlerts(session, parts.alarm, done, options);
      return done;
    }),
  );
  if (isListVerified && isAll && !options.dryRun)
    await session.transaction(() =>
      setSentinels(session, mode, { records: history.records, length: books.list.length }),
    );
  await history.clear();
  return ended;
}

/**
 * Checks the balances, and lists the transfers. The sums of a list that was cut, or that lacks older
 * payments, prove nothing.
 */
async function cashOf(
  { gateway }: ReconcileParts,
  { cut, fees }: HistoryRead,
  before: BalanceSnapshot,
  { sides, classes }: ControlTotals,
): Promise<BalanceCheck> {
  const lacksSome = cut !== null || classes.some((one) => one.class === 'older_than_list');
  if (lacksSome || before.transfers === null) return { ...before, lines: null };
  return reconcileBalances(before, await fetchBalances(gateway, true), { sides, fees });
}

async function verifyWhatDiffers(
  parts: ReconcileParts,
  { session, options, logger }: Run,
  history: HistoryRead,
  coverage: Coverage,
): Promise<Verified> {
  if (options.dryRun || history.isKeyRefused) return { answers: [], problem: null };
  const { references, waiting } = await paymentsToVerify(session, {
    limit: MAX_VERIFIED,
    isSampling: coverage.isNoticed,
  });
  const verified = await verifyPayments(
    { ...parts, mode: parts.gateway.mode, logger },
    references,
    options.onProgress,
    options.signal,
  );
  if (verified.answers.length > 0) await noteVerified(session, verified.answers);
  const problem = waiting > 0 ? `${waiting} more payments are to be verified: run again` : verified.problem;
  return { ...verified, problem };
}
