import type { VNode } from 'preact';
import type { OrderId, Reference } from '../../platform/ids.ts';
import { Action, AdminPage, Facts, type Frame } from '../layout/frame.tsx';
import { foreignText } from '../../platform/terminal.ts';
import { Moment, OrderLink } from '../layout/parts.tsx';
import { resultOf } from './webhook-parts.tsx';
import type { StoredWebhook } from './webhooks.sql.ts';

/** A payment of ours that a webhook names. */
export type NamedPayment = { reference: Reference; orderId: OrderId };

type WebhookProps = { frame: Frame; webhook: StoredWebhook; payment: NamedPayment | null };

export function WebhookPage({ frame, webhook, payment }: WebhookProps): VNode {
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
