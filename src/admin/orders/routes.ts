import { Router } from 'express';
import { sendPage } from '../../platform/html.tsx';
import { parseOrderId } from '../../platform/ids.ts';
import { Problem } from '../../platform/problem.ts';
import type { AdminParts } from '../admin-parts.ts';
import { disputePack } from '../../reporting/dispute.ts';
import { disputeOf } from '../../reporting/dispute.sql.ts';
import { matchOf } from '../../reporting/order-search.sql.ts';
import { orderActionRoutes } from './actions/routes.ts';
import { orderPage } from './read-order.ts';
import { OrderListPage } from './order-list-page.tsx';
import { findOrders } from './find-orders.sql.ts';
import { estimateOrders } from './orders.sql.ts';
import { readSearch } from './search.ts';

/** Which order, and what happened to it? */
export function orderListRoutes(parts: AdminParts): Router {
  const { gateway, guard, showOnly } = parts;
  const router = Router();
  const { mode } = gateway;

  const showList = showOnly(async (req, res, { database, frame }) => {
    const search = readSearch(req.query);
    const { words } = search;
    const match = words === null ? null : await matchOf(database, mode, words);
    const [named, ...others] = match !== null && 'ids' in match ? match.ids : [];
    if (named !== undefined && others.length === 0) {
      const { told } = req.query;
      res.redirect(
        303,
        `/admin/orders/${named}${typeof told === 'string' ? `?told=${encodeURIComponent(told)}` : ''}`,
      );
      return;
    }
    const [page, estimate] = await Promise.all([
      findOrders(database, mode, search, match),
      estimateOrders(database),
    ]);
    sendPage(res, OrderListPage({ frame, search, page, estimate }));
  });

  router.get('/admin/orders', guard.requireLogin, showList);

  const showOrder = showOnly(async (req, res, { database, frame }) => {
    const orderId = parseOrderId(req.params.orderId);
    const page = orderId === null ? null : await orderPage(database, orderId, frame);
    if (page === null) throw new Problem('not-found');
    sendPage(res, page);
  });

  router.get('/admin/orders/:orderId', guard.requireLogin, showOrder);

  const showDispute = showOnly(async (req, res, { database }) => {
    const orderId = parseOrderId(req.params.orderId);
    const dispute = orderId === null ? null : await disputeOf(database, orderId);
    if (dispute === null) throw new Problem('not-found');
    res
      .attachment(`dispute-${dispute.order.orderId}.html`)
      .set('cache-control', 'no-store')
      .send(disputePack(dispute, { as: 'html', withCustomer: false }));
  });

  router.get('/admin/orders/:orderId/dispute', guard.requireLogin, showDispute);

  router.use(orderActionRoutes(parts));
  return router;
}
