import { sendPage } from '../../platform/html.tsx';
import type { Database } from '../../platform/database/database.ts';
import { Problem } from '../../platform/problem.ts';
import { referenceIn } from '../../webhooks/receive.ts';
import { refusedLately } from '../../webhooks/refused-webhooks.sql.ts';
import type { AdminParts } from '../admin-parts.ts';
import { ROW_ID, readList } from './read-list.ts';
import { paymentsAmong, webhookById, type StoredWebhook } from './webhooks.sql.ts';
import { WebhookListPage } from './webhook-list-page.tsx';
import { WebhookPage, type NamedPayment } from './webhook-page.tsx';

const AN_HOUR_SEC = 3_600;

/** Which webhooks has the service sent? */
export function receivedWebhookRoutes({
  database: primary,
  gateway,
  show,
  act,
  askService,
}: AdminParts): void {
  const { mode, dialect } = gateway;

  async function webhookNamed(database: Database, id: unknown): Promise<StoredWebhook> {
    const webhook = ROW_ID.test(String(id)) ? await webhookById(database, String(id)) : null;
    if (webhook === null) throw new Problem('not-found');
    return webhook;
  }

  show('/admin/webhooks', async (req, res, { database, frame }) => {
    const [page, lately] = await Promise.all([
      readList(database, mode, req.query),
      refusedLately(database, mode, AN_HOUR_SEC),
    ]);
    const { signature } = dialect.webhook;
    sendPage(res, WebhookListPage({ frame, ...page, signature, refusedLately: lately }));
  });

  /** The payment that it names: as read when it came, or else as read with today's dialect. */
  async function paymentOf(
    database: Database,
    { reference, body }: StoredWebhook,
  ): Promise<NamedPayment | null> {
    const named = reference ?? referenceIn(body, dialect)?.reference ?? null;
    const [payment] = named === null ? [] : await paymentsAmong(database, mode, [named]);
    return payment ?? null;
  }

  show('/admin/webhooks/:id', async (req, res, { database, frame }) => {
    const webhook = await webhookNamed(database, req.params.id);
    const payment = await paymentOf(database, webhook);
    sendPage(res, WebhookPage({ frame, webhook, payment }));
  });
  act(
    '/admin/webhooks/:id',
    (req) => `/admin/webhooks/${encodeURIComponent(String(req.params.id))}`,
    async ({ by, note }, req) => {
      const webhook = await webhookNamed(primary, req.params.id);
      const payment = await paymentOf(primary, webhook);
      if (payment === null) return { unknown: 1 };
      return askService({ reference: payment.reference, by, note, webhook: String(webhook.id) });
    },
  );
}
