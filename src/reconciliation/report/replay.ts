import type { Database } from '../../platform/database/database.ts';
import type { RunId } from '../../platform/ids.ts';
import type { Mode } from '../../platform/mode.ts';
import { composeReport, type ReconciliationReport, type Outcome } from './report.ts';
import { changesBetween, findRun, outcomeOfRun, type Change, type RunLine } from './runs.sql.ts';
import { createHash } from 'node:crypto';

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

/**
 * What is stored of a run so that its report can be rendered again: the counts of each side, the totals
 * of each class, the findings. The list itself is not stored: of a million records it is 185 MB, and
 * this is some kilobytes.
 */
export function serializeOutcome(outcome: Outcome): { outcome: string; items: string } {
  const { items, ...rest } = outcome;
  const text = (value: unknown): string =>
    JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? one.toString() : one));
  return { outcome: text(rest), items: text(items) };
}

type Frozen<T> = T extends bigint
  ? string
  : T extends string
    ? T
    : T extends readonly (infer U)[]
      ? Frozen<U>[]
      : T extends object
        ? { [K in keyof T]: Frozen<T[K]> }
        : T;

/** Restores the outcome that {@link serializeOutcome} stored. */
export function deserializeOutcome(kept: { outcome: unknown; items: unknown }): Outcome {
  const { books, findings, ...rest } = kept.outcome as Frozen<Omit<Outcome, 'items'>>;
  return {
    ...rest,
    books: {
      sides: books.sides.map((side) => ({
        ...side,
        rows: BigInt(side.rows),
        named: BigInt(side.named),
        differing: BigInt(side.differing),
      })),
      classes: books.classes.map((one) => ({ ...one, rows: BigInt(one.rows) })),
    },
    findings: findings.map((one) => ({ ...one, count: BigInt(one.count) })),
    items: (kept.items as Outcome['items']).map(
      // PostgreSQL does not keep the order of an object's keys.
      ({ id, class: name, reference, orderId, expected, actual, currency, firstSeenAt }) => ({
        id,
        class: name,
        reference,
        orderId,
        expected,
        actual,
        currency,
        firstSeenAt,
      }),
    ),
  };
}

/** The report as `--json` prints it. */
export function textOf(report: ReconciliationReport): string {
  return JSON.stringify(report);
}

export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
