import type { Request } from 'express';
import type { VNode } from 'preact';
import { eventsOf } from '../../fulfilment/events.sql.ts';
import { noteLook } from '../../orders/erasure.sql.ts';
import { findOrder } from '../../orders/orders.sql.ts';
import { reopenOrder } from '../../orders/reopen.sql.ts';
import type { Database } from '../../platform/database/database.ts';
import { sendPage } from '../../platform/html.tsx';
import { parseOrderId, parseReference, type OrderId } from '../../platform/ids.ts';
import { Problem } from '../../platform/problem.ts';
import { emailOf } from '../../reporting/circumstances.sql.ts';
import { disputePack } from '../../reporting/dispute-page.tsx';
import { disputeOf } from '../../reporting/dispute.sql.ts';
import { explain } from '../../reporting/explain.ts';
import { matchOf } from '../../reporting/order-search.sql.ts';
import { type AdminParts, frameOf } from '../pages.ts';
import type { Frame } from '../layout/frame.tsx';
import { releaseOf } from '../releases/releases.sql.ts';
import { ConfirmCancel } from './order-actions.tsx';
import { evidenceOf, findOrders } from './find-orders.sql.ts';
import { OrderListPage } from './order-list-page.tsx';
import { OrderDetailPage } from './order-page.tsx';
import { confirmRefund, noteRefund } from './refund-form.tsx';
import { readSearch } from './search.ts';

/** Which order, and what happened to it? */
export function orderRoutes(parts: AdminParts): void {
  const { gateway, show } = parts;
  const { mode } = gateway;

  show('/admin/orders', async (req, res, { database, frame }) => {
    const search = readSearch(req.query);
    const { words } = search;
    const match = words === null ? null : await matchOf(database, mode, words);
    const [named, ...others] = match !== null && 'ids' in match ? match.ids : [];
    if (named !== undefined && others.length === 0) {
      const { told } = req.query;
      const query = typeof told === 'string' ? `?told=${encodeURIComponent(told)}` : '';
      res.redirect(303, `/admin/orders/${named}${query}`);
      return;
    }
    const page = await findOrders(database, mode, search, match);
    sendPage(res, OrderListPage({ frame, search, page }));
  });

  show('/admin/orders/:orderId', async (req, res, { database, frame }) => {
    const orderId = parseOrderId(req.params.orderId);
    const page = orderId === null ? null : await orderPage(database, orderId, frame);
    if (page === null) throw new Problem('not-found');
    sendPage(res, page);
  });

  show('/admin/orders/:orderId/dispute', async (req, res, { database }) => {
    const orderId = parseOrderId(req.params.orderId);
    const dispute = orderId === null ? null : await disputeOf(database, orderId);
    if (dispute === null) throw new Problem('not-found');
    res
      .attachment(`dispute-${dispute.order.orderId}.html`)
      .set('cache-control', 'no-store')
      .send(disputePack(dispute, { as: 'html', withCustomer: false }));
  });

  addActions(parts);
}

/** The page of the order that the form names, by any of its names. */
const toOrder = (_req: Request, fields: URLSearchParams): string =>
  `/admin/orders?q=${encodeURIComponent(fields.get('id') ?? '')}`;

/** What a person does on the page of an order. */
function addActions({ database, gateway, guard, act, askService, cancelOrder }: AdminParts): void {
  const { mode } = gateway;
  const frameFor = (req: Request): Frame => frameOf(guard, mode, req);

  act('/admin/checks', toOrder, ({ ids: [id], by, note }) => {
    const reference = parseReference(id);
    return reference === null ? { unknown: 1 } : askService({ reference, by, note, webhook: null });
  });
  act(
    '/admin/refunds',
    toOrder,
    (asked) => noteRefund(database, mode, asked),
    (asked, req) => confirmRefund(database, mode, asked, frameFor(req)),
  );
  act(
    '/admin/orders/customer',
    toOrder,
    () => ({ unknown: 1 }),
    async ({ ids: [id], by, note }, req) => {
      const orderId = parseOrderId(id);
      return orderId && orderPage(database, orderId, frameFor(req), { by, note });
    },
  );
  act(
    '/admin/orders/cancel',
    toOrder,
    async ({ ids: [id], by, note }) => {
      const orderId = parseOrderId(id);
      const result = orderId === null ? null : await cancelOrder(orderId, { by, reason: note });
      return result === null || result.outcome === 'unknown-order' ? { unknown: 1 } : { [result.outcome]: 1 };
    },
    async (form, req) => {
      if (form.field('sure') === 'yes') return null;
      const orderId = parseOrderId(form.ids[0]);
      const order = orderId === null ? null : await findOrder(database, orderId);
      return order?.mode === mode ? ConfirmCancel({ frame: frameFor(req), form, order }) : null;
    },
  );
  act('/admin/orders/reopen', toOrder, async ({ ids: [id], by, note }) => {
    const orderId = parseOrderId(id);
    const isDone = orderId !== null && (await reopenOrder(database, mode, orderId, { by, note }));
    return isDone ? { reopened: 1 } : { 'not-reopened': 1 };
  });
}

/**
 * The page of an order; null when there is none.
 * @param look who sees the customer's whole address on it, and why; that is written into the journal first
 */
async function orderPage(
  database: Database,
  orderId: OrderId,
  frame: Frame,
  look?: { by: string; note: string },
): Promise<VNode | null> {
  const email = look === undefined ? null : await emailOf(database, orderId);
  if (look !== undefined && email !== null) await noteLook(database, [orderId], look.by, look.note);
  const story = await explain(database, orderId);
  if (story === null) return null;
  const [evidence, release, events] = await Promise.all([
    evidenceOf(database, orderId),
    releaseOf(database, orderId),
    eventsOf(database, orderId),
  ]);
  const { orderDetail } = story;
  return OrderDetailPage({ frame, orderDetail, evidence, release, events, ...(email !== null && { email }) });
}
