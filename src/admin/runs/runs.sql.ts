import type { Database, Queryable } from '../../platform/database/database.ts';
import type { ItemFacts } from '../../cases/findings.ts';
import type { RunId } from '../../platform/ids.ts';
import type { Mode } from '../../platform/mode.ts';
import type { Verdict } from '../../cases/classes.ts';
import type { ReconciliationReport } from '../../reconciliation/report/report.ts';

export type RunRow = {
  id: RunId;
  startedAt: Date;
  finishedAt: Date | null;
  /** The window that it compared; both null: everything. */
  since: Date | null;
  until: Date | null;
  /** Null: it is under way. */
  verdict: Verdict | null;
  /** Why it is not complete, in the program's words. */
  problem: string | null;
  /** How many findings of each class were open after it; null where it wrote no report. */
  findings: Partial<Record<string, number>> | null;
  /** Whether money in suspense waited for a decision after it. */
  isAnyHeld: boolean;
};

/** Which runs are listed. */
export type RunFilter = {
  /** The run after which the page begins. */
  before: RunId | null;
  /** In UTC. */
  day: string | null;
  isNotAgreedOnly: boolean;
};

export const PAGE_ROWS = 50;

/** Reconciliations, newest first. */
export function latestRuns(db: Queryable, mode: Mode, filter: RunFilter): Promise<RunRow[]> {
  const { before, day, isNotAgreedOnly } = filter;
  const values: unknown[] = [mode];
  const conditions = ['mode = $1', ...(isNotAgreedOnly ? [`verdict <> 'agreed'`] : [])];
  if (before !== null) {
    const place = `$${values.push(before)}`;
    conditions.push(
      `(started_at, id) < ((SELECT started_at FROM reconciliation_runs WHERE id = ${place}), ${place})`,
    );
  }
  if (day !== null) {
    const place = `$${values.push(day)}::date`;
    conditions.push(
      `started_at >= ${place}::timestamp AT TIME ZONE 'UTC'`,
      `started_at < (${place} + 1)::timestamp AT TIME ZONE 'UTC'`,
    );
  }
  return db.query(
    `SELECT id, started_at AS "startedAt", finished_at AS "finishedAt", since, until, verdict, problem,
       report -> 'findings' AS findings, coalesce(report ? 'held', false) AS "isAnyHeld"
     FROM reconciliation_runs WHERE ${conditions.join(' AND ')}
     ORDER BY started_at DESC, id DESC LIMIT ${PAGE_ROWS + 1}`,
    values,
  );
}

/** What was open after a run, the oldest first, at most so many; empty where it is not kept. */
export async function itemsOfRun(db: Queryable, id: RunId, limit: number): Promise<ItemFacts[]> {
  const [row] = await db.query<{ items: ItemFacts[] }>(
    `SELECT jsonb_path_query_array(i.items, '$[0 to $last]', jsonb_build_object('last', $2::int)) AS items
     FROM reconciliation_runs r JOIN reconciliation_items i ON i.sha256 = r.items_sha256 WHERE r.id = $1`,
    [id, limit - 1],
  );
  return row?.items ?? [];
}

export type StoredRun = Omit<RunRow, 'findings' | 'isAnyHeld'> & { report: ReconciliationReport | null };

export async function runById(database: Database, mode: Mode, id: RunId): Promise<StoredRun | null> {
  const { reconciliationRun } = await database.prisma();
  return (await reconciliationRun.findFirst({
    where: { id, mode },
    omit: { inputs: true, outcome: true },
  })) as StoredRun | null;
}

export type LaterRun = Pick<RunRow, 'id' | 'startedAt' | 'verdict'>;

/** The next finished run after one. */
export async function runAfter(
  database: Database,
  mode: Mode,
  { id, startedAt }: StoredRun,
): Promise<LaterRun | null> {
  const { reconciliationRun } = await database.prisma();
  const run = await reconciliationRun.findFirst({
    // PostgreSQL counts microseconds, a Date milliseconds: a run began after its own `startedAt`.
    where: { mode, id: { not: id }, startedAt: { gt: startedAt }, finishedAt: { not: null } },
    orderBy: { startedAt: 'asc' },
    select: { id: true, startedAt: true, verdict: true },
  });
  return run as LaterRun | null;
}
