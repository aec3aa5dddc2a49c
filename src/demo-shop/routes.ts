import { Router, type Request, type Response } from 'express';
import type { VNode } from 'preact';
import { moneyAbout } from '../cases/suspense.sql.ts';
import { openOrderIn } from '../checkout/idempotency-key.ts';
import type { Identity } from '../identity.ts';
import type { Catalogue } from '../orders/catalogue.ts';
import type { Order } from '../orders/order.ts';
import { findOrder } from '../orders/orders.sql.ts';
import type { Database } from '../platform/database/database.ts';
import { parseOrderId, type OrderId } from '../platform/ids.ts';
import type { Logger } from '../platform/logger.ts';
import type { Mode } from '../platform/mode.ts';
import { readCheckoutStops } from '../payments/checkout-stops.sql.ts';
import { sendPage } from '../platform/html.tsx';
import { notFound, Problem, type ProblemWording } from '../platform/problem.ts';
import { limitReads } from '../platform/rate-limits.ts';
import { cachingOf, findAsset, readAssets, type Asset } from './assets.ts';
import { brandingOf, type Branding, ProblemPage } from './frame.tsx';
import { pageFor, readerOf, rememberLanguage } from './language.tsx';
import { OrderPage } from './order-page.tsx';
import { ShopPage } from './shop-page.tsx';
import { shopperTextOf } from './order-status-text.ts';

export type ShopRoutesParts = {
  branding: Branding;
  /** A folder of the shop's own, served under `/shop/own/`. */
  ownAssets?: URL | undefined;
  /** Null: there is no shop page, only the order page that shoppers come back to. */
  catalogue: Pick<Catalogue, 'products'> | null;
  findOrder: (id: string) => Promise<Order | null>;
  /** The order for which this browser was last sent to the payment page, by its cookies; null: none. */
  lastOrderOf?: (cookies: string | undefined) => Promise<Order | null>;
  /** The currencies that are stopped, or {@link EVERY_CURRENCY}. */
  stopped?: () => Promise<readonly string[]>;
  /** An order's money that is or was in suspense. */
  moneyAbout?: (orderId: OrderId) => ReturnType<typeof moneyAbout>;
  /** The shop's own sentence about an order; null: none. */
  noteOf?: (order: Order, language: string) => Promise<string | null>;
  /** Whether the shop uses a test key. Undefined: the shop page does not promise that it does. */
  mode?: Mode;
};

type DemoShopParts = {
  /** Who the shop is; null: it does not say. */
  identity: Identity | null;
  database: Database;
  catalogue: Catalogue;
  mode: Mode;
  /** If false, only the order page is served, to which every shopper returns. */
  isOpen: boolean;
  /** Requests from one address. 0: no limit */
  readsPerMinute: number;
  logger: Logger;
};

/**
 * The demo shop at `/shop`, the redirect to it from `/`, and the page that tells a shopper what went
 * wrong, here and elsewhere.
 */
export function demoShop(parts: DemoShopParts): {
  routes: Router;
  problemPage: (wording: ProblemWording, problem: Problem, req: Request) => VNode;
  shopperText: typeof shopperTextOf;
  /** As every page for shoppers names the shop. */
  name: string;
  /** Where an order's page is: this, and the order's id. */
  orderPages: string;
} {
  const { identity, database, catalogue, mode, isOpen, readsPerMinute, logger } = parts;
  const branding = brandingOf(identity, isOpen);
  const router = Router();
  const limitPages = limitReads(readsPerMinute);
  const orderById = async (id: OrderId | null): Promise<Order | null> => {
    const order = id === null ? null : await findOrder(database, id);
    return order?.mode === mode ? order : null;
  };
  router.use('/shop', (req, res, next) => {
    // Assets are not limited: a page has a dozen of them, and they are in memory.
    if (req.path.startsWith('/assets/')) next();
    else void limitPages(req, res, next);
  });
  router.use(
    '/shop',
    shopRoutes({
      branding,
      ownAssets: identity?.assets,
      catalogue: isOpen ? catalogue : null,
      findOrder: (text) => orderById(parseOrderId(text)),
      lastOrderOf: (cookies) => orderById(openOrderIn(cookies)),
      stopped: async () => (await readCheckoutStops(database, mode)).map(({ currency }) => currency),
      moneyAbout: (orderId) => moneyAbout(database, orderId),
      noteOf: async (order, language) => {
        try {
          return (await identity?.orderNote?.(order, database, language)) ?? null;
        } catch (error) {
          logger.warn({ err: error, orderId: order.id }, 'the note of an order page failed');
          return null;
        }
      },
      mode,
    }),
  );
  if (isOpen) {
    router.get('/', (_req, res) => {
      res.redirect(302, '/shop');
    });
  }
  return {
    routes: router,
    problemPage: problemPageOf(branding),
    shopperText: shopperTextOf,
    name: branding.name,
    orderPages: '/shop/orders/',
  };
}

/**
 * The demo storefront, mounted at `/shop`. It only displays: buying is a form post to `/checkout`, and
 * an order page shows the current state of the order.
 */
export function shopRoutes(parts: ShopRoutesParts): Router {
  const { branding, catalogue, findOrder, mode, noteOf } = parts;
  const own = parts.ownAssets === undefined ? null : readAssets(parts.ownAssets);
  const router = Router();

  if (catalogue !== null) {
    router.get('/', async (req, res) => {
      const [products, lastOrder, stopped] = await Promise.all([
        catalogue.products(),
        parts.lastOrderOf?.(req.get('cookie')) ?? null,
        parts.stopped?.() ?? [],
      ]);
      rememberLanguage(req, res);
      sendPage(res, pageFor(readerOf(req), ShopPage, { branding, products, mode, lastOrder, stopped }));
    });
  }

  router.get('/assets/:name', (req, res) => {
    sendAsset(res, findAsset(req.params.name));
  });
  router.get('/own/:name', (req, res) => {
    sendAsset(res, own?.get(req.params.name));
  });

  // Only what can be an id (platform/ids.ts) matches. Anything else, even an address that cannot be
  // decoded, gets the same answer as an unknown id, so a stranger cannot find out which orders exist.
  router.get(/^\/orders\/(?<orderId>[A-Za-z0-9]{24})$/, async (req, res) => {
    const order = await findOrder(String(req.params.orderId));
    if (order === null) throw new Problem('not-found');
    const reader = readerOf(req);
    const money = (await parts.moneyAbout?.(order.id)) ?? { isGoneBack: false, held: [], decisions: [] };
    const note = (await noteOf?.(order, reader.language)) ?? null;
    rememberLanguage(req, res);
    sendPage(res, pageFor(reader, OrderPage, { branding, order, ...money, note }));
  });
  router.use('/orders', notFound);
  return router;
}

/** What a shopper is shown in place of an answer for programs. */
export function problemPageOf(branding: Branding): ReturnType<typeof demoShop>['problemPage'] {
  return (_wording, problem, req) => pageFor(readerOf(req), ProblemPage, { problem, branding });
}

function sendAsset(res: Response, asset: Asset | undefined): void {
  if (asset === undefined) throw new Problem('not-found');
  res
    .set('cache-control', cachingOf(asset, res.req.query.v))
    .set('etag', `"${asset.version}"`)
    .type(asset.type)
    .send(asset.body);
}
