import cors from 'cors';
import { Router, type Request } from 'express';
import type { Logger } from 'pino';
import { networkOf } from '../platform/addresses.ts';
import { formatMajor } from '../platform/money.ts';
import { Problem } from '../platform/problem.ts';
import type { Mode, PrismaClient } from '../platform/prisma/client.ts';
import type { Catalogue } from './catalogue.ts';
import { createStreams } from './streams.ts';
import { findOrder, viewOf } from './view.ts';

export type OrderRoutesParts = {
  prisma: PrismaClient;
  mode: Mode;
  catalogue: Catalogue;
  logger: Logger;
  /** Origins of storefronts whose scripts may read the answers. */
  storefrontOrigins: readonly string[];
  /** Counts a read of a client's network. @throws {Problem} too many reads */
  countRead: (network: string) => Promise<void>;
};

/** Routes for storefronts: the products, and an order by its id, which cannot be guessed. */
export function orderRoutes(parts: OrderRoutesParts): Router {
  const { prisma, mode, catalogue, logger, storefrontOrigins, countRead } = parts;
  const router = Router();
  const streams = createStreams(prisma, logger);

  const readOrder = async (req: Request<{ orderId: string }>) => {
    await countRead(networkOf(req.ip));
    const order = await findOrder(prisma, req.params.orderId);
    if (order?.mode !== mode) throw new Problem('not-found');
    return order;
  };

  router.use(['/products', '/orders/:orderId'], cors({ origin: [...storefrontOrigins], maxAge: 600 }));

  router.get('/products', async (req, res) => {
    await countRead(networkOf(req.ip));
    const products = await catalogue.products(prisma);
    res.json(
      products.map(({ sku, name, description, image, unitAmount, currency }) => {
        return { sku, name, description, image, price: formatMajor({ amount: unitAmount, currency }), currency };
      }),
    );
  });

  router.get('/orders/:orderId', async (req, res) => {
    res.set('cache-control', 'no-store').json(viewOf(await readOrder(req)));
  });

  router.get('/orders/:orderId/events', async (req, res) => {
    const order = await readOrder(req);
    // A HEAD request asks about the stream alone. It must not occupy the place of a reader.
    if (req.method === 'HEAD') res.type('text/event-stream').end();
    else streams.open(order, req, res);
  });
  return router;
}
