import type { Poller } from '../platform/poller.ts';
import { createDeliveries, type DeliveryParts } from './delivery-loop.ts';
import { EVENTS, RELEASES } from './delivery.sql.ts';
import type { EventReceiver, EventType } from './event.ts';
import { leaseDueEvents, wantEvents, type DueEvent } from './events.sql.ts';
import { messageOf, messageOfEvent } from './message.ts';
import type { Receiver, ReleasePlan } from './release.ts';
import { leaseDueReleases, type DueRelease } from './releases.sql.ts';
import {
  createRedeliver,
  createSendUnsent,
  type Redeliver,
  type RedeliverParts,
  type SendUnsent,
} from './redeliver.sql.ts';

/** Those who receive; null: there is none. */
type Receivers = { receiver: Receiver | null; eventReceiver?: EventReceiver | null };

/** A release as it would be recorded now. */
export function planRelease(receiver: Receiver | null, id: string): ReleasePlan {
  return { id, delivery: receiver === null ? 'unneeded' : 'waiting' };
}

/** Delivers recorded releases. */
export function createDueReleases(parts: DeliveryParts & Receivers): Poller {
  const { database, mode, receiver, eventReceiver = null } = parts;
  return createDeliveries<DueRelease>(parts, {
    deliveries: RELEASES,
    // Without a receiver, releases that wait for one (configured until yesterday) are left waiting.
    lease: async (limit, repeats) =>
      receiver === null ? [] : leaseDueReleases(database, mode, limit, repeats, eventReceiver !== null),
    messageOf,
    receive: async (release, context) => receiver?.(release, context),
  });
}

/** Delivers recorded events. Its first look says which types are wanted from then on. */
export function createDueEvents(
  parts: DeliveryParts & { eventReceiver: EventReceiver | null; types: readonly EventType[] },
): Poller {
  const { database, mode, eventReceiver, types } = parts;
  let isWanting = false;
  return createDeliveries<DueEvent>(parts, {
    deliveries: EVENTS,
    lease: async (limit, repeats) => {
      if (!isWanting) await wantEvents(database, mode, eventReceiver === null ? [] : types);
      isWanting = true;
      return eventReceiver === null ? [] : leaseDueEvents(database, mode, limit, repeats);
    },
    messageOf: messageOfEvent,
    receive: async (event, context) => eventReceiver?.(event, context),
  });
}

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
