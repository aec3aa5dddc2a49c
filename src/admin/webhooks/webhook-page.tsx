import type { VNode } from 'preact';
import type { OrderId, Reference } from '../../platform/ids.ts';
import { Action, AdminPage, Facts, type Frame } from '../layout/frame.tsx';
import { foreignText } from '../../platform/terminal.ts';
import { Moment, OrderLink } from '../layout/parts.tsx';
import { resultOf } from './webhook-parts.tsx';
import { type StoredWebhook, paymentsAmong, webhookById } from './webhooks.sql.ts';
import { sendPage } from '../../platform/html.tsx';
import type { Database } from '../../platform/database/database.ts';
import { Problem } from '../../platform/problem.ts';
import { referenceIn } from '../../webhooks/receive.ts';
import { refusedLately } from '../../webhooks/refused-webhooks.sql.ts';
import type { AdminParts } from '../pages.ts';
import { ROW_ID, readList, WebhookListPage } from './webhook-list-page.tsx';

/** A payment of ours that a webhook names. */
type NamedPayment = { reference: Reference; orderId: OrderId };

type WebhookProps = { frame: Frame; webhook: StoredWebhook; payment: NamedPayment | null };

function WebhookPage({ frame, webhook, payment }: WebhookProps): VNode {
  const { id, reference, authenticity, deliveries, contentType, body } = webhook;
  return (
    <AdminPage frame={frame} title={`Webhook #${id}`} here="/admin/webhooks">
      <section aria-label="What came">
        <Facts
          facts={{
            Received: (
              <>
                <Moment at={webhook.receivedAt} />
                {deliveries > 1 && (
                  <>
                    , {deliveries} times, last <Moment at={webhook.lastReceivedAt} />
                  </>
                )}
              </>
            ),
            Result: resultOf(webhook),
            Order: <OrderLink id={payment?.orderId ?? null} />,
            Signature: authenticity === 'signed' ? 'good' : 'none',
            Mode: webhook.mode,
            Type: contentType === '' ? 'none' : contentType,
          }}
        />
        <h2>Body, {body.length} bytes</h2>
        <pre tabIndex={0}>{foreignText(body)}</pre>
      </section>
      {payment !== null && frame.visitor.may('webhooks') && (
        <section aria-labelledby="again">
          <h2 id="again">Check again</h2>
          <p class="none">
            {reference === null
              ? 'When it came, no reference was found in it. Today’s dialect finds one: we ask the service about that payment.'
              : 'We ask the service about the payment, as when the webhook came.'}
          </p>
          <Action
            visitor={frame.visitor}
            address={`/admin/webhooks/${id}`}
            about={payment.reference}
            id="ask"
            button="Check with the payment service now"
          />
        </section>
      )}
    </AdminPage>
  );
}

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
