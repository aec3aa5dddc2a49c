import { createHmac } from 'node:crypto';

import { toJsonText } from '../api/json.ts';
import { webhookBody, WEBHOOK_SIGNATURE } from '../assumptions.ts';
import type { Notice } from '../ledger/transaction.ts';

export type WebhookMessage = { headers: Record<string, string>; body: string };

/** The signed POST that tells one change. The same notice gives the same bytes at every attempt. */
export function toMessage(notice: Notice, secret: string): WebhookMessage {
  const body = toJsonText(webhookBody(notice));
  const { header, algorithm, encoding } = WEBHOOK_SIGNATURE;
  const signature = createHmac(algorithm, secret).update(body).digest(encoding);
  return { headers: { 'content-type': 'application/json', [header]: signature }, body };
}
