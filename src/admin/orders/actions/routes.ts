import { Router, type Request } from 'express';
import { reopenOrder } from '../../../orders/reopen.sql.ts';
import { parseOrderId, parseReference } from '../../../platform/ids.ts';
import { actionHandler, frameOf } from '../../actions/action-handler.ts';
import type { AdminParts } from '../../admin-parts.ts';
import { cancelHandler } from '../cancel.ts';
import { orderPage } from '../read-order.ts';
import { confirmRefund, writeRefund } from '../refund-actions.ts';

/** The page of the order that the form names, by any of its names. */
const toOrder = (_req: Request, fields: URLSearchParams): string =>
  `/admin/orders?q=${encodeURIComponent(fields.get('id') ?? '')}`;

/** What a person does on the page of an order. */
export function orderActionRoutes(parts: AdminParts): Router {
  const { database, gateway, guard, form, askService } = parts;
  const { mode } = gateway;
  const posted = [guard.requireLogin, form, guard.requireForm];
  const router = Router();

  router.post(
    '/admin/checks',
    ...posted,
    actionHandler(toOrder, ({ ids: [id], by, note }) => {
      const reference = parseReference(id);
      return reference === null ? { unknown: 1 } : askService({ reference, by, note, webhook: null });
    }),
  );

  router.post(
    '/admin/refunds',
    ...posted,
    actionHandler(
      toOrder,
      (asked) => writeRefund(database, mode, asked),
      (asked, req) => confirmRefund(database, mode, asked, frameOf(guard, mode, req)),
    ),
  );
  router.post(
    '/admin/orders/customer',
    ...posted,
    actionHandler(
      toOrder,
      () => ({ unknown: 1 }),
      async ({ ids: [id], by, note }, req) => {
        const orderId = parseOrderId(id);
        return orderId && orderPage(database, orderId, frameOf(guard, mode, req), { by, note });
      },
    ),
  );
  router.post('/admin/orders/cancel', ...posted, cancelHandler(parts));
  router.post(
    '/admin/orders/reopen',
    ...posted,
    actionHandler(toOrder, async ({ ids: [id], by, note }) => {
      const orderId = parseOrderId(id);
      const isDone = orderId !== null && (await reopenOrder(database, mode, orderId, { by, note }));
      return isDone ? { reopened: 1 } : { 'not-reopened': 1 };
    }),
  );
  return router;
}
