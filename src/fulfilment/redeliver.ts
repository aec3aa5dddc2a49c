import type { Database } from '../platform/database/database.ts';
import type { Mode } from '../platform/mode.ts';
import type { Receiver } from './release.ts';
import { makeDeliveryDue, makeUnsentDue } from './releases.sql.ts';

/**
 * Has a release delivered again, under the id it has had from the start: one that was given up, one that
 * still waits, or one that its receiver took and lost.
 * - `due`: the worker delivers it within a moment.
 * - `unknown`: this mode has no release with that id or of that order.
 * - `no-receiver`: there is no receiver, so it would wait for ever.
 */
export type Redeliver = (request: RedeliveryRequest) => Promise<'due' | 'unknown' | 'no-receiver'>;

export type RedeliveryRequest = { idOrOrderId: string; by: string; note: string | null };

export type RedeliverParts = {
  database: Database;
  mode: Mode;
  receiver: Receiver | null;
  /** Called when the delivery is due. */
  onDue: () => void;
};

export function createRedeliver({ database, mode, receiver, onDue }: RedeliverParts): Redeliver {
  return async ({ idOrOrderId, by, note }) => {
    if (receiver === null) return 'no-receiver';
    if (!(await makeDeliveryDue(database, mode, idOrOrderId, by, note))) return 'unknown';
    onDue();
    return 'due';
  };
}

/** How many releases share a statement: few enough to lock rows for a moment only, however many there are. */
const UNSENT_AT_ONCE = 500;

/**
 * Makes all releases due that were recorded while there was no receiver.
 * @returns how many releases are due now, or that there is still no receiver
 */
export type SendUnsent = (request: Omit<RedeliveryRequest, 'idOrOrderId'>) => Promise<number | 'no-receiver'>;

/** @param atOnce rows of one statement */
export function createSendUnsent(
  { database, mode, receiver, onDue }: RedeliverParts,
  atOnce = UNSENT_AT_ONCE,
): SendUnsent {
  return async ({ by, note }) => {
    if (receiver === null) return 'no-receiver';
    for (let total = 0; ;) {
      const count = await makeUnsentDue(database, mode, by, note, atOnce);
      total += count;
      if (count > 0) onDue();
      if (count < atOnce) return total;
    }
  };
}
