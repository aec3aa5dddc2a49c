/**
 * Every type of outbox message to the shop's own system. FULFILMENT_EVENTS selects from them.
 * `order.paid` is always written.
 */
export const MESSAGE_TYPES = [
  'order.paid',
  'order.review',
  'order.part_paid',
  'order.failed',
  'order.expired',
  'order.cancelled',
  'order.reopened',
  'order.refunded',
  'order.reversed',
  'case.opened',
] as const;

export type MessageType = (typeof MESSAGE_TYPES)[number];
