import cors from 'cors';
import { Router, type RequestHandler } from 'express';
import { clientNetwork } from '../platform/client-network.ts';
import { parseOrderId } from '../platform/ids.ts';
import type { Logger } from '../platform/logger.ts';
import { Problem } from '../platform/problem.ts';
import type { Catalogue } from './catalogue.ts';
import { createOrderStreams } from './events.ts';
import type { Order } from './order.ts';
import { viewOf, viewOfProduct } from './order-view.ts';
import { findOrder } from './orders.sql.ts';
import { shopApiRoutes, type ShopApiParts } from './shop-api/routes.ts';

type OrderRoutesParts = ShopApiParts & {
  catalogue: Catalogue;
  storefrontOrigins: readonly string[];
  /** Limits what one client address reads. */
  limitReads: RequestHandler;
  /** Streams of events for one client address at once. */
  maxStreams: number;
  logger: Logger;
};

/** The routes of storefronts (catalogue and orders), and those of the shop's own system. */
export function orderRoutes(parts: OrderRoutesParts): Router {
  const { database, catalogue } = parts;
  const streams = createOrderStreams({ db: database, maxOfAddress: parts.maxStreams, logger: parts.logger });
  const router = Router();
  router.use(
    ['/orders', '/products'],
    cors({ origin: [...parts.storefrontOrigins], maxAge: 600, exposedHeaders: ['retry-after'] }),
  );
  // After the CORS headers: a storefront has to be able to read the refusal.
  router.use(['/orders', '/products'], parts.limitReads);

  router.get('/products', async (_req, res) => {
    const products = await catalogue.products();
    res.json(products.map(viewOfProduct));
  });

  router.get('/orders/:orderId', async (req, res) => {
    const order = await known(parts, req.params.orderId);
    res.set('cache-control', 'no-store').json(viewOf(order));
  });

  router.get('/orders/:orderId/events', async (req, res) => {
    const order = await known(parts, req.params.orderId);
    streams.open(order, clientNetwork(req.ip), req, res);
  });

  router.use(shopApiRoutes(parts));
  return router;
}

/**
 * Unknown and malformed ids, and ids of the other mode, get the same answer: no client learns which exist.
 */
async function known({ database, mode }: OrderRoutesParts, text: string): Promise<Order> {
  const orderId = parseOrderId(text);
  const order = orderId === null ? null : await findOrder(database, orderId);
  if (order?.mode !== mode) throw new Problem('not-found');
  return order;
}
