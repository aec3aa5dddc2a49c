import type { Database, Queryable } from '../../platform/database/database.ts';
import type { OrderId, Reference, RunId } from '../../platform/ids.ts';
import type { Mode } from '../../platform/mode.ts';
import type { ReconciliationClass } from '../../cases/classes.ts';
import type { Watermark } from '../compare/conflicts.sql.ts';
import type { Verdict } from '../../cases/classes.ts';
import type { Inputs, ReconciliationReport } from './report.ts';

/**
 * Call it while holding the lock: then any unfinished run has lost its process, and is ended here.
 * @param everyMs opens none when one without an end to its window has finished so lately
 * @returns in how many milliseconds it is due; null: it was opened
 */
export async function openRun(
  db: Queryable,
  id: RunId,
  mode: Mode,
  { since, until, everyMs = 0 }: { since?: Date | undefined; until?: Date | undefined; everyMs?: number },
): Promise<number | null> {
  const [row] = await db.query<{ dueInMs: number | null }>(
    `WITH lost AS (
       UPDATE reconciliation_runs SET finished_at = now(), complete = false, verdict = 'incomplete',
         problem = 'the process of the run was lost'
       WHERE mode = $2 AND finished_at IS NULL
     ), other AS (
       SELECT max(finished_at) + $5 * interval '1 ms' AS due FROM reconciliation_runs
       WHERE mode = $2 AND until IS NULL AND finished_at > now() - $5 * interval '1 ms'
         AND finished_at < now()
     ), opened AS (
       INSERT INTO reconciliation_runs (id, mode, since, until)
       SELECT $1, $2, $3, $4 FROM other WHERE due IS NULL
     )
     SELECT extract(epoch FROM due - now())::float8 * 1000 AS "dueInMs" FROM other`,
    [id, mode, since ?? null, until ?? null, everyMs],
  );
  return row?.dueInMs ?? null;
}

/** What is stored of a run: its report without the items, and what the whole report can be rendered from. */
export type KeptRun = {
  report: ReconciliationReport;
  reportSha256: Buffer;
  /** JSON texts. */
  outcome: string;
  items: string;
  itemsSha256: Buffer;
  inputs: Inputs & { looked: Watermark };
};

export async function finishRun(db: Queryable, run: KeptRun): Promise<void> {
  const { report, reportSha256, outcome, items, itemsSha256, inputs } = run;
  // Most runs see the same findings as the run before, and insert no row.
  await db.query(
    `WITH kept AS (
       INSERT INTO reconciliation_items (sha256, items) VALUES ($8, $10) ON CONFLICT (sha256) DO NOTHING
     )
     UPDATE reconciliation_runs SET finished_at = now(),
       complete = $2, verdict = $3, report = $4, problem = $5,
       inputs = $6, outcome = $7, items_sha256 = $8, report_sha256 = $9
     WHERE id = $1`,
    [
      report.runId,
      report.complete,
      report.verdict,
      JSON.stringify({ ...report, items: [] }),
      report.incompleteReason,
      JSON.stringify(inputs),
      outcome,
      itemsSha256,
      reportSha256,
      items,
    ],
  );
}

/** Marks a run that failed as finished, too, so that it does not look as if it were still running. */
export async function abandonRun(db: Queryable, id: RunId, problem: string): Promise<void> {
  await db.query(
    `UPDATE reconciliation_runs SET finished_at = now(),
       complete = false, verdict = 'incomplete', problem = $2
     WHERE id = $1 AND finished_at IS NULL`,
    [id, problem],
  );
}

/** A run in the list of runs. */
export type RunLine = {
  id: RunId;
  startedAt: Date;
  finishedAt: Date | null;
  since: Date | null;
  until: Date | null;
  complete: boolean | null;
  verdict: Verdict | null;
  problem: string | null;
  inputs: Inputs | null;
  findings: Partial<Record<ReconciliationClass, number>> | null;
  records: string | null;
};

const LINE = {
  id: true,
  startedAt: true,
  finishedAt: true,
  since: true,
  until: true,
  complete: true,
  verdict: true,
  problem: true,
  inputs: true,
  report: true,
} as const;

/** The latest runs of a mode, the newest first. */
export async function latestRuns(database: Database, mode: Mode, limit: number): Promise<RunLine[]> {
  const { reconciliationRun } = await database.prisma();
  const rows = await reconciliationRun.findMany({
    where: { mode },
    orderBy: [{ startedAt: 'desc' }, { id: 'asc' }],
    take: limit,
    select: LINE,
  });
  return (rows as unknown[] as RunRow[]).map(lineOf);
}

export async function findRun(database: Database, mode: Mode, id: RunId): Promise<RunLine | null> {
  const { reconciliationRun } = await database.prisma();
  const row = await reconciliationRun.findFirst({ where: { mode, id }, select: LINE });
  return row && lineOf(row as RunRow);
}

