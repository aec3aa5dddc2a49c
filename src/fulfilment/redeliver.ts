import type { Database } from '../platform/database/database.ts';
import type { Mode } from '../platform/mode.ts';
import type { Receiver } from './release.ts';
import { EVENTS, RELEASES } from './delivery.sql.ts';
import type { EventReceiver, EventType } from './event.ts';
import { makeDeliveryDue, makeUnsentDue } from './redelivery.sql.ts';
import type { Unsent } from './releases.sql.ts';

/** How the id of an event begins. */
const EVENT = 'evt_';

/**
 * Has a release or an event delivered again, under the id it has had from the start: one that was given up,
 * one that still waits, one that was not wanted, or one that its receiver took and lost.
 * - `due`: the worker delivers it within a moment.
 * - `withheld`: its money went back, and the request does not say that it is to be sent all the same.
 * - `unknown`: this mode has nothing with that id, and no release of that order.
 * - `no-receiver`: there is no receiver, so it would wait for ever.
 */
export type Redeliver = (
  request: RedeliveryRequest,
) => Promise<'due' | 'withheld' | 'unknown' | 'no-receiver'>;

type RedeliveryRequest = {
  idOrOrderId: string;
  by: string;
  note: string | null;
  /** Sends a release though its money went back. */
  withheld?: boolean;
};

export type RedeliverParts = {
  database: Database;
  mode: Mode;
  receiver: Receiver | null;
  eventReceiver?: EventReceiver | null;
  /** Called when the delivery is due. */
  onDue: () => void;
};

export function createRedeliver(parts: RedeliverParts): Redeliver {
  const { database, mode, receiver, eventReceiver = null, onDue } = parts;
  return async ({ idOrOrderId, by, note, withheld = false }) => {
    const isEvent = idOrOrderId.startsWith(EVENT);
    if ((isEvent ? eventReceiver : receiver) === null) return 'no-receiver';
    const deliveries = isEvent ? EVENTS : RELEASES;
    const outcome = await makeDeliveryDue(database, deliveries, mode, idOrOrderId, { by, note, withheld });
    if (outcome === 'due') onDue();
    return outcome;
  };
}

/** How many rows share a statement: few enough to lock rows for a moment only, however many there are. */
const UNSENT_AT_ONCE = 500;

/**
 * Makes all releases due that were recorded while there was no receiver, or all events of a type that
 * happened while it was not wanted.
 * @returns how many are due now, or that there is still no receiver
 */
export type SendUnsent = (
  request: Omit<RedeliveryRequest, 'idOrOrderId' | 'withheld'> & { type?: EventType },
) => Promise<number | 'no-receiver'>;

/** @param limit rows of one statement */
export function createSendUnsent(
  { database, mode, receiver, eventReceiver = null, onDue }: RedeliverParts,
  limit = UNSENT_AT_ONCE,
): SendUnsent {
  return async ({ by, note, type = null }) => {
    if ((type === null ? receiver : eventReceiver) === null) return 'no-receiver';
    const deliveries = type === null ? RELEASES : EVENTS;
    for (let total = 0; ;) {
      const count = await makeUnsentDue(database, deliveries, mode, type, { by, note, limit });
      total += count;
      if (count > 0) onDue();
      if (count < limit) return total;
    }
  };
}

/**
 * A sentence about releases that were recorded while there was no receiver, for lists, pages and the log.
 * @returns null when there are none
 */
export function tellOfUnsent({ count, oldest }: Unsent, hasReceiver: boolean): string | null {
  if (count === 0 || oldest === null) return null;
  const releases = count === 1 ? '1 release was' : `${count} releases were`;
  const since = `the oldest on ${oldest.toISOString()}`;
  return hasReceiver
    ? `${releases} recorded before there was a receiver and never sent, ${since}: npm run releases ` +
        '-- send-unsent --by "your name"'
    : `${releases} recorded and never sent, ${since}: there is no receiver (FULFILMENT_URL, or one ` +
        'in src/custom).';
}
