import { Router } from 'express';
import { sendPage } from '../../platform/html.tsx';
import { parseOrderId } from '../../platform/ids.ts';
import { Problem } from '../../platform/problem.ts';
import type { AdminParts } from '../admin-parts.ts';
import { frameOf } from '../actions/action-handler.ts';
import { disputePack } from '../../reporting/dispute.ts';
import { disputeOf } from '../../reporting/dispute.sql.ts';
import { orderIdOf } from '../../reporting/timeline.sql.ts';
import { orderActionRoutes } from './actions/routes.ts';
import { orderPage } from './read-order.ts';
import { OrderListPage } from './order-list-page.tsx';
import { estimateOrders, findOrders } from './orders.sql.ts';
import { isEmail, readSearch } from './search.ts';

/** Which order, and what happened to it? */
export function orderListRoutes(parts: AdminParts): Router {
  const { database, gateway, guard } = parts;
  const router = Router();
  const { mode } = gateway;

  router.get('/admin/orders', guard.requireLogin, async (req, res) => {
    const search = readSearch(req.query);
    const { words } = search;
    const named = words === null || isEmail(words) ? null : await orderIdOf(database, words);
    if (named !== null) {
      const { told } = req.query;
      res.redirect(
        303,
        `/admin/orders/${named}${typeof told === 'string' ? `?told=${encodeURIComponent(told)}` : ''}`,
      );
      return;
    }
    const isNobody = words !== null && !isEmail(words);
    const [page, estimate] = await Promise.all([
      isNobody ? { orders: [], next: null, lookedBackTo: null } : findOrders(database, mode, search),
      estimateOrders(database),
    ]);
    sendPage(res, OrderListPage({ frame: frameOf(guard, mode, req), search, page, estimate }));
  });

  router.get('/admin/orders/:orderId', guard.requireLogin, async (req, res) => {
    const orderId = parseOrderId(req.params.orderId);
    const page = orderId === null ? null : await orderPage(database, orderId, frameOf(guard, mode, req));
    if (page === null) throw new Problem('not-found');
    sendPage(res, page);
  });

  router.get('/admin/orders/:orderId/dispute', guard.requireLogin, async (req, res) => {
    const orderId = parseOrderId(req.params.orderId);
    const dispute = orderId === null ? null : await disputeOf(database, orderId);
    if (dispute === null) throw new Problem('not-found');
    res
      .attachment(`dispute-${dispute.order.orderId}.html`)
      .set('cache-control', 'no-store')
      .send(disputePack(dispute, { as: 'html', withCustomer: false }));
  });

  router.use(orderActionRoutes(parts));
  return router;
}
