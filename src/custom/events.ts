import type { EventReceiver } from '../fulfilment/event.ts';

/**
 * The line to replace when this program itself is to hear of what FULFILMENT_EVENTS names beside paid orders:
 * a refund, a review, money in suspense. With FULFILMENT_URL they are sent there instead.
 */
export const onEvent: EventReceiver | null = null;
