import type { OrderId } from '../platform/ids.ts';

/**
 * Cancels an unpaid order. The service is asked once more about each payment that may have brought money:
 * what one of them has paid is never cancelled.
 */
export type CancelOrder = (orderId: OrderId, cancel: Cancelling) => Promise<Cancelled>;

/**
 * `by`: a person's name; null: the shop's own system. `reason` is for the shop and never shown to the
 * shopper.
 */
export type Cancelling = { by: string | null; reason: string };

/**
 * - `cancelled`: by this call or by an earlier one.
 * - `already-paid`: perhaps seen only now.
 * - `under-review`: what the service says now must be looked at by a person first.
 * - `unavailable`: the service could not be asked, or its answer says nothing yet. Nothing has changed.
 */
export type Cancelled =
  | { outcome: 'cancelled' | 'already-paid' | 'under-review' | 'unknown-order' }
  | { outcome: 'unavailable'; retryAfterSec: number };

/** What the shopper of a cancelled order reads. Operators see it before they cancel. */
export const CANCELLED_TEXT = {
  heading: 'This order was cancelled',
  truth: 'It is closed, and nothing will be delivered for it.',
  advice: 'Do not pay for it. If you have paid, you do not need to do anything: ask us about your money.',
};

/** How the shop's own system signs what it does, in columns and in the journal. */
export const SHOP = 'shop';
