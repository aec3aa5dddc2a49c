import cors from 'cors';
import express, { Router, type RequestHandler } from 'express';
import { bearerToken, isSecret } from '../platform/bearer.ts';
import { clientNetwork } from '../platform/client-network.ts';
import type { Database } from '../platform/database/database.ts';
import { newOrderId, parseOrderId } from '../platform/ids.ts';
import { limitGuesses, type GuessLimit } from '../platform/guess-limit.ts';
import type { Logger } from '../platform/logger.ts';
import type { Mode } from '../platform/mode.ts';
import { Problem } from '../platform/problem.ts';
import type { Secret } from '../platform/secret.ts';
import type { Catalogue } from './catalogue.ts';
import { createOrderStreams } from './events.ts';
import { readOrderInput } from './schemas.ts';
import { totalOf, type Order } from './order.ts';
import { viewOf, viewOfProduct } from './order-view.ts';
import { findOrder, insertOrder } from './orders.sql.ts';
import { takeRefund } from './refunds.ts';
import { listedReturnUrl, type ReturnUrls } from './return-url.ts';

export type OrderRoutesParts = {
  database: Database;
  catalogue: Catalogue;
  mode: Mode;
  storefrontOrigins: readonly string[];
  returnUrls: ReturnUrls;
  /** Null: `POST /orders` is off. */
  shopApiToken: Secret | null;
  guesses: GuessLimit;
  /** Limits what one client address reads. */
  limitReads: RequestHandler;
  /** Streams of events for one client address at once. */
  maxStreams: number;
  logger: Logger;
};

/** The routes of storefronts (catalogue and orders), and `POST /orders` for a shop that prices elsewhere. */
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

  const { shopApiToken } = parts;
  if (shopApiToken !== null) {
    const guard = limitGuesses(parts.guesses, (token) => isSecret(token, shopApiToken));
    router.post('/orders', guard, express.json({ limit: '256kb', inflate: false }), async (req, res) => {
      const token = bearerToken(req.get('authorization'));
      if (token === null || !isSecret(token, shopApiToken)) throw new Problem('unauthorized');
      if (req.body === undefined) throw new Problem('unsupported-media-type', { detail: 'Send JSON.' });
      const input = readOrderInput(req.body);
      const returnUrl = listedReturnUrl(input.returnUrl, parts.returnUrls);
      const order = { ...input, returnUrl, id: newOrderId(), mode: parts.mode, amount: totalOf(input.lines) };
      if (!(await insertOrder(database, order))) throw new Problem('external-id-taken');
      res.status(201).json(viewOf(await known(parts, order.id)));
    });

    router.post(
      '/orders/:orderId/refunds',
      guard,
      express.json({ limit: '16kb', inflate: false }),
      async (req, res) => {
        const token = bearerToken(req.get('authorization'));
        if (token === null || !isSecret(token, shopApiToken)) throw new Problem('unauthorized');
        if (req.body === undefined) throw new Problem('unsupported-media-type', { detail: 'Send JSON.' });
        const order = await known(parts, String(req.params.orderId));
        const { isNew, view } = await takeRefund(database, parts.mode, order, req.body);
        res.status(isNew ? 201 : 200).json(view);
      },
    );
  }
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
