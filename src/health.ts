import { Router } from 'express';
import type { Gateway } from './gateway/gateway.ts';
import type { Database } from './platform/db.ts';

const LOOK_MS = 2_000;

/** Liveness and readiness of this process, for load balancers. */
export function healthRoutes({ pool }: Database, gateway: Gateway): Router {
  const router = Router();
  router.get('/healthz', (_req, res) => {
    res.json({ status: 'ok' });
  });
  router.get('/readyz', async (_req, res) => {
    const checks = {
      database: await databaseState(pool),
      gateway: (await gateway.isKeyRefused()) ? 'refuses the secret key' : 'ok',
    };
    const isReady = Object.values(checks).every((state) => state === 'ok');
    res.status(isReady ? 200 : 503).json({ status: isReady ? 'ready' : 'not ready', ...checks });
  });
  return router;
}

/** After a switch-over, the host name may resolve to a database that accepts no writes. */
async function databaseState(pool: Database['pool']): Promise<string> {
  const late = new Promise<string>((resolve) => setTimeout(resolve, LOOK_MS, 'does not answer').unref());
  const look = pool
    .query<{ isReadOnly: boolean }>(
      `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS "isReadOnly"`,
    )
    .then(({ rows: [row] }) => (row?.isReadOnly === false ? 'ok' : 'is read-only'))
    .catch(() => 'cannot be reached');
  return Promise.race([look, late]);
}
