import { Router } from 'express';
import { sendPage } from '../../platform/html.tsx';
import { parseReference } from '../../platform/ids.ts';
import { Problem } from '../../platform/problem.ts';
import { referenceIn } from '../../webhooks/receive.ts';
import type { AdminParts } from '../admin-parts.ts';
import { actionHandler, frameOf } from '../actions/action-handler.ts';
import { fitting } from '../layout/query.ts';
import {
  latestWebhooks,
  orderOfPayment,
  PAGE_ROWS,
  webhookById,
  type StoredWebhook,
} from './webhooks.sql.ts';
import { WebhookListPage, WebhookPage, type NamedPayment } from './webhook-pages.tsx';

const ROW_ID = /^\d{1,18}$/;

/** Which webhooks has the service sent? */
export function receivedWebhookRoutes({ database, gateway, guard, form, askService }: AdminParts): Router {
  const router = Router();
  const { mode } = gateway;

  async function webhookNamed(id: unknown): Promise<StoredWebhook> {
    const webhook = ROW_ID.test(String(id)) ? await webhookById(database, String(id)) : null;
    if (webhook === null) throw new Problem('not-found');
    return webhook;
  }

  router.get('/admin/webhooks', guard.requireLogin, async (req, res) => {
    const reference = parseReference(req.query.reference);
    const rows = await latestWebhooks(database, { reference, before: fitting(req.query.before, ROW_ID) });
    const next = rows.length > PAGE_ROWS ? String(rows[PAGE_ROWS - 1]?.id) : null;
    const page = { webhooks: rows.slice(0, PAGE_ROWS), reference, next };
    sendPage(res, WebhookListPage({ frame: frameOf(guard, mode, req), ...page }));
  });

  /** The payment that it names: as read when it came, or else as read with today's dialect. */
  async function paymentOf({ reference, body }: StoredWebhook): Promise<NamedPayment | null> {
    const named = reference ?? referenceIn(body, gateway.dialect)?.reference ?? null;
    const orderId = named === null ? null : await orderOfPayment(database, mode, named);
    return named === null || orderId === null ? null : { reference: named, orderId };
  }

  router.get('/admin/webhooks/:id', guard.requireLogin, async (req, res) => {
    const webhook = await webhookNamed(req.params.id);
    const payment = await paymentOf(webhook);
    sendPage(res, WebhookPage({ frame: frameOf(guard, mode, req), webhook, payment }));
  });

  router.post(
    '/admin/webhooks/:id',
    guard.requireLogin,
    form,
    guard.requireForm,
    actionHandler(
      (req) => `/admin/webhooks/${encodeURIComponent(String(req.params.id))}`,
      async ({ by, note }, req) => {
        const webhook = await webhookNamed(req.params.id);
        const payment = await paymentOf(webhook);
        if (payment === null) return { unknown: 1 };
        return askService({ reference: payment.reference, by, note, webhook: String(webhook.id) });
      },
    ),
  );
  return router;
}
