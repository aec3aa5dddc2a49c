import type { OrderStatus } from '../../orders/order.ts';
import type { RefusalReason } from '../../webhooks/refused-webhooks.sql.ts';
import type { WebhookRow } from './webhooks.sql.ts';

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
      'If they come from the payment service, WEBHOOK_SECRETS does not hold the secret that it shows for our ' +
      'webhook address. If they come from another sender, nothing is to be done: nothing in them was believed.',
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
