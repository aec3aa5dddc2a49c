import express, { type ErrorRequestHandler, type Express } from 'express';
import helmet from 'helmet';

import { sendPage } from '../../src/platform/html.tsx';
import type { Logger } from '../../src/platform/logger.ts';
import { apiRoutes } from './api/routes.ts';
import { send } from './api/send.ts';
import type { ApiDeps } from './api/serve.ts';
import { checkoutRoutes } from './checkout/routes.ts';
import { profileOf, type Conditions } from './conditions.ts';
import type { ControlDeps } from './control/reset.ts';
import { controlRoutes } from './control/routes.ts';
import { overviewRoutes, type OverviewDeps } from './overview/routes.ts';
import { NotFoundPage } from './pages/not-found-page.tsx';
import { STYLESHEET_PATH } from './pages/stylesheet.ts';

export type AppDeps = ApiDeps & ControlDeps & OverviewDeps & { stylesheet: string; logger: Logger };

/** The service's interface, its checkout pages, and the routes that only a stand-in has. */
export function createApp(deps: AppDeps): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag'); // a digest of each answer, for caches that nobody has here
  app.use('/v1', apiRoutes(deps));
  app.use('/sandbox', controlRoutes(deps));

  app.use(pageHeaders);
  app.get(STYLESHEET_PATH, (_req, res) => {
    res.type('css').send(deps.stylesheet);
  });
  app.use('/checkout', checkoutRoutes(deps));
  app.use(overviewRoutes(deps));
  app.use((_req, res) => {
    sendPage(res, NotFoundPage(), 404);
  });
  app.use(answerFault(deps.logger, deps.conditions));
  return app;
}

/** Bodies and paths that cannot be read carry their own status; anything else is a fault of the stand-in. */
function answerFault(logger: Logger, conditions: Conditions): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    const status = isHttpError(error) ? error.status : 500;
    if (status >= 500) logger.error({ err: error, path: req.path }, 'sandbox request failed');
    if (res.headersSent) next(error);
    else {
      const message = status < 500 ? 'the request cannot be read' : 'the sandbox failed';
      void send(res, profileOf(conditions).refused(status, message));
    }
  };
}

function isHttpError(error: unknown): error is { status: number } {
  return typeof error === 'object' && error !== null && 'status' in error && typeof error.status === 'number';
}

const pageHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      'default-src': ["'none'"],
      'style-src': ["'self'"],
      'img-src': ['data:'],
      'base-uri': ["'none'"],
      'frame-ancestors': ["'none'"],
      // Browsers hold the redirect after a form to this rule as well, and the shop may redirect once more.
      'form-action': ["'self'", 'http:', 'https:'],
    },
  },
  strictTransportSecurity: false, // the sandbox speaks plain http on a loopback address
});
