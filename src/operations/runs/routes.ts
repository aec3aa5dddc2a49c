import { Router } from 'express';
import { sendPage } from '../../platform/html.tsx';
import { Problem } from '../../platform/problem.ts';
import type { AdminParts } from '../admin-parts.ts';
import { frameOf } from '../deeds/answer.ts';
import { fitting } from '../pages/query.ts';
import { latestRuns, PAGE_ROWS, runById } from './repository.ts';
import { RunListPage, RunPage } from './run-pages.tsx';

const RUN_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** When were our orders compared with the service's records, and what came of it? */
export function runRoutes({ database, gateway, guard }: AdminParts): Router {
  const router = Router();
  const { mode } = gateway;

  router.get('/admin/runs', guard.requireLogin, async (req, res) => {
    const before = fitting(req.query.before, RUN_ID);
    const rows = await latestRuns(database, mode, before);
    const next = rows.length > PAGE_ROWS ? (rows[PAGE_ROWS - 1]?.id ?? null) : null;
    sendPage(res, RunListPage({ frame: frameOf(guard, mode, req), runs: rows.slice(0, PAGE_ROWS), next }));
  });

  router.get('/admin/runs/:id', guard.requireLogin, async (req, res) => {
    const { id } = req.params;
    const run = RUN_ID.test(String(id)) ? await runById(database, mode, String(id)) : null;
    if (run === null) throw new Problem('not-found');
    sendPage(res, RunPage({ frame: frameOf(guard, mode, req), run }));
  });
  return router;
}
