import { createHmac } from 'node:crypto';

import { toJsonText } from '../../api/json.ts';
import type { WebhookMessage } from '../../webhooks/message.ts';

type Digest = { algorithm: 'sha256' | 'sha512'; encoding: 'hex' | 'base64' };

export function hmac(secret: string, text: string, { algorithm, encoding }: Digest): string {
  return createHmac(algorithm, secret).update(text).digest(encoding);
}

export const SHA256_HEX = { algorithm: 'sha256', encoding: 'hex' } as const;
export const SHA256_BASE64 = { algorithm: 'sha256', encoding: 'base64' } as const;
export const SHA512_BASE64 = { algorithm: 'sha512', encoding: 'base64' } as const;
export const SHA512_HEX = { algorithm: 'sha512', encoding: 'hex' } as const;

/** A JSON webhook; `sign` gives the headers that prove it. */
export function jsonMessage(value: unknown, sign: (body: string) => Record<string, string>): WebhookMessage {
  const body = toJsonText(value);
  return { headers: { 'content-type': 'application/json', ...sign(body) }, body };
}
