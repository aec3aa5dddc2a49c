import type { Poller } from '../platform/poller/poller.ts';
import { createDueEvents, createDueReleases } from './due-deliveries.ts';
import type { DeliveryParts } from './delivery-loop.ts';
import type { EventReceiver, EventType } from './event.ts';
import {
  createRedeliver,
  createSendUnsent,
  type Redeliver,
  type RedeliverParts,
  type SendUnsent,
} from './redeliver.ts';

type Fulfilment = {
  redeliver: Redeliver;
  sendUnsent: SendUnsent;
  hasReceiver: boolean;
  dueReleases: Poller;
  dueEvents: Poller;
};

/** What is sent to receivers, by itself and by hand. */
export function createFulfilment(
  parts: DeliveryParts &
    RedeliverParts & {
      eventReceiver: EventReceiver | null;
      /** Those of FULFILMENT_EVENTS. */
      types: readonly ('order.paid' | EventType)[];
    },
): Fulfilment {
  return {
    redeliver: createRedeliver(parts),
    sendUnsent: createSendUnsent(parts),
    hasReceiver: parts.receiver !== null,
    dueReleases: createDueReleases(parts),
    // That an order is paid is its release.
    dueEvents: createDueEvents({ ...parts, types: parts.types.filter((type) => type !== 'order.paid') }),
  };
}
