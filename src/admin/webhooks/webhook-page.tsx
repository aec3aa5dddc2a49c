import type { VNode } from 'preact';
import type { OrderId, Reference } from '../../platform/ids.ts';
import { AdminPage, FormToken, WhoAndWhy, type Frame } from '../layout/frame.tsx';
import { foreignText } from '../../platform/foreign-text.ts';
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
        <dl class="facts">
          <dt>Received</dt>
          <dd>
            <Moment at={webhook.receivedAt} />
            {deliveries > 1 && (
              <>
                , {deliveries} times, last <Moment at={webhook.lastReceivedAt} />
              </>
            )}
          </dd>
          <dt>Result</dt>
          <dd>{resultOf(webhook)}</dd>
          <dt>Order</dt>
          <dd>
            <OrderLink id={payment?.orderId ?? null} />
          </dd>
          <dt>Signature</dt>
          <dd>{authenticity === 'signed' ? 'good' : 'none'}</dd>
          <dt>Mode</dt>
          <dd>{webhook.mode}</dd>
          <dt>Type</dt>
          <dd>{contentType === '' ? 'none' : contentType}</dd>
        </dl>
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
          <form method="post" action={`/admin/webhooks/${id}`} class="action">
            <FormToken visitor={frame.visitor} />
            <input type="hidden" name="id" value={payment.reference} />
            <WhoAndWhy visitor={frame.visitor} id="ask" />
            <p class="field">
              <button>Check with the payment service now</button>
            </p>
          </form>
        </section>
      )}
    </AdminPage>
  );
}
