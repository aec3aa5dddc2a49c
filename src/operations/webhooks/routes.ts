import { Router } from 'express';
import { sendPage } from '../../platform/html.tsx';
import { ID_PATTERN } from '../../platform/ids.ts';
import { Problem } from '../../platform/problem.ts';
import type { AdminParts } from '../admin-parts.ts';
import { deedHandler, frameOf } from '../deeds/answer.ts';
import { fitting } from '../pages/query.ts';
import { latestWebhooks, PAGE_ROWS, webhookById, type StoredWebhook } from './repository.ts';
import { WebhookListPage, WebhookPage } from './webhook-pages.tsx';

const ROW_ID = /^\d{1,18}$/;

/** What has the service called us about? */
export function receivedWebhookRoutes({ database, gateway, guard, form, askService }: AdminParts): Router {
  const router = Router();
  const { mode } = gateway;

  async function webhookNamed(id: unknown): Promise<StoredWebhook> {
    const webhook = ROW_ID.test(String(id)) ? await webhookById(database, String(id)) : null;
    if (webhook === null) throw new Problem('not-found');
    return webhook;
  }

  router.get('/admin/webhooks', guard.requireLogin, async (req, res) => {
    const reference = fitting(req.query.reference, ID_PATTERN);
    const rows = await latestWebhooks(database, { reference, before: fitting(req.query.before, ROW_ID) });
    const next = rows.length > PAGE_ROWS ? String(rows[PAGE_ROWS - 1]?.id) : null;
    const page = { webhooks: rows.slice(0, PAGE_ROWS), reference, next };
    sendPage(res, WebhookListPage({ frame: frameOf(guard, mode, req), ...page }));
  });

  router.get('/admin/webhooks/:id', guard.requireLogin, async (req, res) => {
    const webhook = await webhookNamed(req.params.id);
    sendPage(res, WebhookPage({ frame: frameOf(guard, mode, req), webhook }));
  });

  router.post(
    '/admin/webhooks/:id',
    guard.requireLogin,
    form,
    guard.requireForm,
    deedHandler(
      (req) => `/admin/webhooks/${encodeURIComponent(String(req.params.id))}`,
      async ({ by, note }, req) => {
        const { id, reference } = await webhookNamed(req.params.id);
        if (reference === null) return { unknown: 1 };
        return askService({ reference, by, note, webhook: String(id) });
      },
    ),
  );
  return router;
}
