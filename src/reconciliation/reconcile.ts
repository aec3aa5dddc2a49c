import type { Gateway } from '../gateway/gateway.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { newRunId } from '../platform/ids.ts';
import type { Logger } from '../platform/logger.ts';
import type { Mode } from '../platform/mode.ts';
import type { Confirm } from '../payments/confirm.ts';
import type { Alarm } from '../cases/alert.ts';
import { findSentinels, missingSince, setSentinels } from './import/sentinels.sql.ts';
import { removeCheckpoint } from './import/checkpoint.sql.ts';
import {
  fetchBalances,
  reconcileBalances,
  type BalanceSnapshot,
  type BalanceCheck,
} from './report/balances.ts';
import { classify, paymentsToVerify, totalsOfClasses } from './compare/classify.sql.ts';
import { daysOf, findCoverage, type Coverage } from './coverage.ts';
import { conclude, digestsOf, type Ended, type Found, type Run as ConcludedRun } from './conclude.ts';
import { journalFindings } from './raise-journal.sql.ts';
import { collectConflicts } from './compare/conflicts.ts';
import type { ControlTotals } from './report/control-totals.ts';
import { matchAgain, matchSides, totalsOfSides } from './compare/matching.sql.ts';
import type { Scope } from './compare/scope.ts';
import { tallyOfList, checksumBuckets, type ListTotals } from './compare/bucket-checksums.sql.ts';
import type { Progress } from './progress.ts';
import { stageHistory, type HistoryRead } from './import/import-history.ts';
import { ReconciliationRunningError, type ReconciliationReport } from './report/report.ts';
import { openSession } from './session.sql.ts';
import { abandonRun, openRun } from './report/runs.sql.ts';
import { noteVerified } from './import/staging.sql.ts';
import { tellOfRun } from './alerts.ts';
import { verifyPayments, type Verified } from './verify-payments.ts';

/**
 * Compares everything the service lists with everything we asked for, has
 * missed payments confirmed in the one room, and raises the rest. The history is never proof: a row in it
 * leads to a verify call, never to a release.
 */
export type Reconcile = (options: ReconcileOptions) => Promise<ReconciliationReport>;

export type ReconcileParts = {
  database: Database;
  gateway: Gateway;
  confirm: Confirm;
  clock: Clock;
  logger: Logger;
  /** Payments verified at the same time. */
  concurrency: number;
  alarm: Alarm;
  /** Wraps each step of a run, for tracing. */
  watchStep?: WatchStep | undefined;
};

export type RunStep =
  'read history' | 'listen to webhooks' | 'compare' | 'verify' | 'compare again' | 'conclude';
export type WatchStep = <T>(step: RunStep, work: () => Promise<T>) => Promise<T>;

export type ReconcileOptions = {
  /**
   * Expect only payments created from this time on, and before `until`. What the history lists is
   * compared in any case.
   */
  since?: Date | undefined;
  until?: Date | undefined;
  /** Reads and compares; writes nothing and verifies nothing. */
  dryRun: boolean;
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Stops the run at the next step. */
  signal?: AbortSignal | undefined;
};

/**
 * The most payments that one run asks about: at fifty calls a second under two minutes.
 * The next run continues.
 */
const MAX_VERIFIED = 5_000;

/**
 * @returns a function that resolves with a report even when the history cannot be read (verdict
 * `incomplete`). It throws {@link ReconciliationRunningError} when another run of the mode is active,
 * and passes on what the database throws
 */
export function createReconcile(parts: ReconcileParts): Reconcile {
  const { database, gateway, clock, alarm } = parts;
  return async (options) => {
    const session = await openSession(database, gateway.mode);
    if (session === null) throw new ReconciliationRunningError();
    const id = newRunId();
    const run: Run = {
      id,
      startedAt: clock.now(),
      session,
      options,
      isDry: options.dryRun,
      logger: parts.logger.child({ run: id }),
    };
    let ended: Ended;
    try {
      if (!options.dryRun) await openRun(database, run.id, gateway.mode, options);
      ended = await runOnce(parts, run);
      if (!run.isDry) await writeIntoJournals(run, gateway.mode);
    } catch (error) {
      if (!options.dryRun) {
        const reason = (error as Error).message;
        // The rows that were read may be the cause of the failure, so the next run reads the list again.
        await removeCheckpoint(database, gateway.mode).catch(() => undefined);
        await abandonRun(database, run.id, reason).catch(() => undefined);
        await alarm({ event: 'reconciliation-failed', mode: gateway.mode, runId: id, reason });
      }
      throw error;
    } finally {
      await session.close();
    }
    // After the lock is released, because the receiver of an alert may be slow.
    if (!options.dryRun) await tellOfRun(alarm, ended.report, ended.raised);
    return ended.report;
  };
}

