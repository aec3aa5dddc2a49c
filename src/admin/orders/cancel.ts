import type { RequestHandler } from 'express';
import { findOrder } from '../../orders/orders.sql.ts';
import { parseOrderId } from '../../platform/ids.ts';
import { actionHandler, frameOf } from '../actions/action-handler.ts';
import type { AdminParts } from '../admin-parts.ts';
import { ConfirmCancel } from './cancel-parts.tsx';

/** Cancels an order under the name of the person, who has seen before what that means. */
export function cancelHandler({ database, gateway, guard, cancelOrder }: AdminParts): RequestHandler {
  const { mode } = gateway;
  return actionHandler(
    (_req, fields) => `/admin/orders?q=${encodeURIComponent(fields.get('id') ?? '')}`,
    async ({ ids: [id], by, note }) => {
      const orderId = parseOrderId(id);
      const result = orderId === null ? null : await cancelOrder(orderId, { by, reason: note });
      return result === null || result.outcome === 'unknown-order' ? { unknown: 1 } : { [result.outcome]: 1 };
    },
    async (form, req) => {
      if (form.field('sure') === 'yes') return null;
      const orderId = parseOrderId(form.ids[0]);
      const order = orderId === null ? null : await findOrder(database, orderId);
      return order?.mode === mode ? ConfirmCancel({ frame: frameOf(guard, mode, req), form, order }) : null;
    },
  );
}
