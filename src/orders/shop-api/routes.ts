import express, { Router } from 'express';
import { bearerToken, isSecret } from '../../platform/bearer.ts';
import type { Database } from '../../platform/database/database.ts';
import { limitGuesses, type GuessLimit } from '../../platform/guess-limit.ts';
import { newOrderId, parseOrderId, type OrderId } from '../../platform/ids.ts';
import type { Mode } from '../../platform/mode.ts';
import { Problem } from '../../platform/problem.ts';
import type { Secret } from '../../platform/secret.ts';
import type { CancelOrder } from '../cancel.ts';
import { shopViewOf, type ShopOrderView } from '../order-view.ts';
import { totalOf } from '../order.ts';
import { findOrder } from '../orders.sql.ts';
import { takeRefund } from '../refunds.ts';
import { listedReturnUrl, type ReturnUrls } from '../return-url.ts';
import { readOrderInput } from '../schemas.ts';
import { findPlaced, insertOrder, isOrder, listOrders, MAX_PAY_BY_DAYS } from '../shop-orders.sql.ts';
import { readCancelInput, readOrderQuestion } from './schemas.ts';

export type ShopApiParts = {
  database: Database;
  mode: Mode;
  returnUrls: ReturnUrls;
  /** Null: these routes are off. */
  shopApiToken: Secret | null;
  guesses: GuessLimit;
  cancelOrder: CancelOrder;
};

/** What the shop's own system does with orders, opened by its bearer token. */
export function shopApiRoutes(parts: ShopApiParts): Router {
  const { database, mode, shopApiToken, cancelOrder } = parts;
  const router = Router();
  if (shopApiToken === null) return router;
  const isRight = (token: string): boolean => isSecret(token, shopApiToken);
  const opened: express.RequestHandler[] = [
    limitGuesses(parts.guesses, isRight),
    (req, _res, next) => {
      const token = bearerToken(req.get('authorization'));
      if (token === null || !isRight(token)) throw new Problem('unauthorized');
      next();
    },
    express.json({ limit: '256kb', inflate: false }),
  ];

  router.post('/orders', opened, async (req: express.Request, res: express.Response) => {
    const { status, orderId } = await place(parts, bodyOf(req));
    res.status(status).json(await shown(parts, orderId));
  });

  router.get('/orders', opened, async (req: express.Request, res: express.Response) => {
    const question = readOrderQuestion(req.query);
    if (question.after !== null && !(await isOrder(database, mode, question.after)))
      throw invalid('after', 'is not the `next` of a page');
    const { orders, next } = await listOrders(database, mode, question);
    res.set('cache-control', 'no-store').json({ orders: orders.map(shopViewOf), next });
  });

  router.post('/orders/:orderId/cancel', opened, async (req: express.Request, res: express.Response) => {
    const { reason } = readCancelInput(bodyOf(req));
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
    const body = bodyOf(req);
    const orderId = parseOrderId(req.params.orderId);
    const order = orderId === null ? null : await findOrder(database, orderId);
    if (order?.mode !== mode) throw new Problem('not-found');
    const { isNew, view } = await takeRefund(database, mode, order, body);
    res.status(isNew ? 201 : 200).json(view);
  });
  return router;
}

function bodyOf(req: express.Request): unknown {
  if (req.body === undefined) throw new Problem('unsupported-media-type', { detail: 'Send JSON.' });
  return req.body;
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
  if (placed === null) throw invalid('payBy', `must be a time in the next ${MAX_PAY_BY_DAYS} days`);
  if (!placed.isSame) throw new Problem('external-id-taken', { extra: { orderId: placed.id } });
  return { status: 200, orderId: placed.id };
}

function invalid(path: string, message: string): Problem {
  return new Problem('invalid-input', { errors: [{ path, message }] });
}

async function shown({ database }: ShopApiParts, orderId: OrderId): Promise<ShopOrderView> {
  const order = await findOrder(database, orderId);
  if (order === null) throw new Error(`Bug: order ${orderId} is gone`);
  return shopViewOf(order);
}
