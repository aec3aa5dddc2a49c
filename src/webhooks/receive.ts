import { createHash } from 'node:crypto';
import type { Dialect } from '../gateway/dialect/dialect.ts';
import { firstAt, stringOf } from '../gateway/dialect/json-pointer.ts';
import { isSignedBy } from '../gateway/webhook.ts';
import type { Clock } from '../platform/clock.ts';
import type { Queryable } from '../platform/database/database.ts';
import { parseReference, type Reference } from '../platform/ids.ts';
import type { Logger } from '../platform/logger.ts';
import type { Mode } from '../platform/mode.ts';
import type { Secret } from '../platform/secret.ts';
import { withContext } from '../platform/problem.ts';
import type { Reserve } from '../platform/poller.ts';
import type { DuePayment } from '../payments/checks.sql.ts';
import { createWebhookStore, type ReceivedWebhook } from './webhooks.sql.ts';
import { createLimit, type Limit } from '../platform/rate-limits.ts';
import { createRefusals } from './refusals.ts';

/**
 * Receives a webhook of the service. The bytes are kept, and if they name a payment of ours, the service is
 * asked about it: by this process if it has a slot free, else by the poller. Nothing the webhook says is
 * believed, so a forged one costs a row and at most one question.
 */
export type ReceiveWebhook = (request: WebhookRequest) => Promise<WebhookReceipt>;

export type WebhookReceipt =
  /** `status`: what the service accepts as an acknowledgement. */
  | { outcome: 'stored'; status: number }
  | { outcome: 'bad-signature' | 'malformed' }
  /** Unsigned, and more than the limits allow. */
  | { outcome: 'too-many'; retryAfterSec: number };

type WebhookRequest = {
  headers: Record<string, string | string[] | undefined>;
  contentType: string;
  isJson: boolean;
  /** The network of the client that sent it. */
  address: string;
  body: Buffer;
};

type ReceiveParts = {
  db: Queryable;
  mode: Mode;
  dialect: Dialect;
  secrets: readonly Secret[];
  /** Takes the secret key out of what came in. Signature and digest are over the bytes as they came. */
  redactKey: (body: Buffer) => Buffer;
  clock: Clock;
  /** Slots for payments that this process checks at once. */
  reserve: Reserve<DuePayment>;
  /** Called when the payment that a webhook named has such a slot. */
  onLeased: (reference: Reference | null) => void;
  /** Called when the payment that a webhook named became due and has no such slot. */
  onDue: (reference: Reference | null) => void;
  logger: Logger;
};

/** An unsigned webhook anyone can send, so these get a limited share of the disk and of our time. */
const UNSIGNED_PER_SEC = 200;
/**
 * How many of an address have the service asked as they come in; the poller follows the others a moment
 * later, and comes last to payments whose hints have taught us least. The queue of calls thus holds a
 * few hints of each address, and a hint from elsewhere does not wait behind a flood.
 */
const ASKED_AT_ONCE_PER_SEC = 4;
/** Webhooks that name no payment of ours show an operator what is wrong with the dialect. A sample does. */
const UNKNOWN_PER_MIN = 60;

/** Its payment is due already: sending the webhook again gains nothing for this long at least. */
const HINT_COUNTS_SEC = 60;

export function createReceiveWebhook(parts: ReceiveParts): ReceiveWebhook {
  const { db, mode, dialect, secrets, redactKey, clock, reserve, onLeased, onDue, logger } = parts;
  const scheme = secrets.length > 0 ? dialect.webhook.signature : null;

  const ofAddress = createLimit(UNSIGNED_PER_SEC, 1_000, clock);
  const atOnce = createLimit(ASKED_AT_ONCE_PER_SEC, 1_000, clock);
  const unknown = createLimit(UNKNOWN_PER_MIN, 60_000, clock);
  const note = createRefusals({
    db,
    mode,
    clock,
    logger,
    referenceOf: (body) => referenceIn(redactKey(body), dialect)?.reference ?? null,
  });
  const storeWebhook = createWebhookStore(db, reserve);

  // The cheapest refusals come first: checking a signature and a count in memory costs no query.
  const receive: ReceiveWebhook = async ({ headers, contentType, isJson, address, body }) => {
    if (scheme !== null && !isSignedBy(secrets, scheme, headers, body, clock.now().getTime() / 1_000))
      return { outcome: 'bad-signature' };
    if (scheme === null && !ofAddress.take(address)) return tooMany(ofAddress);
    const kept = redactKey(body);
    const reading = isJson ? referenceIn(kept, dialect) : { reference: null };
    if (reading === null) return { outcome: 'malformed' };
    const keepsUnknown = unknown.hasRoom('');
    const webhook: ReceivedWebhook = {
      mode,
      body: kept,
      bodySha256: createHash('sha256').update(body).digest(),
      contentType: redactKey(Buffer.from(contentType)).toString().slice(0, 100),
      authenticity: scheme === null ? 'unsigned' : 'signed',
      ...reading,
    };
    const isUrgent = scheme !== null || atOnce.take(address);
    const { isHinted, isLeased, isStored } = await storeWebhook(webhook, keepsUnknown, isUrgent).catch(
      (error: unknown) => {
        throw withContext(error, { reference: reading.reference ?? undefined });
      },
    );
    logger.debug({ reference: reading.reference, isHinted, isStored }, 'webhook received');
    if (!isHinted) unknown.take('');
    else if (isLeased) onLeased(reading.reference);
    else onDue(reading.reference);
    if (isStored) return { outcome: 'stored', status: dialect.webhook.acknowledgement };
    return isHinted ? { outcome: 'too-many', retryAfterSec: HINT_COUNTS_SEC } : tooMany(unknown);
  };
  return async (request) => {
    const receipt = await receive(request);
    if (receipt.outcome !== 'stored')
      note({ reason: receipt.outcome, address: request.address, body: request.body });
    return receipt;
  };
}

function tooMany(limit: Limit): WebhookReceipt {
  return { outcome: 'too-many', retryAfterSec: limit.resetsInSec() };
}

/** The reference that the body names, if it fits our grammar. Null when the body is not JSON at all. */
export function referenceIn(body: Buffer, dialect: Dialect): { reference: Reference | null } | null {
  try {
    const document: unknown = JSON.parse(
      new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body),
    );
    if (typeof document !== 'object' || document === null || Array.isArray(document)) return null;
    const ours = (value: unknown): Reference | null => parseReference(stringOf(value));
    return { reference: firstAt(document, dialect.webhook.reference, ours) };
  } catch {
    return null;
  }
}
