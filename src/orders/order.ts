import { z } from 'zod';
import type { OrderId, Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import type { Money } from '../platform/money.ts';
import type { ShopperDetails } from './shopper-details.ts';

/**
 * Where an order stands, as every reader may see it.
 * - `pending`: not paid yet. Waits for a payment; leaves by evidence, failure or time.
 * - `paid`: a verification proved it and the release exists. There is no way back.
 * - `failed`: the last payment failed. A new payment makes it pending again; late money still pays it.
 * - `expired`: no payment came in time. Late money still pays it, unless its deadline has passed (see
 *   `isPastDeadline`).
 * - `review`: the service says something that a person must look at. The shopper must not pay again.
 * - `cancelled`: a person or the shop has ended it. Money that comes later goes into suspense and never pays
 *   it.
 */
export const ORDER_STATUSES = ['pending', 'paid', 'failed', 'expired', 'review', 'cancelled'] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

/**
 * One position, at the price that was shown: later price changes do not touch it. Without a sku its price may
 * be zero or less: something for nothing, or a discount.
 */
export type OrderLine = { sku: string | null; description: string; unitAmount: bigint; quantity: number };

const MAX_METADATA = 20;
// PostgreSQL's JSON takes no half of a surrogate pair.
const plain = z.string().regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must be text without control characters');

/**
 * Short texts that a shop gives with an order and gets back wherever the order is shown, also to its shopper.
 */
export const metadata = z
  .record(plain.min(1).max(40), plain.max(500))
  .refine((texts) => Object.keys(texts).length <= MAX_METADATA, `must have at most ${MAX_METADATA} entries`);
export type Metadata = z.output<typeof metadata>;

export type Order = {
  id: OrderId;
  externalId: string | null;
  mode: Mode;
  status: OrderStatus;
  total: Money;
  lines: OrderLine[];
  details: ShopperDetails;
  metadata: Metadata;
  /** Its deadline: until when it may be paid; null: there is none. */
  payBy: Date | null;
  /** Whether the deadline has passed, by the database's clock: no further checkout begins. */
  isPastDeadline: boolean;
  paidAt: Date | null;
  /**
   * Minor units of what paid it: less than `total` where a person accepted less; until it is paid, the total.
   */
  came: bigint;
  /** Minor units that went back, as far as refunds were written down; the order stays paid. */
  refunded: bigint;
  /** When the last of them was written down. */
  refundedAt: Date | null;
  /** The id that its release has or will have. */
  releaseId: string;
  /** Of the payment that paid the order, else of the latest one; null when there was none yet. */
  reference: Reference | null;
};

/** The largest total of an order, in minor units: 15 digits are exact in every service's JSON number. */
export const MAX_TOTAL = 999_999_999_999_999n;

/** @returns the sum of the lines in minor units */
export function totalOf(lines: readonly OrderLine[]): bigint {
  return lines.reduce((sum, line) => sum + line.unitAmount * BigInt(line.quantity), 0n);
}
