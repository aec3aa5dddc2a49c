import { Router, type ErrorRequestHandler, type Request, type RequestHandler, type Response } from 'express';
import helmet from 'helmet';
import { readFileSync } from 'node:fs';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Logger } from 'pino';
import { isStopped, openStops } from '../cases/stops.ts';
import type { Config } from '../config.ts';
import type { Catalogue } from '../orders/catalogue.ts';
import { isDatabaseAway, type Database } from '../platform/db.ts';
import { ORDER_ID } from '../platform/ids.ts';
import { networkOf } from '../platform/addresses.ts';
import { createLimit } from '../platform/limits.ts';
import { asProblem, Problem, type ProblemType } from '../platform/problem.ts';
import { DemoShop } from './demo-shop.tsx';
import { OrderPage, ProblemPage, type Site } from './pages.tsx';
import { findShown, WORDS } from './told.ts';

export type ShopPageParts = {
  config: Pick<Config, 'mode' | 'demoShop' | 'SHOP_TIME_ZONE' | 'CHECKOUTS_PER_MINUTE'>;
  database: Pick<Database, 'prisma'>;
  catalogue: Catalogue;
  logger: Logger;
};

/**
 * The pages of shoppers: the state of an order, the demo shop, and problems. Mount them after the
 * routes whose refusals shoppers see.
 * @param ownOrigin our origin, as browsers reach it
 */
export function shopPageRoutes(parts: ShopPageParts, ownOrigin: () => string): (Router | ErrorRequestHandler)[] {
  const { config, logger } = parts;
  // The links use our own origin, because the checkout accepts only forms from it. A visitor may
  // have used another name of this machine.
  const siteOf = (): Site => {
    const home = config.demoShop ? `${ownOrigin()}/shop` : WORDS.shop.home || null;
    return { words: WORDS, home, isTest: config.mode === 'test' };
  };
  const router = Router();
  for (const name of ['shop.css', 'order-page.js']) {
    const text = readFileSync(new URL(`./${name}`, import.meta.url), 'utf8');
    router.get(`/${name}`, (_req, res) => {
      res.set('cache-control', 'public, max-age=3600').type(name.replace(/^.*\./, '')).send(text);
    });
  }
  const headers = headersOf(config.mode === 'test');
  const read = createLimit({ pool: null, name: 'page', points: 5 * config.CHECKOUTS_PER_MINUTE, perSec: 60 });
  const guard: RequestHandler = async (req, res, next) => {
    await read.take(networkOf(req.ip));
    headers(req, res, next);
  };
  orderRoute(router, parts, guard, siteOf);
  if (config.demoShop) demoRoutes(router, parts, guard, siteOf);
  return [router, problemPages(logger, headers, siteOf)];
}

type Handlers = [router: Router, parts: ShopPageParts, guard: RequestHandler, siteOf: () => Site];

function orderRoute(...[router, { config, database }, guard, siteOf]: Handlers): void {
  router.get('/orders/:orderId/page', guard, async (req: Request<{ orderId: string }>, res: Response) => {
    const { orderId } = req.params;
    const order = ORDER_ID.test(orderId) ? await findShown(database.prisma, config.mode, orderId) : null;
    if (order === null) throw new Problem('not-found');
    const view = { now: new Date(), timeZone: config.SHOP_TIME_ZONE };
    const stops = await openStops(database.prisma, config.mode);
    send(res, OrderPage({ ...siteOf(), order, view, stopped: isStopped(stops, order.currency) }));
  });
}

function demoRoutes(...[router, { config, database, catalogue }, guard, siteOf]: Handlers): void {
  const { prisma } = database;
  router.get('/', (_req, res) => {
    res.redirect(302, siteOf().home ?? '/shop');
  });
  router.get('/shop', guard, async (_req: Request, res: Response) => {
    const [products, stops] = await Promise.all([catalogue.products(prisma), openStops(prisma, config.mode)]);
    send(res, DemoShop({ ...siteOf(), products, stopped: stops.map(({ what }) => what) }));
  });
}

function headersOf(isTest: boolean): RequestHandler {
  return helmet({
    contentSecurityPolicy: {
      directives: {
        // Browsers apply this to the redirect to the payment page too, and to the redirects after
        // it.
        formAction: isTest ? ["'self'", 'http:', 'https:'] : ["'self'", 'https:'],
        upgradeInsecureRequests: null,
      },
    },
    // The browser must send the origin of our own forms, and must not send the address of an order
    // to the payment page.
    referrerPolicy: { policy: 'same-origin' },
  });
}

/** The paths where a browser gets a page instead of a problem document. */
const PAGES = /^\/(checkout|shop|orders\/[^/]+\/page)(\/|$)/;
/** The order's own page explains these problems. */
const TOLD_THERE = new Set<ProblemType>(['already-paid', 'under-review', 'order-cancelled', 'order-expired']);

/** Shows a page to a shopper whose form is refused. Programs get the problem document. */
function problemPages(logger: Logger, headers: RequestHandler, siteOf: () => Site): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    if (res.headersSent || !PAGES.test(req.path) || req.accepts(['json', 'html']) !== 'html') {
      next(error);
      return;
    }
    const problem = asProblem(error, isDatabaseAway);
    if (problem !== error && problem.status >= 500)
      logger.error({ err: error, requestId: req.id, problem: problem.type }, 'request failed');
    const { retryAfterSec, extra } = problem.options;
    if (extra?.orderId !== undefined && TOLD_THERE.has(problem.type)) {
      res.redirect(303, `/orders/${extra.orderId}/page`);
      return;
    }
    if (retryAfterSec !== undefined) res.set('retry-after', String(retryAfterSec));
    headers(req, res, () => {
      send(res.status(problem.status), ProblemPage({ ...siteOf(), problem }));
    });
  };
}

function send(res: Response, page: VNode): void {
  res.set({ 'cache-control': 'no-store', 'x-robots-tag': 'noindex' }).type('html');
  res.send(`<!doctype html>${renderToString(page)}`);
}
