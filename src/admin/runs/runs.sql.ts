import type { Database, Queryable } from '../../platform/database/database.ts';
import type { RunId } from '../../platform/ids.ts';
import type { Mode } from '../../platform/mode.ts';
import type { Verdict } from '../../cases/classes.ts';
import type { ReconciliationReport } from '../../reconciliation/report/report.ts';

export type RunRow = {
  id: RunId;
  startedAt: Date;
  finishedAt: Date | null;
  /** Null: it is under way. */
  verdict: Verdict | null;
  /** The number of open findings after it; null where it wrote no report. */
  findings: number | null;
};

export const PAGE_ROWS = 50;

/** Reconciliations, newest first. @param before the run after which the page begins */
export function latestRuns(db: Queryable, mode: Mode, before: RunId | null): Promise<RunRow[]> {
  const older =
    before === null
      ? ''
      : 'AND (started_at, id) < ((SELECT started_at FROM reconciliation_runs WHERE id = $2), $2)';
  return db.query(
    `SELECT id, started_at AS "startedAt", finished_at AS "finishedAt", verdict,
       (SELECT sum(value::int)::int FROM jsonb_each_text(report -> 'findings')
         WHERE key <> 'history_truncated') AS findings
     FROM reconciliation_runs WHERE mode = $1 ${older}
     ORDER BY started_at DESC, id DESC LIMIT ${PAGE_ROWS + 1}`,
    before === null ? [mode] : [mode, before],
  );
}

export type StoredRun = Omit<RunRow, 'findings'> & { report: ReconciliationReport | null };

const RUN = { id: true, startedAt: true, finishedAt: true, verdict: true } as const;

export async function runById(database: Database, mode: Mode, id: RunId): Promise<StoredRun | null> {
  const { reconciliationRun } = await database.prisma();
  const run = await reconciliationRun.findFirst({ where: { id, mode }, select: { ...RUN, report: true } });
  return run as StoredRun | null;
}

/** A run that another one is compared with. */
export type ComparedRun = Omit<RunRow, 'findings'>;

/** Finished runs around this one, newest first: twenty after it and twenty before. */
export async function runsToCompare(
  database: Database,
  mode: Mode,
  { id, startedAt }: StoredRun,
): Promise<ComparedRun[]> {
  const { reconciliationRun } = await database.prisma();
  const others = { mode, id: { not: id }, finishedAt: { not: null } };
  const after = await reconciliationRun.findMany({
    where: { ...others, startedAt: { gt: startedAt } },
    orderBy: { startedAt: 'asc' },
    take: 20,
    select: RUN,
  });
  const before = await reconciliationRun.findMany({
    where: { ...others, startedAt: { lte: startedAt } },
    orderBy: { startedAt: 'desc' },
    take: 20,
    select: RUN,
  });
  return [...after.reverse(), ...before] as ComparedRun[];
}
