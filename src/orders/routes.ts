import cors from 'cors';
import express, { Router, type RequestHandler } from 'express';
import { clientNetwork, requireBearer, type SharedLimit } from '../platform/rate-limits.ts';
import { newOrderId, parseOrderId, type OrderId } from '../platform/ids.ts';
import type { Logger } from '../platform/logger.ts';
import { invalidField, jsonOf, parseInput, Problem } from '../platform/problem.ts';
import type { Catalogue } from './catalogue.ts';
import { createOrderStreams } from './order-streams.ts';
import { totalOf, type Order } from './order.ts';
import { shopViewOf, viewOf, viewOfProduct, type ShopOrderView } from './order-view.ts';
import { findOrder } from './orders.sql.ts';
import type { Database } from '../platform/database/database.ts';
import type { Mode } from '../platform/mode.ts';
import type { Secret } from '../platform/secret.ts';
import type { CancelOrder } from './cancel.ts';
import { noteRefundOfShop } from './refunds.ts';
import { listedReturnUrl, type ReturnUrls } from './return-url.ts';
import { cancelInput, readOrderInput, readOrderQuestion } from './order-input.ts';
import { findPlaced, insertOrder, isOrder, listOrders, MAX_PAY_BY_DAYS } from './shop-orders.sql.ts';

type ShopApiParts = {
  database: Database;
  mode: Mode;
  returnUrls: ReturnUrls;
  /** Null: these routes are off. */
  shopApiToken: Secret | null;
  guesses: SharedLimit;
  cancelOrder: CancelOrder;
};

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
async function known({ database, mode }: ShopApiParts, text: string): Promise<Order> {
  const orderId = parseOrderId(text);
  const order = orderId === null ? null : await findOrder(database, orderId);
  if (order?.mode !== mode) throw new Problem('not-found');
  return order;
}

/** What the shop's own system does with orders, opened by its bearer token. */
function shopApiRoutes(parts: ShopApiParts): Router {
  const { database, mode, shopApiToken, cancelOrder } = parts;
  const router = Router();
  if (shopApiToken === null) return router;
  const opened: express.RequestHandler[] = [
    ...requireBearer(parts.guesses, shopApiToken),
    express.json({ limit: '256kb', inflate: false }),
  ];

  router.post('/orders', opened, async (req: express.Request, res: express.Response) => {
    const { status, orderId } = await place(parts, jsonOf(req));
    res.status(status).json(await shown(parts, orderId));
  });

  router.get('/orders', opened, async (req: express.Request, res: express.Response) => {
    const question = readOrderQuestion(req.query);
    if (question.after !== null && !(await isOrder(database, mode, question.after)))
      throw invalidField('after', 'is not the `next` of a page');
    const { orders, next } = await listOrders(database, mode, question);
    res.set('cache-control', 'no-store').json({ orders: orders.map(shopViewOf), next });
  });

  router.post('/orders/:orderId/cancel', opened, async (req: express.Request, res: express.Response) => {
    const { reason } = parseInput(cancelInput, jsonOf(req));
    const orderId = parseOrderId(req.params.orderId);
    const result = orderId === null ? null : await cancelOrder(orderId, { by: null, reason });
    if (orderId === null || result === null || result.outcome === 'unknown-order')
      throw new Problem('not-found');
    if (result.outcome === 'unavailable')
      throw new Problem('payment-service-unavailable', {
        retryAfterSec: result.retryAfterSec,
        detail: 'Nothing was cancelled: whether the order has been paid could not be asked. Try again.',
        extra: { orderId },
      });
    if (result.outcome !== 'cancelled') throw new Problem(result.outcome);
    res.json(await shown(parts, orderId));
  });

  router.post('/orders/:orderId/refunds', opened, async (req: express.Request, res: express.Response) => {
    const body = jsonOf(req);
    const order = await known(parts, String(req.params.orderId));
    const { isNew, view } = await noteRefundOfShop(database, mode, order, body);
    res.status(isNew ? 201 : 200).json(view);
  });
  return router;
}

/** Places an order, or finds the same one: a shop that got no answer sends it again. */
async function place(
  { database, mode, returnUrls }: ShopApiParts,
  body: unknown,
): Promise<{ status: 200 | 201; orderId: OrderId }> {
  const input = readOrderInput(body);
  const returnUrl = listedReturnUrl(input.returnUrl, returnUrls);
  const order = { ...input, returnUrl, id: newOrderId(), mode, amount: totalOf(input.lines) };
  if (await insertOrder(database, order)) return { status: 201, orderId: order.id };
  const placed = await findPlaced(database, order);
  if (placed === null) throw invalidField('payBy', `must be a time in the next ${MAX_PAY_BY_DAYS} days`);
  if (!placed.isSame) throw new Problem('external-id-taken', { extra: { orderId: placed.id } });
  return { status: 200, orderId: placed.id };
}

async function shown({ database }: ShopApiParts, orderId: OrderId): Promise<ShopOrderView> {
  const order = await findOrder(database, orderId);
  if (order === null) throw new Error(`Bug: order ${orderId} is gone`);
  return shopViewOf(order);
}
