import express, { Router } from 'express';
import { fileURLToPath } from 'node:url';
import { notFound, Problem, problemHandler } from '../platform/problem.ts';
import { type AdminParts, createPages, frameOf, markActing } from './pages.ts';
import type { AdminGuard } from './login/guard.ts';
import { ProblemPage } from './layout/frame.tsx';
import { bookRoutes } from './books-page.tsx';
import { activityRoutes } from './activity-page.tsx';
import { chartRoutes } from './charts/charts-page.tsx';
import { todayRoutes } from './dashboard/dashboard-page.tsx';
import { caseRoutes } from './cases/routes.ts';
import { loginRoutes } from './login/routes.ts';
import { orderRoutes } from './orders/routes.ts';
import { releaseRoutes } from './releases/releases-page.tsx';
import { runRoutes } from './runs/run-list-page.tsx';
import { receivedWebhookRoutes } from './webhooks/webhook-page.tsx';
import type { Database } from '../platform/database/database.ts';
import type { Logger } from '../platform/logger.ts';
import type { Mode } from '../platform/mode.ts';
import { hintAndLease, noteAsking } from '../payments/checks.sql.ts';
import type { Confirm } from '../payments/confirm.ts';
import { postponeAfterFailure } from '../payments/due-payments.ts';

type AdminRouteParts = Omit<AdminParts, 'router' | 'show' | 'act' | 'form' | 'askService' | 'guard'> &
  Pick<AskParts, 'confirm' | 'logger'> & {
    guard: AdminGuard;
    /** The name of the shop. */
    shop: string;
  };
const STYLESHEET = fileURLToPath(new URL('layout/admin.css', import.meta.url));

/** The pages of operations: what is the state of the money, and what happened to this order? */
export function adminRoutes(parts: AdminRouteParts): Router {
  const { database, gateway, shop } = parts;
  const { mode } = gateway;
  const guard = { ...parts.guard, shop };
  const askService = createAskService({ ...parts, mode });
  const form = express.text({ type: 'application/x-www-form-urlencoded', limit: '64kb' });
  const router = Router();
  const pages: AdminParts = {
    ...{ ...parts, router, guard, form, askService },
    ...createPages({ ...parts, router, guard, mode, form }),
  };
  router.get('/admin/admin.css', (_req, res) => {
    res.set('cache-control', 'max-age=300').sendFile(STYLESHEET);
  });
  // Without it browsers do not send the origin of a form, which is checked.
  router.use('/admin', (_req, res, next) => {
    res.set('referrer-policy', 'same-origin');
    next();
  });
  // PostgreSQL's texts take none, and no address of ours has one.
  router.use('/admin', (req, _res, next) => {
    if (req.originalUrl.includes('%00')) throw new Problem('not-found');
    next();
  });
  router.use('/admin', guard.refuseViewers);
  router.use(loginRoutes({ database, guard, shop, mode }));
  router.use('/admin', markActing(parts.reads));
  todayRoutes(pages);
  orderRoutes(pages);
  caseRoutes(pages);
  releaseRoutes(pages);
  receivedWebhookRoutes(pages);
  runRoutes(pages);
  chartRoutes(pages);
  bookRoutes(pages);
  activityRoutes(pages);
  const problem = problemHandler(parts.logger, (wording, { type }, req) => {
    const isOrder = type === 'not-found' && req.originalUrl.startsWith('/admin/orders/');
    const title = isOrder ? 'No order has this number' : wording.title;
    return ProblemPage({ ...wording, title, frame: frameOf(guard, mode, req) });
  });
  router.use('/admin', notFound, problem);
  return router;
}

type AskParts = { database: Database; mode: Mode; confirm: Confirm; logger: Logger };

const RETRY_SEC = 5;

/** Asks the service at once, and again in a while if it does not answer. */
function createAskService({ database, mode, confirm, logger }: AskParts): AdminParts['askService'] {
  return async (ask) => {
    const { reference, by } = ask;
    const orderId = await noteAsking(database, mode, ask);
    if (orderId === null) return { unknown: 1 };
    logger.info({ reference, orderId, by }, 'check requested by an operator');
    const payment = await hintAndLease(database, reference, mode, { isTrusted: true });
    if (payment?.isLeased !== true) return { 'asked-soon': 1 };
    try {
      await confirm(payment, 'operator');
      return { asked: 1 };
    } catch (error) {
      await postponeAfterFailure({ database, logger }, payment, error, RETRY_SEC);
      return { 'not-answered': 1 };
    }
  };
}