type RunRow = Omit<RunLine, 'findings' | 'records'> & {
  inputs: KeptRun['inputs'] | null;
  report: ReconciliationReport | null;
};

function lineOf({ inputs, report, ...run }: RunRow): RunLine {
  const records = report?.history.records;
  return {
    ...run,
    inputs: inputs && { history: inputs.history, ours: inputs.ours, dialect: inputs.dialect },
    findings: report?.findings ?? null,
    records: records === undefined ? null : String(records),
  };
}

/** The stored outcome of a run; null for one that did not finish. */
export async function outcomeOfRun(
  db: Queryable,
  mode: Mode,
  id: RunId,
): Promise<{ outcome: unknown; items: unknown; reportSha256: Buffer } | null> {
  const [row] = await db.query<{ outcome: unknown; items: unknown; reportSha256: Buffer }>(
    `SELECT r.outcome, i.items, r.report_sha256 AS "reportSha256"
     FROM reconciliation_runs r JOIN reconciliation_items i ON i.sha256 = r.items_sha256
     WHERE r.mode = $1 AND r.id = $2 AND r.outcome IS NOT NULL`,
    [mode, id],
  );
  return row ?? null;
}

/**
 * A finding that was open at the end of only one of two runs. If the same reference changed its
 * class, that is one change.
 */
export type Change = {
  change: 'opened' | 'closed' | 'changed';
  reference: Reference;
  orderId: OrderId | null;
  before: ReconciliationClass | null;
  after: ReconciliationClass | null;
  id: bigint;
  closedBy: string | null;
};

// Those that were open at the end of the run. A run raises, closes and ends at one timestamp of the database,
// which a JavaScript Date would round.
const openAtEndOf = (run: '$2' | '$3'): string => `
  SELECT f.* FROM findings f, (SELECT finished_at AS at FROM reconciliation_runs WHERE id = ${run}) run
  WHERE mode = $1 AND raised_at <= at AND (closed_at IS NULL OR closed_at > at)`;

// Numbered, so that of several findings about one reference each is paired with one.
const onlyIn = (these: string, others: string): string => `
  SELECT *, row_number() OVER (PARTITION BY reference ORDER BY id) AS place
  FROM ${these} WHERE id NOT IN (SELECT id FROM ${others})`;

/** What changed between the ends of two runs of a mode. */
export function changesBetween(db: Queryable, mode: Mode, from: RunId, to: RunId): Promise<Change[]> {
  return db.query(
    `WITH open_then AS (${openAtEndOf('$2')}), open_later AS (${openAtEndOf('$3')}),
       gone AS (${onlyIn('open_then', 'open_later')}), come AS (${onlyIn('open_later', 'open_then')})
     SELECT CASE WHEN gone.id IS NULL THEN 'opened'
       WHEN come.id IS NULL THEN 'closed' ELSE 'changed' END AS change,
       reference, coalesce(come.order_id, gone.order_id) AS "orderId",
       gone.class AS before, come.class AS after,
       coalesce(come.id, gone.id) AS id, gone.closed_by AS "closedBy"
     FROM gone FULL JOIN come USING (reference, place)
     ORDER BY 1, 6`,
    [mode, from, to],
  );
}

/** Of the last thirty days, by the database's clock; null: there is none. */
export type LastRuns = {
  now: Date;
  /** When the last run ended. */
  finishedAt: Date | null;
  /** When the last complete run over everything began. */
  fullCompletedAt: Date | null;
  /**
   * When the last run began without a gap between it, the complete ones before it and the last over
   * everything.
   */
  comparedTo: Date | null;
};

// What claims to have begun in the future began before the clock was set back: nobody knows when.
const RECENT = `mode = $1 AND started_at BETWEEN now() - interval '30 days' AND now()`;

export async function lastRuns(db: Queryable, mode: Mode): Promise<LastRuns> {
  const [row] = await db.query<Omit<LastRuns, 'comparedTo'>>(
    `SELECT now(), max(finished_at) AS "finishedAt",
       max(started_at) FILTER (WHERE since IS NULL AND until IS NULL AND complete) AS "fullCompletedAt"
     FROM reconciliation_runs WHERE ${RECENT}`,
    [mode],
  );
  if (row === undefined) throw new Error('Bug: an aggregate without a row');
  const later = await db.query<{ startedAt: Date; since: Date }>(
    `SELECT started_at AS "startedAt", since FROM reconciliation_runs
     WHERE ${RECENT} AND complete AND since IS NOT NULL AND until IS NULL AND started_at > $2
     ORDER BY started_at`,
    [mode, row.fullCompletedAt],
  );
  // A run that begins its window later than the runs before it have come leaves a gap.
  const comparedTo = later.reduce<Date | null>(
    (to, { startedAt, since }) => (to !== null && since <= to ? startedAt : to),
    row.fullCompletedAt,
  );
  return { ...row, comparedTo };
}
