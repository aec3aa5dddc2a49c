import { createHash } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { Agent, request } from 'undici';
import type { Secret } from '../platform/secret.ts';
import type { AlertHook } from './alert.ts';
import { nameOf } from './all-hooks.ts';

/** Less than a hook may take. */
const MAX_MS = 8_000;
const MAX_BODY_BYTES = 64 * 1_024;

/**
 * Sends each alert as a signed POST (Standard Webhooks): `{type: "alert.<event>", timestamp, data}`. The id
 * is the same when the same alert of the same day comes again. Any 2xx is a receipt; no redirect is followed.
 */
export function createAlertWebhook(url: URL, secret: Secret): { hook: AlertHook; close(): Promise<void> } {
  const webhook = new Webhook(secret.reveal());
  const agent = new Agent({ connections: 2, connect: { timeout: 2_000 } });
  return {
    hook: async (alert) => {
      const { event, at, ...data } = alert;
      const body = JSON.stringify({ type: `alert.${event}`, timestamp: at, data });
      const day = at.slice(0, 10);
      const id = `alert_${createHash('sha256')
        .update(`${day} ${nameOf(alert)}`)
        .digest('hex')
        .slice(0, 32)}`;
      const sentAt = new Date(at);
      const signal = AbortSignal.timeout(MAX_MS);
      const answer = await request(url, {
        method: 'POST',
        dispatcher: agent,
        body,
        headers: {
          'content-type': 'application/json',
          'webhook-id': id,
          'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
          'webhook-signature': webhook.sign(id, sentAt, body),
        },
        signal,
      });
      await answer.body.dump({ limit: MAX_BODY_BYTES, signal });
      if (answer.statusCode < 200 || answer.statusCode > 299)
        throw new Error(`ALERT_URL answered HTTP ${answer.statusCode}`);
    },
    close: () => agent.close(),
  };
}
