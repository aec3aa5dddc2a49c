import { Router } from 'express';
import { sendPage } from '../../platform/html.tsx';
import { openFindings } from '../../cases/findings.ts';
import { isDecision } from '../../cases/decision.ts';
import { openSuspense } from '../../cases/suspense.sql.ts';
import type { AdminParts } from '../admin-parts.ts';
import { actionHandler, frameOf } from '../actions/action-handler.ts';
import type { ActionForm } from '../actions/action-form.ts';
import { findingActions, suspenseActions } from './case-actions.ts';
import { openFindingCounts, openSuspenseSums } from '../../reporting/shop-state.sql.ts';
import { filterParams, readFilter } from './filter.ts';
import { FindingsPage, ConfirmFindings } from './findings-page.tsx';
import { pageOf, wantedBy } from './pagination.ts';
import { ConfirmSuspense, SuspensePage } from './suspense-page.tsx';
import { isSeen, readTicks } from './selection.ts';

/** The two work lists of an operator. Their actions call the same functions as the command line. */
export function workListRoutes(parts: AdminParts): Router {
  const { database, gateway, guard, form, accept } = parts;
  const router = Router();
  const { mode } = gateway;
  const posted = [guard.requireLogin, form, guard.requireForm];
  const backTo = (address: string) => (_req: unknown, fields: URLSearchParams) => {
    const params = filterParams(readFilter(Object.fromEntries(fields)), null);
    return `${address}?${new URLSearchParams(params).toString()}`;
  };

  router.get('/admin/findings', guard.requireLogin, async (req, res) => {
    const filter = readFilter(req.query);
    const counts = await openFindingCounts(database, mode, true);
    const found = await openFindings(database, mode, wantedBy(filter));
    const frame = frameOf(guard, mode, req);
    sendPage(res, FindingsPage({ frame, filter, ...pageOf(found, counts, filter) }));
  });
  router.post(
    '/admin/findings',
    ...posted,
    actionHandler(backTo('/admin/findings'), findingActions(database, mode), async (form, req) => {
      if (!needsConfirmation(form)) return null;
      const ticks = readTicks(form.ids);
      const wanted = { after: 0n, limit: ticks.length, ids: ticks.map(({ id }) => id) };
      const rows = (await openFindings(database, mode, wanted)).filter(isSeen(ticks));
      return rows.length === 0
        ? null
        : ConfirmFindings({ frame: frameOf(guard, mode, req), form: form, rows });
    }),
  );

  router.get('/admin/suspense', guard.requireLogin, async (req, res) => {
    const filter = readFilter(req.query);
    const sums = await openSuspenseSums(database, mode);
    const found = await openSuspense(database, mode, wantedBy(filter));
    const frame = frameOf(guard, mode, req);
    sendPage(res, SuspensePage({ frame, filter, ...pageOf(found, sums, filter) }));
  });
  router.post(
    '/admin/suspense',
    ...posted,
    actionHandler(backTo('/admin/suspense'), suspenseActions(database, mode, accept), async (form, req) => {
      const decision = form.field('decision') ?? '';
      if (!needsConfirmation(form) || !isDecision(decision)) return null;
      const ticks = readTicks(form.ids);
      const ids = ticks.map(({ id }) => id);
      const rows = (await openSuspense(database, mode, { ids })).filter(isSeen(ticks));
      if (rows.length === 0) return null;
      return ConfirmSuspense({ frame: frameOf(guard, mode, req), form: form, rows, decision });
    }),
  );
  return router;
}

/** Whether the form resolves rows and has not been confirmed yet. */
function needsConfirmation({ operation, field }: ActionForm): boolean {
  return operation === 'resolve' && field('sure') !== 'yes';
}
