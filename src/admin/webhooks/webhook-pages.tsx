import type { VNode } from 'preact';
import type { OrderId, Reference } from '../../platform/ids.ts';
import { AdminPage, FormToken, WhoAndWhy, type Frame } from '../layout/frame.tsx';
import { foreignText } from '../../platform/foreign-text.ts';
import { Moment, Older, OrderLink, Status, Table } from '../layout/parts.tsx';
import type { StoredWebhook, WebhookRow } from './webhooks.sql.ts';

type ListProps = {
  frame: Frame;
  webhooks: readonly WebhookRow[];
  reference: Reference | null;
  next: string | null;
};

export function WebhookListPage({ frame, webhooks, reference, next }: ListProps): VNode {
  return (
    <AdminPage frame={frame} title="Webhooks received" here="/admin/webhooks">
      <form method="get" action="/admin/webhooks" class="filters" role="search">
        <p class="field wide">
          <label for="reference">Payment reference</label>
          <input
            id="reference"
            name="reference"
            value={reference ?? ''}
            autocomplete="off"
            spellcheck={false}
          />
        </p>
        <p class="field">
          <button>Search</button>
        </p>
      </form>
      <p class="none">
        Newest first, times in UTC. A webhook is only a hint: nothing in it is believed, it makes us ask the
        service.
      </p>
      {webhooks.length === 0 ? <p class="none">None.</p> : <WebhookTable webhooks={webhooks} />}
      {next !== null && (
        <Older
          address="/admin/webhooks"
          params={{ ...(reference !== null && { reference }), before: next }}
        />
      )}
    </AdminPage>
  );
}

function WebhookTable({ webhooks }: Pick<ListProps, 'webhooks'>): VNode {
  return (
    <Table
      label="Webhooks"
      head={[
        'Received',
        'Webhook',
        'Reference',
        'Outcome',
        'Signature',
        'Mode',
        { number: 'Times' },
        { number: 'Bytes' },
      ]}
    >
      {webhooks.map((webhook) => (
        <tr key={String(webhook.id)}>
          <td>
            <Moment at={webhook.receivedAt} />
          </td>
          <td>
            <a href={`/admin/webhooks/${webhook.id}`}>#{String(webhook.id)}</a>
          </td>
          <td>
            <code>{webhook.reference ?? ''}</code>
          </td>
          <td>
            <Status word={webhook.outcome} />
          </td>
          <td>{webhook.authenticity}</td>
          <td>{webhook.mode}</td>
          <td class="number">{webhook.deliveries}</td>
          <td class="number">{webhook.bytes}</td>
        </tr>
      ))}
    </Table>
  );
}

/** A payment of ours that a webhook names. */
export type NamedPayment = { reference: Reference; orderId: OrderId };

type WebhookProps = { frame: Frame; webhook: StoredWebhook; payment: NamedPayment | null };

export function WebhookPage({ frame, webhook, payment }: WebhookProps): VNode {
  const { id, reference, outcome, authenticity, deliveries, contentType, body } = webhook;
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
          <dt>Outcome</dt>
          <dd>
            <Status word={outcome} />{' '}
            {outcome === 'hinted' ? 'it named a payment of ours' : 'it named no payment of ours'},{' '}
            {authenticity}
          </dd>
          <dt>Order</dt>
          <dd>
            <OrderLink id={payment?.orderId ?? null} />
          </dd>
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
          <h2 id="again">Act on it again</h2>
          <p class="none">
            {reference === null
              ? 'When it came, no reference was found in it. Today’s dialect finds one: the service is asked about that payment.'
              : 'The service is asked about the payment, as when the webhook came.'}
          </p>
          <form method="post" action={`/admin/webhooks/${id}`} class="action">
            <FormToken visitor={frame.visitor} />
            <input type="hidden" name="id" value={payment.reference} />
            <WhoAndWhy visitor={frame.visitor} id="ask" />
            <p class="field">
              <button>Ask the service now</button>
            </p>
          </form>
        </section>
      )}
    </AdminPage>
  );
}
