import express, { Router, type RequestHandler } from 'express';
import type { Gateway } from '../gateway/gateway.ts';
import { cancelInput, listedLanding, listInput, refundInput, resumeInput, stopInput } from '../orders/input.ts';
import { shopViewOf, VIEWED } from '../orders/view.ts';
import { refundOrder, type ActParts } from '../payments/acts.ts';
import { endOrder } from '../payments/end.ts';
import { ALL, resumeCheckouts, stopCheckouts } from '../cases/stops.ts';
import { ORDER_ID } from '../platform/ids.ts';
import { formatMajor, parseMajor } from '../platform/money.ts';
import type { Prisma } from '../platform/prisma/client.ts';
import { invalidField, parseInput, Problem } from '../platform/problem.ts';
import type { Secret } from '../platform/secret.ts';
import { requireToken } from './token.ts';
import { placeShopOrder } from './place.ts';

export type ShopApiParts = ActParts & { gateway: Gateway; token: Secret | null; landings: readonly URL[] };

const PAGE_ROWS = 50;
/** The longest order that the fields allow fits: 500 lines of 200 characters, and metadata. */
const MAX_BODY = '1mb';
/** The name of the shop's system in the journal. */
const BY = 'shop';

/**
 * The API of the shop's own system, with SHOP_API_TOKEN as bearer token. Without a token, its
 * routes do not exist.
 */
export function shopApiRoutes(parts: ShopApiParts): Router {
  const router = Router();
  const guard = requireToken(parts.token === null ? [] : [parts.token], 'SHOP_API_TOKEN');
  const json = express.json({ limit: MAX_BODY, inflate: false });
  orderRoutes(router, parts, guard, json);
  refundRoute(router, parts, guard, json);
  stopRoutes(router, parts, guard, json);
  return router;
}

type Handlers = [router: Router, parts: ShopApiParts, guard: RequestHandler, json: RequestHandler];

async function viewed({ prisma, gateway: { mode } }: ShopApiParts, id: string) {
  return shopViewOf(await prisma.order.findUniqueOrThrow({ where: { id, mode }, include: VIEWED }));
}

/** @throws {Problem} 422 for an unknown filter or page */
async function filterOf({ prisma, gateway: { mode } }: ShopApiParts, query: unknown): Promise<Prisma.OrderWhereInput> {
  const { externalId, status, since, updatedSince, after } = parseInput(listInput, query);
  const last = after === undefined ? undefined : await prisma.order.findUnique({ where: { id: after, mode } });
  if (last === null) throw invalidField('after', 'is not the `next` of a page');
  const where: Prisma.OrderWhereInput = { mode };
  if (externalId !== undefined) where.externalId = externalId;
  if (status !== undefined) where.status = status;
  if (since !== undefined) where.createdAt = { gte: new Date(since) };
  if (updatedSince !== undefined) where.updatedAt = { gte: new Date(updatedSince) };
  // A page begins after a position in time, not after a row of the previous page. That row may no
  // longer match the filter, and the rows after it must not be skipped.
  if (last !== undefined) {
    const { id, createdAt } = last;
    where.OR = [{ createdAt: { lt: createdAt } }, { createdAt, id: { lt: id } }];
  }
  return where;
}

function orderRoutes(...[router, parts, guard, json]: Handlers): void {
  const { prisma } = parts;
  router.post('/orders', guard, json, async (req, res) => {
    const { order, isNew } = await placeShopOrder(parts, req.body, (given) => listedLanding(given, parts.landings));
    res.status(isNew ? 201 : 200).json(shopViewOf(order));
  });

  router.get('/orders', guard, async (req, res) => {
    const orders = await prisma.order.findMany({
      where: await filterOf(parts, req.query),
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: PAGE_ROWS,
      include: VIEWED,
    });
    res.json({ orders: orders.map(shopViewOf), next: orders.length === PAGE_ROWS ? orders.at(-1)?.id : null });
  });

  router.post('/orders/:orderId/cancel', guard, json, async (req, res) => {
    const { orderId } = req.params as { orderId: string };
    const { reason } = parseInput(cancelInput, req.body);
    const ended = ORDER_ID.test(orderId) ? await endOrder(parts, orderId, BY, reason) : 'unknown-order';
    if (ended === 'unknown-order') throw new Problem('not-found');
    if (ended === 'paid') throw new Problem('already-paid');
    if (ended === 'review') throw new Problem('under-review');
    if (ended === 'unanswered')
      throw new Problem('payment-service-unavailable', {
        detail: 'Nothing is cancelled until the service says that nothing was paid.',
        retryAfterSec: 10,
      });
    res.json(await viewed(parts, orderId));
  });
}

function refundRoute(...[router, parts, guard, json]: Handlers): void {
  const { prisma } = parts;
  const { mode } = parts.gateway;
  router.post('/orders/:orderId/refunds', guard, json, async (req, res) => {
    const { orderId } = req.params as { orderId: string };
    const order = ORDER_ID.test(orderId) ? await prisma.order.findUnique({ where: { id: orderId, mode } }) : null;
    if (order === null) throw new Problem('not-found');
    const { amount: text, reason, externalId = null, elsewhere = false } = parseInput(refundInput, req.body);
    const { currency } = order;
    const amount = parseMajor(text, currency);
    if (amount === null || amount <= 0n)
      throw invalidField('amount', `must be above zero and no finer than ${currency} allows`);
    const refunded = await refundOrder(parts, orderId, { amount, reason, externalId, elsewhere, by: BY });
    if (refunded.outcome === 'not-paid') throw new Problem('not-paid');
    if (refunded.outcome === 'differs') throw new Problem('refund-differs');
    if (refunded.outcome === 'too-much')
      throw new Problem('refund-too-large', {
        detail: `${currency} ${formatMajor({ amount: refunded.left, currency })} can still be refunded.`,
      });
    res.status(201).json({
      refundId: String(refunded.refund.id),
      amount: formatMajor({ amount, currency }),
      currency,
      order: await viewed(parts, orderId),
    });
  });
}

function stopRoutes(...[router, { prisma, gateway }, guard, json]: Handlers): void {
  const { mode } = gateway;
  router.post('/checkouts/stop', guard, json, async (req, res) => {
    const { currency = ALL, reason } = parseInput(stopInput, req.body);
    await stopCheckouts(prisma, mode, { what: currency.toUpperCase(), by: BY, reason });
    res.json({ stopped: currency.toUpperCase() });
  });
  router.post('/checkouts/resume', guard, json, async (req, res) => {
    const { currency = ALL } = parseInput(resumeInput, req.body);
    const wasStopped = await resumeCheckouts(prisma, mode, currency.toUpperCase(), BY);
    res.json({ resumed: currency.toUpperCase(), wasStopped });
  });
}
