import type { OrderLine } from '../orders/order.ts';
import type { Mode } from '../platform/mode.ts';
import type { Money } from '../platform/money.ts';

/** How the release of an order would be delivered: decided before it is recorded, so that both are one write. */
export type ReleasePlan = {
  /** Its id for ever, also across a restored database: every delivery carries it, and receivers deduplicate by it. */
  id: string;
  /** `waiting` when somebody is to be told, `unneeded` when the recorded release is all there is. */
  delivery: 'waiting' | 'unneeded';
};

/** A paid order whose value is due: what the receiver gets to know. */
export type Release = {
  id: string;
  orderId: string;
  externalId: string | null;
  reference: string;
  total: Money;
  mode: Mode;
  paidAt: Date;
  lines: OrderLine[];
};

/**
 * Gives the value of a paid order: ships it, unlocks it, books it. Called at least once per release, always with the
 * same `release.id`, again when it throws or takes longer than `deadline` (10 seconds); it must be safe to call twice.
 * Once `deadline` is aborted nobody waits for it any more, so it should stop.
 */
export type Receiver = (release: Release, deadline: AbortSignal) => Promise<void>;
