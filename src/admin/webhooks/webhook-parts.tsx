import type { VNode } from 'preact';
import type { Dialect } from '../../gateway/dialect/dialect.ts';
import type { Reference } from '../../platform/ids.ts';
import type {
  RefusedLately,
  RefusedMinute,
  RefusedSample,
  RefusalReason,
} from '../../webhooks/refused-webhooks.sql.ts';
import { Moment, Table } from '../layout/parts.tsx';
import type { FoundPayment, WebhookRow } from './webhooks.sql.ts';
import type { OrderStatus } from '../../orders/order.ts';

export type Signature = Dialect['webhook']['signature'];

/** What was refused in the last hour, why, and what to check. */
export function RefusedLatelySection(props: {
  refused: readonly RefusedLately[];
  signature: Signature;
}): VNode | null {
  const { refused, signature } = props;
  if (refused.length === 0) return null;
  return (
    <section class="raised" aria-label="Refused in the last hour">
      {refused.map(({ reason, times, lastAt, newest }) => (
        <div key={reason}>
          <p>
            <strong>{times.toLocaleString('en')} refused in the last hour</strong> ({REFUSALS[reason].why}) ·
            last at <Moment at={lastAt} /> from {addressOf(newest)}
          </p>
          <p class="none">{REFUSALS[reason].check}</p>
        </div>
      ))}
      <details>
        <summary>For the developer, to copy</summary>
        <pre class="copy" tabIndex={0}>
          {refused.map((each) => noteOf(each, signature)).join('\n\n')}
        </pre>
      </details>
    </section>
  );
}

function addressOf(sample: RefusedSample | null): string {
  return sample === null || sample.address === '' ? 'an unknown address' : sample.address;
}

function noteOf({ reason, times, lastAt, newest }: RefusedLately, signature: Signature): string {
  const { why, status, check } = REFUSALS[reason];
  return [
    `POST /webhooks/payments answered ${status} ${times} times in an hour: ${why}.`,
    `Last ${lastAt.toISOString()} from ${addressOf(newest)}, ` +
      `reference ${newest?.reference ?? 'not readable'}.`,
    ...(reason === 'bad-signature' ? [`Expected (webhook.signature): ${JSON.stringify(signature)}`] : []),
    check,
  ].join('\n');
}

/** The newest few of each minute, and how many more there were. */
export function RefusedTable(props: {
  minutes: readonly RefusedMinute[];
  payments: readonly FoundPayment[];
}): VNode {
  const { minutes, payments } = props;
  const orderOf = (reference: Reference | null) =>
    payments.find((payment) => payment.reference === reference)?.orderId;
  return (
    <Table
      label="Refused webhooks"
      head={['When', 'About order', { words: 'Result' }, 'From']}
      rows={minutes.flatMap(({ reason, times, samples }) =>
        samples.map((sample, nth) => [
          <Moment at={new Date(sample.at)} />,
          <AboutOrder orderId={orderOf(sample.reference) ?? null} reference={sample.reference} />,
          <>
            refused: {REFUSALS[reason].why}
            {nth === samples.length - 1 &&
              times > samples.length &&
              `, and ${(times - samples.length).toLocaleString('en')} more in this minute`}
          </>,
          addressOf(sample),
        ]),
      )}
    />
  );
}

/** The order in short, or the unknown reference. */
export function AboutOrder({
  orderId,
  reference,
}: {
  orderId: string | null;
  reference: string | null;
}): VNode {
  if (orderId !== null) return <a href={`/admin/orders/${orderId}`}>{orderId.slice(0, 8)}</a>;
  if (reference === null) return <span class="none">no reference</span>;
  return <code>{reference}</code>;
}

const CHECKED: Readonly<Record<OrderStatus, string>> = {
  pending: 'not paid yet',
  paid: 'its order was paid by another payment',
  failed: 'payment failed',
  expired: 'payment expired',
  review: 'the order needs a decision',
  cancelled: 'the order is cancelled',
};

/** What became of a webhook, as far as our rows say. */
export function resultOf(webhook: WebhookRow): string {
  const { authenticity, deliveries } = webhook;
  return [
    becameOf(webhook),
    ...(authenticity === 'unsigned' ? ['unsigned'] : []),
    ...(deliveries > 1 ? [`came ${deliveries} times`] : []),
  ].join(', ');
}

function becameOf({ outcome, orderStatus, paidAt, checkedAt, receivedAt }: WebhookRow): string {
  if (outcome === 'ignored' || orderStatus === null) return 'not about a payment of ours';
  if (paidAt !== null)
    return receivedAt > paidAt ? 'already known: order paid' : 'checked with the service: order paid';
  if (checkedAt === null || checkedAt < receivedAt) return 'waits for the check with the service';
  return `checked with the service: ${CHECKED[orderStatus]}`;
}

/** Why one was refused, and what to check. */
export const REFUSALS: Readonly<Record<RefusalReason, { why: string; status: number; check: string }>> = {
  'bad-signature': {
    why: 'signature does not match',
    status: 401,
    check:
      'If they come from the payment service, WEBHOOK_SECRETS does not hold the secret that it shows for ' +
      'our webhook address. If they come from another sender, nothing is to be done: nothing in them was ' +
      'believed.',
  },
  malformed: {
    why: 'not a JSON object',
    status: 400,
    check: 'The payment service sends something else than JSON, or another sender tries our address.',
  },
  'too-many': {
    why: 'too many unsigned ones',
    status: 429,
    check:
      'Set WEBHOOK_SECRETS, so that webhooks of the payment service can be told from others. Payments are ' +
      'also found without them.',
  },
};