// If this fails, the next run does it.
async function writeIntoJournals({ session, id, logger }: Run, mode: Mode): Promise<void> {
  await journalFindings(session, mode, id).catch((error: unknown) => {
    logger.warn({ err: error }, 'findings could not be written into the journals of their orders');
  });
}

type Run = ConcludedRun & { options: ReconcileOptions };

const unwatched: WatchStep = (_step, work) => work();

async function runOnce(parts: ReconcileParts, run: Run): Promise<Ended> {
  const { session, options } = run;
  const { mode } = parts.gateway;
  const { watchStep: step = unwatched } = parts;
  const { since = null, until = null, onProgress } = options;
  // Where the dialect names windows, payments before our first one are not requested.
  const isAll = since === null && until === null && parts.gateway.dialect.history.paging.windowDays === null;
  const cashBefore = await fetchBalances(parts.gateway, isAll);
  const history = await step('read history', () => stageHistory(session, parts.gateway, options));
  const looked = await step('listen to webhooks', () => collectConflicts(session, parts.gateway));
  // A window shows another part of the list than the run before read.
  const sentinels = isAll ? await findSentinels(session, mode) : null;
  let coverage = null as Coverage | null;
  const scope: Scope = { mode, startedAt: history.startedAt, since, until };
  onProgress?.({ step: 'compare' });
  // One snapshot of the database: other processes confirm meanwhile, and sums of two
  // moments would not add up.
  const compare = (match: typeof matchSides): Promise<ControlTotals & { list: ListTotals }> =>
    session.snapshot(async () => {
      await checksumBuckets(session, scope, sentinels?.references ?? []);
      const list = await tallyOfList(session);
      await match(session, scope);
      coverage ??= await findCoverage(session, {
        ...{ mode, startedAt: scope.startedAt, rules: parts.gateway.dialect.history, sentinels },
        isEndAssumed: history.isEndAssumed && history.cut === null,
        shorter: missingSince(sentinels, list),
      });
      history.cut ??= coverage.cut;
      await classify(session, { startedAt: scope.startedAt, isCut: history.cut !== null, mode, coverage });
      return { sides: await totalsOfSides(session, scope), classes: await totalsOfClasses(session), list };
    });
  const before = await step('compare', () => compare(matchSides));
  const verified = await step('verify', () => verifyWhatDiffers(parts, run, history, coverage));
  const books =
    verified.answers.length === 0 ? before : await step('compare again', () => compare(matchAgain));
  const inputs = { ...digestsOf(parts.gateway, books), history: books.list.digest };
  const isListVerified = history.cut === null && verified.problem === null;
  const cash = await cashOf(parts, history, cashBefore, books);
  const problem = history.cut ?? verified.problem ?? cash.problem;
  const reachesBackDays = daysOf(coverage, scope.startedAt);
  const found: Found = { history: { ...history, reachesBackDays }, verified, books, inputs, cash, problem };
  const ended = await step('conclude', () =>
    session.transaction(() => conclude(parts, run, found, { isAll, isListVerified, looked })),
  );
  if (isListVerified && isAll && !options.dryRun)
    await session.transaction(() =>
      setSentinels(session, mode, { records: history.records, length: books.list.length }),
    );
  await history.clear();
  return ended;
}

/** Checks the balances. The sums of a list that was cut, or that lacks older payments, prove nothing. */
async function cashOf(
  { gateway }: ReconcileParts,
  { cut, fees }: HistoryRead,
  before: BalanceSnapshot,
  { sides, classes }: ControlTotals,
): Promise<BalanceCheck> {
  const isPart = cut !== null || classes.some((one) => one.class === 'older_than_list');
  if (isPart || before.cash === null) return { lines: null, problem: before.problem };
  return reconcileBalances(before, await fetchBalances(gateway, true), { sides, fees });
}

async function verifyWhatDiffers(
  parts: ReconcileParts,
  { session, options, logger }: Run,
  history: HistoryRead,
  coverage: Coverage | null,
): Promise<Verified> {
  if (options.dryRun || history.isKeyRefused) return { answers: [], problem: null };
  const { references, waiting } = await paymentsToVerify(session, {
    limit: MAX_VERIFIED,
    isSampling: coverage?.isNoticed === true,
  });
  const verified = await verifyPayments(
    { ...parts, mode: parts.gateway.mode, logger },
    references,
    options.onProgress,
    options.signal,
  );
  await noteVerified(session, verified.answers);
  const problem = waiting > 0 ? `${waiting} more payments are to be verified: run again` : verified.problem;
  return { ...verified, problem };
}
