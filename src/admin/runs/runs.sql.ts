import type { Queryable } from '../../platform/database/database.ts';
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

export async function runById(db: Queryable, mode: Mode, id: RunId): Promise<StoredRun | null> {
  const [row] = await db.query<StoredRun>(
    `SELECT id, started_at AS "startedAt", finished_at AS "finishedAt", verdict, report
     FROM reconciliation_runs WHERE mode = $1 AND id = $2`,
    [mode, id],
  );
  return row ?? null;
}

/** Finished runs around this one, newest first: twenty before it and twenty after. */
export function runsToCompare(db: Queryable, mode: Mode, { id, startedAt }: StoredRun): Promise<RunRow[]> {
  const side = (compares: string, order: string): string =>
    `(SELECT id, started_at AS "startedAt", finished_at AS "finishedAt", verdict, NULL::int AS findings
      FROM reconciliation_runs
      WHERE mode = $1 AND id <> $2 AND started_at ${compares} $3 AND finished_at IS NOT NULL
      ORDER BY started_at ${order} LIMIT 20)`;
  return db.query(`${side('>', 'ASC')} UNION ALL ${side('<=', 'DESC')} ORDER BY 2 DESC, 1`, [
    mode,
    id,
    startedAt,
  ]);
}
