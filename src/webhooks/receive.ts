import { createHash } from 'node:crypto';
import type { Dialect } from '../gateway/dialect.ts';
import { firstAt, stringOf } from '../gateway/reading.ts';
import { isSignedBy } from '../gateway/signature.ts';
import type { Clock } from '../platform/clock.ts';
import type { Queryable } from '../platform/database.ts';
import { ID_PATTERN } from '../platform/ids.ts';
import type { Logger } from '../platform/logger.ts';
import type { Mode } from '../platform/mode.ts';
import type { Secret } from '../platform/secret.ts';
import { storeWebhook } from './repository.ts';

/**
 * The service calls. The bytes are kept, and if they name a payment of ours, that payment is due: the clock asks the
 * service about it. Nothing the webhook says is believed, so a forged one costs a row and at most one question.
 */
export type ReceiveWebhook = (request: WebhookRequest) => Promise<'stored' | 'bad-signature' | 'malformed'>;

export type WebhookRequest = {
  headers: Record<string, string | string[] | undefined>;
  contentType: string;
  isJson: boolean;
  body: Buffer;
};

export type ReceiveParts = {
  db: Queryable;
  mode: Mode;
  dialect: Dialect;
  secrets: readonly Secret[];
  clock: Clock;
  /** Called when a payment became due. */
  onDue: () => void;
  logger: Logger;
};

export function createReceiveWebhook({
  db,
  mode,
  dialect,
  secrets,
  clock,
  onDue,
  logger,
}: ReceiveParts): ReceiveWebhook {
  const scheme = secrets.length > 0 ? dialect.webhook.signature : null;

  return async ({ headers, contentType, isJson, body }) => {
    if (scheme !== null && !isSignedBy(secrets, scheme, headers, body, clock.now().getTime() / 1_000)) {
      logger.warn('webhook with a bad signature refused');
      return 'bad-signature';
    }
    const reading = isJson ? referenceIn(body, dialect) : { reference: null };
    if (reading === null) return 'malformed';
    const outcome = await storeWebhook(db, {
      mode,
      body,
      bodySha256: createHash('sha256').update(body).digest(),
      contentType: contentType.slice(0, 100),
      authenticity: scheme === null ? 'unsigned' : 'signed',
      ...reading,
    });
    logger.debug({ reference: reading.reference, outcome }, 'webhook received');
    if (outcome === 'hinted') onDue();
    return 'stored';
  };
}

/** The reference that the body names, if it fits our grammar. Null when the body is not JSON at all. */
function referenceIn(body: Buffer, dialect: Dialect): { reference: string | null } | null {
  try {
    const document: unknown = JSON.parse(
      new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body),
    );
    if (typeof document !== 'object' || document === null || Array.isArray(document)) return null;
    const ours = (value: unknown): string | null => {
      const text = stringOf(value);
      return text !== null && ID_PATTERN.test(text) ? text : null;
    };
    return { reference: firstAt(document, dialect.webhook.reference, ours) };
  } catch {
    return null;
  }
}
