import { sendPage } from '../../platform/html.tsx';
import type { Database } from '../../platform/database/database.ts';
import { parseRunId, type RunId } from '../../platform/ids.ts';
import type { Mode } from '../../platform/mode.ts';
import { Problem } from '../../platform/problem.ts';
import { diffRuns, RunNotKeptError, type Difference } from '../../reconciliation/report/replay.ts';
import type { AdminParts } from '../admin-parts.ts';
import { dayOf } from '../layout/query.ts';
import { DifferenceOfRuns } from './diff-page.tsx';
import {
  customersOf,
  itemsOfRun,
  latestRuns,
  PAGE_ROWS,
  runById,
  runsToCompare,
  type ComparedRun,
  type StoredRun,
} from './runs.sql.ts';
import { RunListPage } from './run-list-page.tsx';
import { MAX_ITEMS } from './run-parts.tsx';
import { RunPage } from './run-page.tsx';

const MIN_MS = 60_000;

/** When were our orders compared with the service's records, and with which result? */
export function runRoutes({ gateway, show, reconcileEveryMin }: AdminParts): void {
  const { mode } = gateway;

  show('/admin/runs', async (req, res, { database, frame }) => {
    const filter = {
      before: parseRunId(req.query.before),
      day: dayOf(req.query.day),
      isNotAgreedOnly: req.query.only === 'not-agreed',
    };
    const rows = await latestRuns(database, mode, filter);
    const next = rows.length > PAGE_ROWS ? (rows[PAGE_ROWS - 1]?.id ?? null) : null;
    const runs = rows.slice(0, PAGE_ROWS);
    sendPage(res, RunListPage({ frame, filter, runs, next }));
  });

  show('/admin/runs/:id', async (req, res, { database, frame }) => {
    const id = parseRunId(req.params.id);
    const run = id === null ? null : await runById(database, mode, id);
    if (run === null) throw new Problem('not-found');
    const others = await runsToCompare(database, mode, run);
    const against = parseRunId(req.query.against) ?? runBefore(run, others)?.id ?? null;
    const difference = against === null ? null : await differenceOrNull(database, mode, run.id, against);
    const items = await itemsOfRun(database, run.id, MAX_ITEMS);
    const customers = await customersOf(
      database,
      items.flatMap(({ orderId }) => orderId ?? []),
    );
    const later = others.findLast(({ startedAt }) => startedAt > run.startedAt) ?? null;
    const { finishedAt } = run;
    const nextAt =
      finishedAt === null || reconcileEveryMin === 0
        ? null
        : new Date(finishedAt.getTime() + reconcileEveryMin * MIN_MS);
    const children = DifferenceOfRuns({ runId: run.id, difference, others, against });
    const page = { frame, run, items, customers, later, nextAt, children };
    sendPage(res, RunPage(page));
  });
}

/** The latest of the other runs (newest first) that began before this one; else the oldest of them. */
function runBefore({ startedAt }: StoredRun, others: readonly ComparedRun[]): ComparedRun | null {
  return others.find((other) => other.startedAt < startedAt) ?? others.at(-1) ?? null;
}

/** Null when there is no such run, or it has not finished. */
async function differenceOrNull(
  database: Database,
  mode: Mode,
  one: RunId,
  other: RunId,
): Promise<Difference | null> {
  try {
    return await diffRuns(database, mode, one, other);
  } catch (error) {
    if (error instanceof RunNotKeptError) return null;
    throw error;
  }
}
