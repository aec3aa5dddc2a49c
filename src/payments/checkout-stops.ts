import type { Alarm } from '../alerts/alert.ts';
import type { Database } from '../platform/database/database.ts';
import type { Mode } from '../platform/mode.ts';
import {
  EVERY_CURRENCY,
  resumeAfterUnitError,
  resumeCheckouts,
  stopCheckouts,
  type StopRequest,
} from './checkout-stops.sql.ts';

/** Stops new checkouts by hand. Open payments go on: what is paid is confirmed, held or raised as ever. */
export type CheckoutStops = {
  /** @returns false when they were stopped by hand already: the first reason stays */
  stop(request: StopRequest): Promise<boolean>;
  /** Ends the stop by hand and, if `evenOfUnit`, the one by a payment. @returns false when there was none */
  resume(request: StopRequest, evenOfUnit?: boolean): Promise<boolean>;
};

type Parts = { database: Database; mode: Mode; alarm: Alarm; onChanged: () => Promise<void> };

/** @param parts `onChanged` tells the alert that was noted with the stop */
export function createCheckoutStops({ database, mode, alarm, onChanged }: Parts): CheckoutStops {
  return {
    stop: async (request) => {
      const { currency, by, note } = request;
      const isNew = await database.transaction(async (tx) => {
        if (!(await stopCheckouts(tx, mode, request))) return false;
        await alarm({ event: 'checkouts-stopped', mode, currency, reason: note, by }, tx);
        return true;
      });
      if (isNew) await onChanged();
      return isNew;
    },
    resume: async (request, evenOfUnit = false) => {
      const isResumed = await resumeCheckouts(database, mode, request);
      const isResumedOfUnit = evenOfUnit && (await resumeAfterUnitError(database, mode, request));
      const isDone = isResumed || isResumedOfUnit;
      if (isDone) await onChanged();
      return isDone;
    },
  };
}

/** `NGN`, or "every currency". */
export function nameOfStopped(currency: string): string {
  return currency === EVERY_CURRENCY ? 'every currency' : currency;
}

/** What a person types for it: `NGN`, or `everything`, as ALL is a currency. */
export function wordOfStopped(currency: string): string {
  return currency === EVERY_CURRENCY ? 'everything' : currency;
}
