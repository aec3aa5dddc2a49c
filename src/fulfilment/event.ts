import type { Metadata, OrderStatus } from '../orders/order.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import type { Money } from '../platform/money.ts';
import type { ReceiverContext } from './release.ts';

/** Every event that a receiver can get, by its name in FULFILMENT_EVENTS. */
export const EVENT_TYPES = [
  'order.paid',
  'order.review',
  'order.failed',
  'order.expired',
  'order.cancelled',
  'order.reopened',
  'order.refunded',
  'order.reversed',
  'suspense.opened',
] as const;
/** All but the first have a row in `events`; that an order is paid is its release. */
export const ROW_TYPES = EVENT_TYPES.filter((type) => type !== 'order.paid');
export type EventType = (typeof ROW_TYPES)[number];

/** What the row of an event keeps, by type. Amounts are texts in minor units. */
type Data = {
  'order.review': object;
  'order.failed': object;
  /** Left out: written by a version that did not know. */
  'order.expired': { final?: boolean };
  'order.cancelled': { reason: string };
  'order.reopened': object;
  'order.refunded': {
    refundId: string;
    refundExternalId: string | null;
    refundAmount: string;
    refunded: string;
  };
  'order.reversed': { findingId: string; unexplained: string };
};

type About = {
  id: string;
  externalId: string | null;
  /** Of its order; empty when there is none. */
  metadata: Metadata;
  reference: Reference | null;
  mode: Mode;
  /** Of the order; of an item in suspense, what it holds. */
  total: Money;
  happenedAt: Date;
};

/** An event as it was written when it happened. */
export type HappenedEvent = About &
  (
    | {
        [Type in keyof Data]: { type: Type; orderId: OrderId; data: Data[Type] & { status: OrderStatus } };
      }[keyof Data]
    | {
        type: 'suspense.opened';
        orderId: OrderId | null;
        data: { status: OrderStatus | null; suspenseId: string; class: string };
      }
  );

/** An event as a receiver in this program gets it. */
export type ShopEvent = {
  /** The same at every delivery, and of no other event. */
  id: string;
  type: EventType;
  orderId: OrderId | null;
  happenedAt: Date;
  /** All of it as JSON, as FULFILMENT_URL gets it: the same text at every attempt. */
  message: string;
};

/**
 * Gets the events that FULFILMENT_EVENTS names, `order.paid` aside. The promise is a release's: at
 * least once, always with the same `event.id`, again when it throws or takes longer than ten seconds, and
 * the events of one order one after the other.
 */
export type EventReceiver = (event: ShopEvent, context: ReceiverContext) => Promise<void>;
