import { Router } from 'express';
import type { Gateway } from '../gateway/gateway.ts';
import { pingDatabase, type Database } from '../platform/database/database.ts';
import { Problem } from '../platform/problem.ts';
import { nameOf, type WorkerWatch } from '../platform/heartbeat.sql.ts';

type HealthParts = {
  database: Database;
  gateway: Gateway;
  workerWatch: WorkerWatch;
  /** The name of a loop that hangs, in a worker. Null: none. */
  stuckLoop?: () => string | null;
};

/** For load balancers, open to all: `/healthz` says that the process lives, `/readyz` that it can serve. */
export function healthRoutes({ database, gateway, workerWatch, stuckLoop }: HealthParts): Router {
  const router = Router();
  router.get('/healthz', (_req, res) => {
    const loop = stuckLoop?.() ?? null;
    res.set('cache-control', 'no-store');
    if (loop === null) res.json({ status: 'alive' });
    else res.status(503).json({ status: 'stuck', loop });
  });
  router.get('/readyz', async (_req, res) => {
    await pingDatabase(database);
    // With a refused key no checkout can be opened and nothing can be confirmed, so traffic belongs
    // elsewhere. Without traffic no other call would show that the key is accepted again.
    await gateway.checkRefusedKey();
    const { isKeyRefused, misconfigured } = gateway.health();
    if (isKeyRefused) {
      throw new Problem('payment-service-unavailable', { detail: 'The service refuses the key.' });
    }
    // Still ready: orders, returns and webhooks are served, and without traffic a correction would go unseen.
    const warning = misconfigured === null ? {} : { warning: misconfigured };
    // Checkouts work without a worker, so traffic may come; the operator must see that nothing else goes on.
    const { isMissing, last } = await workerWatch.state();
    const worker = workerWatch.isExpected && {
      worker: isMissing ? 'missing' : 'running',
      ...(isMissing && { workerLastSeen: nameOf(last) }),
    };
    res.set('cache-control', 'no-store').json({ status: 'ready', mode: gateway.mode, ...warning, ...worker });
  });
  return router;
}
