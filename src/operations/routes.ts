import express, { Router } from 'express';
import { fileURLToPath } from 'node:url';
import type { Gateway } from '../gateway/gateway.ts';
import type { Database } from '../platform/database.ts';
import { sendPage } from '../platform/html.tsx';
import { ID_PATTERN } from '../platform/ids.ts';
import { Problem } from '../platform/problem.ts';
import type { AdminGuard } from './admin-guard.ts';
import { LoginPage, StoryPage } from './admin-pages.tsx';
import { explain } from './explain.ts';
import { createMetrics } from './metrics.ts';
import { OverviewPage } from './overview-page.tsx';
import { countStates, isDatabaseAnswering, latestOrders, latestRun } from './repository.ts';

export type OperationsParts = { database: Database; gateway: Gateway; guard: AdminGuard };

const STYLESHEET = fileURLToPath(new URL('admin.css', import.meta.url));
const LATEST_ORDERS = 25;

/** For load balancers: `/healthz` says that the process lives, `/readyz` that it can serve. Open to everybody. */
export function healthRoutes({ database, gateway }: Omit<OperationsParts, 'guard'>): Router {
  const router = Router();
  router.get('/healthz', (_req, res) => {
    res.set('cache-control', 'no-store').json({ status: 'alive' });
  });
  router.get('/readyz', async (_req, res) => {
    await isDatabaseAnswering(database);
    // With a refused key no checkout can be opened and nothing can be settled: traffic belongs elsewhere. Without
    // traffic nobody else would learn that it is accepted again.
    await gateway.checkRefusedKey();
    if (gateway.isKeyRefused()) {
      throw new Problem('payment-service-unavailable', { detail: 'The service refuses the key.' });
    }
    res.set('cache-control', 'no-store').json({ status: 'ready', mode: gateway.mode });
  });
  return router;
}

/** For Prometheus. */
export function metricsRoutes({ guard, ...parts }: OperationsParts): Router {
  const metrics = createMetrics(parts);
  const router = Router();
  router.get('/metrics', guard.requireToken, async (_req, res) => {
    res.type(metrics.contentType).send(await metrics.text());
  });
  return router;
}

/** For people: what is the state of the money, and what happened to this order? */
export function adminRoutes({ database, gateway, guard }: OperationsParts): Router {
  const router = Router();
  router.get('/admin/admin.css', (_req, res) => {
    res.set('cache-control', 'max-age=300').sendFile(STYLESHEET);
  });
  router.get('/admin/login', (_req, res) => {
    sendPage(res, LoginPage({ isWrong: false }));
  });
  const form = express.text({ type: 'application/x-www-form-urlencoded', limit: '4kb' });
  router.post('/admin/login', form, (req, res) => {
    const fields = new URLSearchParams(typeof req.body === 'string' ? req.body : '');
    const cookie = guard.login(fields.get('token') ?? '');
    if (cookie === null) sendPage(res, LoginPage({ isWrong: true }), 401);
    else res.set('set-cookie', cookie).redirect(303, '/admin');
  });
  router.get('/admin', guard.requireLogin, async (_req, res) => {
    const { mode } = gateway;
    const [counts, orders, run] = await Promise.all([
      countStates(database, mode),
      latestOrders(database, mode, LATEST_ORDERS),
      latestRun(database, mode),
    ]);
    sendPage(res, OverviewPage({ mode, counts, orders, run, isKeyRefused: gateway.isKeyRefused() }));
  });
  router.get('/admin/orders/:orderId', guard.requireLogin, async (req, res) => {
    const orderId = String(req.params.orderId);
    const story = ID_PATTERN.test(orderId) ? await explain(database, orderId) : null;
    if (story === null) throw new Problem('not-found');
    sendPage(res, StoryPage({ id: orderId, text: story.text }));
  });
  return router;
}
