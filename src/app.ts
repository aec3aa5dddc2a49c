import express, { Router, type Express, type RequestHandler } from 'express';
import helmet from 'helmet';
import { countWebhook, registry } from './alerts/metrics.ts';
import { apiDocsRoutes } from './api-docs/routes.tsx';
import { checkoutRoutes } from './checkout/routes.ts';
import { createCheckoutLimits } from './checkout/limits.ts';
import type { Program } from './compose.ts';
import { consoleRoutes } from './console/routes.ts';
import { routes as ownRoutes } from './custom/routes.ts';
import { healthRoutes } from './health.ts';
import { orderRoutes } from './orders/routes.ts';
import { isDatabaseAway } from './platform/db.ts';
import { accessLog } from './platform/logger.ts';
import { notFound, problemHandler } from './platform/problem.ts';
import { shopPageRoutes } from './shop-pages/routes.ts';
import { WORDS } from './shop-pages/told.ts';
import { shopApiRoutes } from './shop-api/routes.ts';
import { isLocal, requireToken } from './shop-api/token.ts';
import { webhookRoutes } from './webhooks/routes.ts';

/**
 * All routes as one Express application. It opens no port.
 * @param ownOrigin the origin under which browsers reach this server
 */
export function createApp(program: Program, ownOrigin: () => string): Express {
  const { config, database, gateway, logger } = program;
  const limits = createCheckoutLimits(database.pool, config.CHECKOUTS_PER_MINUTE);
  const shared = { ...program, prisma: database.prisma, landings: config.STOREFRONT_RETURN_URL };
  const app = express();
  app.disable('x-powered-by');
  app.set('trust proxy', config.TRUSTED_PROXIES);
  app.use(accessLog(logger));
  app.use(untrustedProxyNote(program));
  app.use(helmet());
  app.use(healthRoutes(database, gateway));
  app.use(webhookRoutes({ ...shared, secrets: config.WEBHOOK_SECRETS, count: countWebhook }));
  app.use(
    checkoutRoutes({
      ...shared,
      limits,
      ownOrigin,
      storefrontOrigins: config.STOREFRONT_ORIGINS,
      returnBase: () => `${ownOrigin()}/checkout/return/`,
    }),
  );
  app.use(shopApiRoutes({ ...shared, token: config.SHOP_API_TOKEN }));
  app.use(
    orderRoutes({
      ...shared,
      mode: config.mode,
      storefrontOrigins: config.STOREFRONT_ORIGINS,
      countRead: (network) => limits.countRead(network),
    }),
  );
  app.use(apiDocsRoutes(ownOrigin, !config.production && config.mode === 'test'));
  app.use(shopPageRoutes(program, ownOrigin));
  app.use(metricsRoute(program));
  app.use(consoleRoutes(program, ownOrigin, WORDS.shop.name));
  if (ownRoutes !== null) app.use(ownRoutes(program));
  app.use(notFound);
  app.use(problemHandler(logger, isDatabaseAway));
  return app;
}

/** The headers in which proxies name the client. */
const FORWARDING = ['x-forwarded-for', 'forwarded', 'x-real-ip'];

/**
 * All clients of a proxy that is not in TRUSTED_PROXIES count as one client and share its limits.
 * The log and `doctor --live` report it, because nobody would guess the reason.
 */
function untrustedProxyNote({ note }: Program): RequestHandler {
  return (req, _res, next) => {
    const header = FORWARDING.find((name) => req.headers[name] !== undefined);
    const peer = req.socket.remoteAddress ?? '';
    const isTrusted = req.app.get('trust proxy fn') as (address: string, hop: number) => boolean;
    if (header !== undefined && !isTrusted(peer, 0)) note('untrusted-proxy', { peer, header });
    next();
  };
}

/**
 * Requires an operator's token. If no token is configured, only this machine may read metrics, and
 * only outside production.
 */
function metricsRoute({ config }: Program): Router {
  const router = Router();
  const tokens = [config.ADMIN_TOKEN, ...config.OPERATORS.map(({ token }) => token)].filter((token) => token !== null);
  const guard = requireToken(
    tokens,
    'ADMIN_TOKEN, or an operator’s token',
    (req) => !config.production && isLocal(req),
  );
  router.get('/metrics', guard, async (_req, res) => {
    res.type(registry.contentType).send(await registry.metrics());
  });
  return router;
}
