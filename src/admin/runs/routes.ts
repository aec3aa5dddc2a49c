import { sendPage } from '../../platform/html.tsx';
import { parseRunId } from '../../platform/ids.ts';
import { Problem } from '../../platform/problem.ts';
import { customersOf } from '../../reporting/circumstances.sql.ts';
import type { AdminParts } from '../admin-parts.ts';
import { dayOf } from '../layout/query.ts';
import { itemsOfRun, latestRuns, PAGE_ROWS, runAfter, runById } from './runs.sql.ts';
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
    const items = await itemsOfRun(database, run.id, MAX_ITEMS);
    const customers = await customersOf(
      database,
      items.flatMap(({ orderId }) => orderId ?? []),
    );
    const later = await runAfter(database, mode, run);
    const { finishedAt } = run;
    const nextAt =
      finishedAt === null || reconcileEveryMin === 0
        ? null
        : new Date(finishedAt.getTime() + reconcileEveryMin * MIN_MS);
    sendPage(res, RunPage({ frame, run, items, customers, later, nextAt }));
  });
}
