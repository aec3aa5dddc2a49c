import type { OrderStatus } from '../orders/order.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';

/**
 * Where a payment (one attempt to collect, one reference) stands.
 * - `created`: written, and certainly not sent. May be sent once; else it expires.
 * - `sending`: the initialize call is on its way. After a minute without its end: `ambiguous`.
 * - `open`: the shopper has a checkout address. Watched until money, failure or the horizon.
 * - `ambiguous`: the service may know it or not. Never sent again, watched like an open one.
 * - `refused`: the service declined to open it. Never charged, never watched.
 * - `paid`: its evidence released the order.
 * - `failed`, `expired`: the service said so, or its time ran out. Late money still counts.
 * - `held`: the service says something that a person must look at, money perhaps included. Watched, unless it
 *   said exactly paid and the order takes no more money: then only hints and reconciliation ask again.
 */
export type PaymentStatus =
  'created' | 'sending' | 'open' | 'ambiguous' | 'refused' | 'paid' | 'failed' | 'expired' | 'held';

/** A payment as confirmation needs it: what is expected, and where it and its order stand. */
export type Payment = {
  reference: Reference;
  orderId: OrderId;
  mode: Mode;
  amount: bigint;
  currency: string;
  status: PaymentStatus;
  orderStatus: OrderStatus;
  /** Whether its order has ended by its deadline: that had passed, and the service was asked a last time. */
  isEndedByDeadline: boolean;
  /** The id that the order's release has or will have. */
  releaseId: string;
  /** Seconds since the payment was written, by the database's clock: the only one all nodes share. */
  ageSec: number;
  /** Whether the shopper was given the address of a checkout. */
  hasCheckoutUrl: boolean;
  /** When the last answer about it was written, by the database's clock, to the microsecond; null: never. */
  lastAnswerAt: string | null;
  /** Whether money of this payment stands in suspense. */
  hasSuspense: boolean;
  /** How often its money in suspense had changed; a change since then makes a decision about it void. */
  suspenseChanges: number;
  /** Whether a person decided about its money before it had paid: then it pays no order any more. */
  isDecided: boolean;
  /** What stands for the price by now, in minor units, if a person accepted less or more; else null. */
  accepted: bigint | null;
  /** Whether all of `accepted` has gone back, as refunds say: what comes after it pays for nothing. */
  isRefunded: boolean;
  /** Whether a person gave it to its order. What was asked for is unknown, so evidence must show it all. */
  isAdopted: boolean;
  /** Hints counted when the check began; a larger number afterwards means that one came meanwhile. */
  hints: number;
};

/**
 * What made us ask the service. `webhook`: the process that took the webhook asked at once. `hint`: the
 * poller followed hints that could not be followed at once; a webhook, a return or an operator's request, the
 * payment does not know which.
 */
export type Cause = 'return' | 'webhook' | 'hint' | 'schedule' | 'reconciliation' | 'operator';
