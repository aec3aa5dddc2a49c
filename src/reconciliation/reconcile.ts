import { newRunId } from '../platform/ids.ts';
import { closeFindingsAtBegin } from '../cases/findings.sql.ts';
import { suspendFoundMoney } from '../cases/suspend-found-money.sql.ts';
import { giveUpReturned, withholdReversed } from '../fulfilment/withhold.sql.ts';
import { removeCheckpoint } from './import/checkpoint.sql.ts';
import type { Ended, Rest } from './conclude.ts';
import { journalFindings, lockFindingsAndOrders } from './raise.sql.ts';
import { BeginRefusedError, ReconciliationNotDueError, ReconciliationRunningError } from './errors.ts';
import type { ReconciliationReport } from './report/report.ts';
import { openSession } from './session.sql.ts';
import { runOnce, type ReconcileOptions, type ReconcileParts, type Run } from './steps.ts';
import { abandonRun, openRun } from './report/runs.sql.ts';
import { coveredBy, noteGivenUp } from './alerts.ts';

/**
 * Compares everything the service lists with everything we asked for, has
 * missed payments confirmed in the one room, and raises the rest. The history is never proof: a row in it
 * leads to a verify call, never to a release.
 */
export type Reconcile = (options: ReconcileOptions) => Promise<ReconciliationReport>;

/**
 * @returns a function that resolves with a report even when the history cannot be read (verdict
 * `incomplete`). It throws {@link ReconciliationRunningError} when another run of the mode is active,
 * {@link ReconciliationNotDueError} when a scheduled one is not due,
 * {@link BeginRefusedError} when reconciliation cannot begin, and passes on what the database throws
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
      if (!options.dryRun) {
        const everyMs = options.scheduledEveryMs ?? 0;
        const dueInMs = await openRun(database, run.id, gateway.mode, { ...options, everyMs });
        if (dueInMs !== null) throw new ReconciliationNotDueError(dueInMs);
      }
      ended = await runOnce(parts, run);
      if (!run.isDry) await writeWhatIsLeft(parts, run, ended);
    } catch (error) {
      if (!options.dryRun && !(error instanceof ReconciliationNotDueError)) {
        const reason = (error as Error).message;
        // The rows that were read may be the cause of the failure, so the next run reads the list again.
        await removeCheckpoint(database, gateway.mode).catch(() => undefined);
        await abandonRun(database, run.id, reason).catch(() => undefined);
        // The person who began it is told, and nobody else need be.
        if (!(error instanceof BeginRefusedError) && options.signal?.aborted !== true) {
          const covers = coveredBy(options);
          await alarm({ event: 'reconciliation-failed', mode: gateway.mode, runId: id, covers, reason });
        }
      }
      throw error;
    } finally {
      await session.close();
    }
    return ended.report;
  };
}

// What fails here the next run does; what a begin could not close, the next begin.
async function writeWhatIsLeft(
  parts: ReconcileParts,
  run: Run,
  { begunAt, isAnySeen, rest }: Ended,
): Promise<void> {
  const { mode } = parts.gateway;
  const { session, id, logger, options } = run;
  const write = (work: Promise<void>): Promise<void> =>
    work.catch((error: unknown) => {
      logger.warn({ err: error }, 'not all that follows from the run could be written; the next one does it');
    });
  await write(concludeRest(parts, run, rest));
  if (begunAt !== null && options.begin !== undefined)
    await write(closeFindingsAtBegin(session, mode, { ...options.begin, begunAt }));
  if (isAnySeen) await write(journalFindings(session, mode, id));
}

/**
 * Goes on where the transaction of the run had no room for more, in transactions of their own. If the process
 * dies meanwhile, the next run goes on.
 */
async function concludeRest(
  { gateway, alarm, journalsAtOnce }: ReconcileParts,
  { id, session }: Run,
  { isAnyToWithhold, heldUpTo, isAnyReturned }: Rest,
): Promise<void> {
  const { mode } = gateway;
  // What a person decides meanwhile is seen by the statements after the one that locks.
  const locked = <T>(work: () => Promise<T>): Promise<T> =>
    session.transaction(async () => {
      await lockFindingsAndOrders(session, mode);
      return work();
    });
  for (let isAny = isAnyToWithhold; isAny;)
    isAny = await locked(() => withholdReversed(session, mode, id, journalsAtOnce));
  for (let upTo = heldUpTo; upTo !== null;) {
    const after: bigint = upTo;
    upTo = await locked(() => suspendFoundMoney(session, mode, id, after, journalsAtOnce));
  }
  for (let isAny = isAnyReturned; isAny;)
    isAny = await locked(async () => {
      const { returned, isAnyLeft } = await giveUpReturned(session, mode, journalsAtOnce);
      await noteGivenUp(session, alarm, mode, returned);
      return isAnyLeft;
    });
}
