import express, { type Express } from 'express';
import helmet from 'helmet';
import { createCheckoutLimits } from './checkout/checkout-limits.ts';
import { checkoutRoutes } from './checkout/routes.ts';
import { stopRoutes } from './checkout/stops/routes.ts';
import type { Config } from './config.ts';
import { partsForShop, type Program } from './program.ts';
import { createAdminGuard } from './admin/login/guard.ts';
import { docsRoutes } from './api-docs/routes.ts';
import { healthRoutes } from './health/routes.ts';
import { adminRoutes } from './admin/routes.ts';
import { returnUrlOf } from './orders/return-url.ts';
import { orderRoutes } from './orders/routes.ts';
import type { ExpressMessages } from './platform/http-server.ts';
import { createGuessLimit, limitGuesses, limitReads } from './platform/rate-limits.ts';
import { notFound, problemHandler } from './platform/problem.ts';
import { traceRequests } from './platform/tracing/tracing.ts';
import { demoShop } from './demo-shop/routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';

/** Shoppers press reload, a storefront asks every few seconds, and many shoppers may share an address. */
const READS_PER_CHECKOUT = 5;
/** Each lasts up to ten minutes, and one process has 2,000 at most. */
const MAX_STREAMS_OF_ADDRESS = 100;
/** Short: a program that still had yesterday's token gets in with today's within a minute. */
const GUESS_WINDOW_SEC = 60;

/**
 * All routes on one application. Building it opens no port, so that tests can hold as many as they like.
 * @param messages the kinds of request and response that the listener makes; left out: Node's own
 */
export function buildApp(program: Program, messages?: ExpressMessages): Express {
  const { config, database, gateway, catalogue, logger, workerWatch } = program;
  const { STOREFRONT_ORIGINS: storefrontOrigins, STOREFRONT_RETURN_URL: returnUrls } = config;
  const { CHECKOUTS_PER_MINUTE } = config;
  const shopApiToken = config.SHOP_API_TOKEN ?? null;
  const guard = guardOf(config);
  const readsPerMinute = READS_PER_CHECKOUT * CHECKOUTS_PER_MINUTE;
  const { mode } = gateway;
  const { identity } = program.extensions;
  const shop = demoShop({ ...program, identity, mode, isOpen: config.demoShop, readsPerMinute });
  const guesses = createGuessLimit(database, 'bearer', GUESS_WINDOW_SEC);
  const app = express();
  messages?.adopt(app);
  configure(app, config);
  if (program.tracing !== null) app.use(traceRequests(program.tracing, TRACED));

  app.use(healthRoutes({ database, gateway, workerWatch }));
  app.use(webhookRoutes(program.receiveWebhook));
  app.use(
    checkoutRoutes({
      startCheckout: program.startCheckout,
      returnFromCheckout: program.returnFromCheckout,
      limits: createCheckoutLimits(database, CHECKOUTS_PER_MINUTE),
      ownOrigin: program.publicOrigin,
      storefrontOrigins,
      returnUrls,
      returnUrlOf: (orderId) => returnUrlOf(database, orderId, returnUrls),
      orderPages: shop.orderPages,
    }),
  );
  app.use(
    orderRoutes({
      database,
      catalogue,
      mode,
      storefrontOrigins,
      returnUrls,
      shopApiToken,
      guesses,
      cancelOrder: program.cancelOrder,
      limitReads: limitReads(readsPerMinute),
      maxStreams: CHECKOUTS_PER_MINUTE === 0 ? Infinity : MAX_STREAMS_OF_ADDRESS,
      logger,
    }),
  );
  const { checkoutStops } = program;
  app.use(stopRoutes({ database, mode, checkoutStops, shopApiToken, guesses }));
  app.use(docsRoutes({ publicOrigin: program.publicOrigin }));
  if (guard.isRight !== null) app.use(['/metrics', '/admin'], limitGuesses(guesses, guard.isRight));
  app.get('/metrics', guard.requireToken, program.metrics());
  app.use(shop.routes);
  const { name, shopperText } = shop;
  const reconcileEveryMin = config.RECONCILE_EVERY_MIN;
  app.use(adminRoutes({ ...program, guard, shop: name, shopperText, reconcileEveryMin }));
  serveOwnRoutes(app, program);
  app.use(notFound);
  app.use(problemHandler(logger, shop.problemPage));
  return app;
}

/** What a worker of its own answers: whether its loops go round, whether it can work, and its metrics. */
export function buildWorkerApp(program: Program, stuckLoop: () => string | null): Express {
  const { config, database, gateway, logger, workerWatch } = program;
  const guard = guardOf(config);
  const app = express();
  configure(app, config);
  app.use(healthRoutes({ database, gateway, workerWatch, stuckLoop }));
  if (guard.isRight !== null)
    app.use('/metrics', limitGuesses(createGuessLimit(database, 'bearer', GUESS_WINDOW_SEC), guard.isRight));
  app.get('/metrics', guard.requireToken, program.metrics());
  app.use(notFound);
  app.use(problemHandler(logger));
  return app;
}

function guardOf({ ADMIN_TOKEN, OPERATORS, production }: Config) {
  return createAdminGuard(ADMIN_TOKEN ?? null, production, OPERATORS);
}

function configure(app: Express, config: Config): void {
  app.disable('x-powered-by');
  // Only these proxies are believed about a client's address, or clients could dodge the limits by a header.
  app.set('trust proxy', config.TRUSTED_PROXIES);
  // One parameter, one value: the extended parser makes objects and lists out of what a client writes.
  app.set('query parser', 'simple');
  // Should the last error handler itself fail, Express answers; outside of "production" with a stack trace.
  app.set('env', 'production');
  app.use(securityHeaders(config.production));
}

/** The payment service is a foreign party: it continues no trace of ours, and we continue none of its. */
const TRACED = { unwatched: ['/healthz', '/readyz', '/metrics'], foreign: ['/webhooks/payments'] };

/** After ours, so that an address that we answer stays ours. */
function serveOwnRoutes(app: Express, program: Program): void {
  if (program.extensions.routes === null) return;
  const { prefix, create } = program.extensions.routes;
  app.use(prefix, create(partsForShop(program)));
}

/** Headers of every answer. Pages load styles, scripts and pictures from here and from nowhere else. */
function securityHeaders(production: boolean) {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
        connectSrc: ["'self'"],
        // A checkout form is answered by a redirect to the hosted page, whose address the server has checked;
        // browsers would hold form-action against that redirect, so it stays open.
        baseUri: ["'none'"],
        objectSrc: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    strictTransportSecurity: production ? { maxAge: 31_536_000 } : false,
    // Our own forms send their origin, or the origin check could not tell them from a stranger's.
    referrerPolicy: { policy: 'same-origin' },
    xFrameOptions: { action: 'deny' },
    // Storefronts on other origins read the catalogue, its pictures and their orders.
    crossOriginResourcePolicy: { policy: 'cross-origin' },
  });
}
