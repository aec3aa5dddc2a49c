/** A POST that tells one change. */
export type WebhookMessage = { headers: Record<string, string>; body: string };

/** The same with every header but the content type spoilt in its last character, so that no signature fits. */
export function withBadSignature({ headers, body }: WebhookMessage): WebhookMessage {
  const spoilt = Object.entries(headers).map(([name, value]) => {
    const last = value.endsWith('0') ? '1' : '0';
    return [name, name === 'content-type' ? value : `${value.slice(0, -1)}${last}`] as const;
  });
  return { headers: Object.fromEntries(spoilt), body };
}
