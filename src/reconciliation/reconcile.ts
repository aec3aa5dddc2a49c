import { newRunId } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import { closeFindingsAtBegin } from '../cases/close-at-begin.sql.ts';
import { removeCheckpoint } from './import/checkpoint.sql.ts';
import { type Ended } from './conclude.ts';
import { journalFindings } from './raise-journal.sql.ts';
import { BeginRefusedError, ReconciliationNotDueError, ReconciliationRunningError } from './errors.ts';
import type { ReconciliationReport } from './report/report.ts';
import { openSession } from './session.sql.ts';
import { runOnce, type ReconcileOptions, type ReconcileParts, type Run } from './steps.ts';
import { abandonRun, openRun } from './report/runs.sql.ts';
import { coveredBy } from './alerts.ts';

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
    const isPart = (options.since ?? options.until) !== undefined;
    const session = await openSession(database, gateway.mode, { isPart });
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
      if (!run.isDry) await writeIntoJournals(run, gateway.mode, ended);
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

// If this fails, the next run does it.
async function writeIntoJournals(
  { session, id, logger, options }: Run,
  mode: Mode,
  { begunAt, isAnySeen }: Ended,
): Promise<void> {
  async function write(): Promise<void> {
    if (begunAt !== null && options.begin !== undefined)
      await closeFindingsAtBegin(session, mode, { ...options.begin, begunAt });
    if (isAnySeen) await journalFindings(session, mode, id);
  }
  await write().catch((error: unknown) => {
    logger.warn({ err: error }, 'findings could not be written into the journals of their orders');
  });
}
