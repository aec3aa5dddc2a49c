import express, { Router } from 'express';
import { fileURLToPath } from 'node:url';
import type { Gateway } from '../gateway/gateway.ts';
import type { Database } from '../platform/database.ts';
import { Problem } from '../platform/problem.ts';
import type { AdminGuard } from './admin-guard.ts';
import type { AdminParts } from './admin-parts.ts';
import { chartRoutes } from './charts/routes.ts';
import { createAskService, type AskParts } from './deeds/ask-service.ts';
import { todayRoutes } from './glance/routes.ts';
import { workListRoutes } from './lists/routes.ts';
import { loginRoutes } from './login/routes.ts';
import type { Meters } from './metrics/meters.ts';
import { createMetrics } from './metrics/metrics.ts';
import type { WorkerWatch } from './heartbeat/watch.ts';
import { orderListRoutes } from './orders/routes.ts';
import { releaseRoutes } from './releases/routes.ts';
import { isDatabaseAnswering } from './repository.ts';
import { runRoutes } from './runs/routes.ts';
import { receivedWebhookRoutes } from './webhooks/routes.ts';

export type OperationsParts = {
  database: Database;
  gateway: Gateway;
  guard: AdminGuard;
  workerWatch: WorkerWatch;
};
export type AdminRouteParts = OperationsParts &
  Pick<AdminParts, 'redeliver' | 'hasReceiver'> &
  Pick<AskParts, 'settle' | 'logger'>;

const STYLESHEET = fileURLToPath(new URL('admin.css', import.meta.url));

/** For load balancers: `/healthz` says that the process lives, `/readyz` that it can serve. Open to everybody. */
export function healthRoutes({ database, gateway, workerWatch }: Omit<OperationsParts, 'guard'>): Router {
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
    // Not red: orders, returns and webhooks are served, and without traffic nobody would learn that it is mended.
    const { misconfigured } = gateway.standing();
    const warning = misconfigured === null ? {} : { warning: misconfigured };
    // Checkouts can be opened without a worker, so traffic may come; who deploys must see that nothing else goes on.
    const worker = workerWatch.isExpected && {
      worker: (await workerWatch.isMissing()) ? 'missing' : 'running',
    };
    res.set('cache-control', 'no-store').json({ status: 'ready', mode: gateway.mode, ...warning, ...worker });
  });
  return router;
}

/** For Prometheus. */
export function metricsRoutes({ guard, ...parts }: OperationsParts & { meters: Meters }): Router {
  const metrics = createMetrics(parts);
  const router = Router();
  router.get('/metrics', guard.requireToken, async (_req, res) => {
    res.type(metrics.contentType).send(await metrics.text());
  });
  return router;
}

/** For people: what is the state of the money, and what happened to this order? */
export function adminRoutes(parts: AdminRouteParts): Router {
  const { database, gateway, guard, redeliver, hasReceiver, workerWatch } = parts;
  const askService = createAskService({ ...parts, mode: gateway.mode });
  const form = express.text({ type: 'application/x-www-form-urlencoded', limit: '64kb' });
  const pages: AdminParts = {
    database,
    gateway,
    guard,
    form,
    askService,
    redeliver,
    hasReceiver,
    workerWatch,
  };
  const router = Router();
  router.get('/admin/admin.css', (_req, res) => {
    res.set('cache-control', 'max-age=300').sendFile(STYLESHEET);
  });
  // Without it browsers keep to themselves where a form comes from, and that is looked at.
  router.use('/admin', (_req, res, next) => {
    res.set('referrer-policy', 'same-origin');
    next();
  });
  router.use('/admin', guard.refuseViewers);
  router.use(loginRoutes({ database, guard }));
  router.use(todayRoutes(pages));
  router.use(orderListRoutes(pages));
  router.use(workListRoutes(pages));
  router.use(releaseRoutes(pages));
  router.use(receivedWebhookRoutes(pages));
  router.use(runRoutes(pages));
  router.use(chartRoutes(pages));
  return router;
}
