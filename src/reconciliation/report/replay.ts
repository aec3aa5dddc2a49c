import type { Database } from '../../platform/database/database.ts';
import type { RunId } from '../../platform/ids.ts';
import type { Mode } from '../../platform/mode.ts';
import { composeReport, type ReconciliationReport } from './report.ts';
import { sha256, textOf, deserializeOutcome } from './outcome.ts';
import { changesBetween, findRun, outcomeOfRun, type Change, type RunLine } from './runs.sql.ts';

/** There is no such run, or not enough of it is stored. The message says which. */
export class RunNotKeptError extends Error {}

/** A report that was rendered again, and whether it equals the one that the run printed, to the byte. */
type Replay = { report: ReconciliationReport; text: string; isSame: boolean };

/**
 * Renders the report of a run again from its stored counts and findings: verdict, identity, counts, ages
 * as of then. The list is not read and not matched again; equal `inputs.history` of two runs means that
 * both read the same list.
 * @throws {RunNotKeptError}
 */
export async function replayRun(database: Database, mode: Mode, id: RunId): Promise<Replay> {
  const kept = await outcomeOfRun(database, mode, id);
  if (kept === null) {
    const run = await runOf(database, mode, id);
    const why = run.finishedAt === null ? 'has not finished' : (run.problem ?? 'is older than this is kept');
    throw new RunNotKeptError(`there is no report of ${id}: the run ${why}`);
  }
  const report = composeReport(deserializeOutcome(kept));
  const text = textOf(report);
  return { report, text, isSame: sha256(text).equals(kept.reportSha256) };
}

/** What two runs of a mode saw differently, from the earlier to the later one, whichever is named first. */
export type Difference = { from: RunLine; to: RunLine; changes: Change[] };

/** @throws {RunNotKeptError} */
export async function diffRuns(
  database: Database,
  mode: Mode,
  one: RunId,
  other: RunId,
): Promise<Difference> {
  const runs = [await runOf(database, mode, one), await runOf(database, mode, other)];
  const [from, to] = runs
    .flatMap((run) => (run.finishedAt === null ? [] : [{ run, finishedAt: run.finishedAt }]))
    .sort((a, b) => a.finishedAt.getTime() - b.finishedAt.getTime());
  if (from === undefined || to === undefined)
    throw new RunNotKeptError('a run that has not finished cannot be compared');
  const changes = await changesBetween(database, mode, from.run.id, to.run.id);
  return { from: from.run, to: to.run, changes };
}

async function runOf(database: Database, mode: Mode, id: RunId): Promise<RunLine> {
  const run = await findRun(database, mode, id);
  if (run === null)
    throw new RunNotKeptError(
      `there is no run ${id} in ${mode} mode: npm run reconcile -- --runs lists them`,
    );
  return run;
}
