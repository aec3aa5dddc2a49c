import { GatewayUnanswered } from '../gateway/errors.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Cancelled, CancelOrder } from '../orders/cancel.ts';
import type { Database } from '../platform/database/database.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import type { Logger } from '../platform/logger.ts';
import { endLease, leaseWhenFree, LEASE_WAIT_MS } from './checks.sql.ts';
import type { Confirm } from './confirm.ts';
import { endOrder, readEnding, type End } from './end-order.sql.ts';
import { SENDING_IS_LOST_AFTER_SEC } from './check-schedule.ts';

type EndOrderParts = {
  database: Database;
  gateway: Gateway;
  confirm: Confirm;
  logger: Logger;
};

/** As for {@link CancelOrder}; `ended`: by this call, or by a deadline before. */
type Ended = Cancelled | { outcome: 'ended' };

const RETRY_SEC = 5;
/** An order that goes on moving: another try each time a payment was added or another process was faster. */
const MAX_TRIES = 5;

/**
 * Ends an unpaid order, after asking the service about each payment that may have brought money. It ends only
 * on answers that came since: an error, an answer that cannot be read, and "not found" for a payment that may
 * still be on its way to the service leave it as it is.
 */
export type EndOrder = (orderId: OrderId, end: End) => Promise<Ended>;

export function createEndOrder(parts: EndOrderParts): EndOrder {
  const { database, gateway } = parts;
  return async (orderId, end) => {
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      const ending = await readEnding(database, orderId, gateway.mode);
      if (ending === null) return { outcome: 'unknown-order' };
      if (ending.status === 'paid') return { outcome: 'already-paid' };
      if (ending.status === 'cancelled') return { outcome: 'cancelled' };
      if (end === 'deadline' && ending.isEndedByDeadline) return { outcome: 'ended' };
      if (end === 'deadline' && ending.status === 'review') return { outcome: 'under-review' };
      for (const reference of ending.unsure) {
        const refusal = await askLast(parts, reference, end);
        if (refusal !== null) return refusal;
      }
      if (await database.transaction((tx) => endOrder(tx, orderId, ending, end))) return { outcome: 'ended' };
    }
    return { outcome: 'unavailable', retryAfterSec: RETRY_SEC };
  };
}

/** The same by hand. */
export function createCancelOrder(endOrder: EndOrder, logger: Logger): CancelOrder {
  return async (orderId, cancel) => {
    const result = await endOrder(orderId, cancel);
    if (result.outcome !== 'ended') return result;
    logger.info({ orderId, by: cancel.by ?? 'shop' }, 'order cancelled');
    return { outcome: 'cancelled' };
  };
}

/** @returns null when the answer lets the order end; else why it must not */
async function askLast(parts: EndOrderParts, reference: Reference, end: End): Promise<Ended | null> {
  const { database, gateway, confirm, logger } = parts;
  const payment = await leaseWhenFree({ database, mode: gateway.mode }, reference, LEASE_WAIT_MS);
  if (payment === null) return { outcome: 'unavailable', retryAfterSec: RETRY_SEC };
  try {
    const by = end === 'deadline' ? 'schedule' : 'operator';
    const { outcome, status } = await confirm(payment, by);
    if (status === 'paid') return { outcome: 'already-paid' };
    // A person must look at what the service says now before the order is ended over it.
    if (status === 'held') return payment.status === 'held' ? null : { outcome: 'under-review' };
    const isOnItsWay = outcome === 'not_found' && payment.ageSec < SENDING_IS_LOST_AFTER_SEC;
    return outcome === 'unreadable' || isOnItsWay
      ? { outcome: 'unavailable', retryAfterSec: RETRY_SEC }
      : null;
  } catch (error) {
    await endLease(database, reference);
    if (!(error instanceof GatewayUnanswered)) throw error;
    const { orderId } = payment;
    logger.warn({ reference, orderId, reason: error.message }, 'order not ended: the service was not asked');
    return { outcome: 'unavailable', retryAfterSec: error.retryAfterSec ?? RETRY_SEC };
  }
}
