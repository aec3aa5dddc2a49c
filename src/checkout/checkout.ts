import type { Gateway } from '../gateway/gateway.ts';
import type { Catalogue } from '../orders/catalogue.ts';
import type { Clock } from '../platform/clock.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import type { Logger } from '../platform/logger.ts';
import type { Money } from '../platform/money.ts';
import type { CheckoutStore, StopRefusal } from './checkout.sql.ts';
import type { IdempotencyKey } from './idempotency-key.ts';
import type { CheckoutInput } from './checkout-bodies.ts';

/**
 * Starts a hosted checkout: prices the basket, writes the order and its payment, and only then asks
 * the service for the address that the shopper is sent to. The route calls it; it decides nothing
 * about money received.
 */
export type StartCheckout = (
  input: CheckoutInput,
  key: IdempotencyKey | null,
  /** The order that this browser was sent away with minutes ago: it is resumed if the basket is the same. */
  openOrder?: OrderId | null,
) => Promise<CheckoutResult>;

export type OpenedCheckout = {
  outcome: 'opened';
  orderId: OrderId;
  reference: Reference;
  money: Money;
  checkoutUrl: string;
};

/** Why no payment of an order may begin. */
export type Declined =
  | {
      outcome:
        | 'unknown-order'
        | 'already-paid'
        | 'under-review'
        | 'order-cancelled'
        | 'order-expired'
        | 'too-many-open-payments';
    }
  /** Payments in this currency came in another unit, or a person has stopped it; or all of them. */
  | { outcome: StopRefusal; currency: string };

export type CheckoutResult =
  | OpenedCheckout
  | Declined
  | { outcome: 'unknown-sku' | 'out-of-stock'; skus: string[] }
  | { outcome: 'mixed-currencies' | 'wrong-currency'; currencies: string[] }
  | { outcome: 'total-too-large' | 'total-too-small' }
  /** The idempotency key belongs to another request, or to this one and it is still being worked on. */
  | { outcome: 'key-reused' | 'in-flight' }
  /** The service said no; the order is kept and can be paid by a new checkout. */
  | { outcome: 'refused'; orderId: OrderId }
  /** Not sent, or it is unknown whether the service took it. The order is kept; what was sent is watched. */
  | {
      outcome: 'unavailable';
      orderId: OrderId;
      retryAfterSec: number | null;
      /** What the configuration lacks: repeating the request does not help until that is corrected. */
      misconfigured?: string | undefined;
    };

export type CheckoutParts = {
  store: CheckoutStore;
  catalogue: Catalogue;
  gateway: Gateway;
  /** Our own origin as browsers reach it, from configuration and never from a request. */
  publicOrigin: () => string;
  /** Called when a payment is due at once. */
  onDue: () => void;
  clock: Clock;
  logger: Logger;
};

/**
 * What a shopper waits for: the key of the request, an order that is open already, and the time (by
 * {@link Clock.elapsedMs}) by which there is to be an answer.
 */
export type ShopperRequest = {
  key: IdempotencyKey | null;
  openOrder: OrderId | null;
  answerByMs: number;
  /** The storefront that the order's first checkout chooses; null: the default. */
  returnUrl: string | null;
};
