/**
 * What can go wrong with a question to the service, one class per decision of the caller. None of them says
 * anything about a payment: an error never means unpaid.
 */

/** No usable answer: unreachable, too slow, 5xx, or 429. Ask again, not before `retryAfterSec`. */
export class GatewayUnavailable extends Error {
  readonly retryAfterSec: number | null;

  constructor(message: string, retryAfterSec: number | null = null, cause?: unknown) {
    super(message, { cause });
    this.name = 'GatewayUnavailable';
    this.retryAfterSec = retryAfterSec;
  }
}

/**
 * We did not ask, and nothing was sent: the budget of calls had no turn for this one in time, or the service fails and
 * is left alone for `retryAfterSec`.
 */
export class GatewayNotAsked extends GatewayUnavailable {
  readonly reason: 'budget-exhausted' | 'service-is-failing';

  constructor(reason: GatewayNotAsked['reason'], retryAfterSec: number | null = null) {
    super(`the service was not asked: ${reason}`, retryAfterSec);
    this.name = 'GatewayNotAsked';
    this.reason = reason;
  }
}

/** 401 or 403: the key is not accepted. Nothing can be learnt until a person mends the key. */
export class GatewayKeyRefused extends Error {
  constructor(status: number) {
    super(`the service refuses the secret key (HTTP ${status}): check GATEWAY_SECRET_KEY`);
    this.name = 'GatewayKeyRefused';
  }
}
