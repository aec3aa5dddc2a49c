import { Webhook } from 'standardwebhooks';
import { Agent, request } from 'undici';
import { systemClock } from '../platform/clock.ts';
import { formatMajor } from '../platform/money.ts';
import type { Secret } from '../platform/secret.ts';
import type { Receiver, Release } from './release.ts';

/** What a receiver answers beyond its status is nothing to us: so many bytes are taken, then the connection is dropped. */
const MAX_BODY_BYTES = 64 * 1_024;

/**
 * Tells another system of a release by a signed POST (Standard Webhooks): `webhook-id` is the release's id on every
 * delivery, `webhook-timestamp` and `webhook-signature` are of this delivery. Any 2xx is a receipt. A redirect is none:
 * it is not followed, because nobody but the configured address is to learn of orders.
 * @param moreHeaders sent along, unsigned
 */
export function createHttpReceiver(
  url: URL,
  secret: Secret,
  moreHeaders: () => Record<string, string> = () => ({}),
): { receive: Receiver; close(): Promise<void> } {
  const webhook = new Webhook(secret.reveal());
  const agent = new Agent({ connections: 8, connect: { timeout: 2_000 } });

  async function receive(release: Release, deadline: AbortSignal): Promise<void> {
    const sentAt = systemClock.now();
    const body = JSON.stringify({
      type: 'order.paid',
      timestamp: sentAt.toISOString(),
      data: message(release),
    });
    const answer = await request(url, {
      method: 'POST',
      dispatcher: agent,
      body,
      headers: {
        ...moreHeaders(),
        'content-type': 'application/json',
        'webhook-id': release.id,
        'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
        'webhook-signature': webhook.sign(release.id, sentAt, body),
      },
      signal: deadline,
    });
    await answer.body.dump({ limit: MAX_BODY_BYTES, signal: deadline });
    if (answer.statusCode < 200 || answer.statusCode > 299)
      throw new Error(`the receiver answered HTTP ${answer.statusCode}`);
  }

  return { receive, close: () => agent.close() };
}

function message({ orderId, externalId, reference, total, mode, paidAt, lines }: Release): object {
  return {
    orderId,
    externalId,
    reference,
    amount: formatMajor(total),
    currency: total.currency,
    mode,
    paidAt: paidAt.toISOString(),
    lines: lines.map(({ sku, description, unitAmount, quantity }) => ({
      sku,
      description,
      unitAmount: formatMajor({ amount: unitAmount, currency: total.currency }),
      quantity,
    })),
  };
}
