import type { Metadata, OrderLine } from '../orders/order.ts';
import type { Database } from '../platform/database/database.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import type { ShopperDetails } from '../orders/shopper-details.ts';
import type { Mode } from '../platform/mode.ts';
import type { Money } from '../platform/money.ts';

/** How an order's release would be delivered; decided before it is recorded, so that both are one write. */
export type ReleasePlan = {
  /** Its id for ever, also in a restored database: every delivery has it, and receivers deduplicate by it. */
  id: string;
  /** `waiting` when there is a receiver to tell, `unneeded` when the recorded release is all there is. */
  delivery: 'waiting' | 'unneeded';
};

/** A paid order whose value is due: what the receiver gets to know. */
export type Release = {
  id: string;
  orderId: OrderId;
  externalId: string | null;
  reference: Reference;
  total: Money;
  mode: Mode;
  paidAt: Date;
  lines: OrderLine[];
  details: ShopperDetails;
  metadata: Metadata;
  /** All of this but the details as JSON, as FULFILMENT_URL gets it: the same text at every attempt. */
  message: string;
};

/**
 * Gives the value of a paid order: ships it, unlocks it, books it. Called at least once per release,
 * always with the same `release.id`, again when it throws or takes longer than ten seconds; it must
 * be safe to call twice.
 */
export type Receiver = (release: Release, context: ReceiverContext) => Promise<void>;

export type ReceiverContext = {
  /** The program's own, for a table of the receiver's: a unique `release.id` makes a second call harmless. */
  database: Database;
  /** Aborted after ten seconds: the program no longer waits for the receiver, so it should stop. */
  signal: AbortSignal;
};

/**
 * Thrown by a receiver in place of any other error, to say more than that it failed: the other side did not
 * take the release. Any other error, but for the deadline and a network error of `fetch`, is a fault of the
 * receiver itself, of which an alert is sent at once.
 */
export class ReleaseRefused extends Error {
  /** It will never take this release: there is no further attempt, a person has to look. */
  readonly isGone: boolean;
  /** Seconds in which it is not to be asked again; null when it named none. */
  readonly retryAfterSec: number | null;
  /** It is overloaded, so other releases wait as well. */
  readonly isOverloaded: boolean;

  constructor(
    message: string,
    { isGone = false, isOverloaded = false, retryAfterSec = null as number | null } = {},
  ) {
    super(message);
    this.name = 'ReleaseRefused';
    this.isGone = isGone;
    this.isOverloaded = isOverloaded;
    this.retryAfterSec = retryAfterSec;
  }
}
