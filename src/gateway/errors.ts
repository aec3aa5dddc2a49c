/**
 * Errors of a call to the service, one class per decision of the caller. None of them says anything
 * about a payment: an error never means unpaid.
 */

/** The service was not asked, or its answer is of no use: nothing was learnt of the payment. */
export class GatewayUnanswered extends Error {
  /** Where it says when to ask again. */
  readonly retryAfterSec: number | null = null;
}

/** No usable answer: unreachable, too slow, 5xx, or 429. Ask again, not before `retryAfterSec`. */
export class GatewayUnavailable extends GatewayUnanswered {
  override readonly retryAfterSec: number | null;

  constructor(message: string, retryAfterSec: number | null = null, cause?: unknown) {
    super(message, { cause });
    this.name = 'GatewayUnavailable';
    this.retryAfterSec = retryAfterSec;
  }
}

/**
 * Why no call was made: the budget had no turn in time; the service fails, or asked for a pause; the
 * caller gave up, or this process is ending.
 */
export type NotAskedReason =
  'budget-exhausted' | 'service-is-failing' | 'service-asked-to-wait' | 'caller-gave-up' | 'shutting-down';

/** Nothing was sent. Where waiting helps, a retry is worthwhile after `retryAfterSec`. */
export class GatewayNotAsked extends GatewayUnavailable {
  readonly reason: NotAskedReason;

  constructor(reason: NotAskedReason, retryAfterSec: number | null = null) {
    super(`the service was not asked: ${reason}`, retryAfterSec);
    this.name = 'GatewayNotAsked';
    this.reason = reason;
  }
}

/** 401 or 403: the service refuses the key. Nothing can be learnt until the operator replaces it. */
export class GatewayKeyRefused extends GatewayUnanswered {
  constructor(status: number) {
    super(`the service refuses the secret key (HTTP ${status}): check GATEWAY_SECRET_KEY`);
    this.name = 'GatewayKeyRefused';
  }
}

/** No usable HTTP answer came. `sent` false: nothing can have reached the service; true: it may have. */
export class ClientError extends Error {
  readonly sent: boolean;

  constructor(message: string, sent: boolean, cause?: unknown) {
    super(message, { cause });
    this.name = 'ClientError';
    this.sent = sent;
  }
}

/** A call without an answer, for callers that ask again later. */
export function asUnavailable(error: unknown): unknown {
  return error instanceof ClientError ? new GatewayUnavailable(error.message, null, error) : error;
}

/** An error's code or name. Its message is not used: it may quote what was sent, our key included. */
export function codeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'unknown';
}
