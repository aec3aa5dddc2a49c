import type { ReleasePlan } from '../fulfilment/release.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { GatewayUnanswered } from '../gateway/errors.ts';
import type { Database } from '../platform/database/database.ts';
import type { Logger } from '../platform/logger.ts';
import { endLease, leaseWhenFree, LEASE_WAIT_MS } from './checks.sql.ts';
import { readHeldMoney, recordAcceptance } from './accept.sql.ts';
import type { Confirm } from './confirm.ts';
import { loadPayment } from './confirm.sql.ts';
import type { Payment } from './payment.ts';

type Acceptance = {
  /** Of the item in suspense. */
  id: bigint;
  by: string;
  note: string;
  /** The version of it that the person saw; null: whatever it is now. */
  seen: string | null;
};

/**
 * - `accepted`: the order is paid, and its release is recorded.
 * - `gone`: no such open item, or another version of it.
 * - `not-this`: only too little or too much of an order's own money, about which nothing was decided yet.
 * - `changed`: verify shows something else now. It is recorded as ever.
 * - `unanswered`: the service cannot be asked, or another check of it does not end. Nothing was changed.
 */
export type AcceptOutcome = 'accepted' | 'gone' | 'not-this' | 'changed' | 'unanswered';

/**
 * Lets what came pay its order, though it is less or more than was asked for: a person says that it is
 * enough.
 */
export type Accept = (acceptance: Acceptance) => Promise<AcceptOutcome>;

type AcceptParts = {
  database: Database;
  gateway: Pick<Gateway, 'mode'>;
  confirm: Confirm;
  planRelease: (payment: Payment) => ReleasePlan;
  /** Called after a release was recorded: its delivery is due. */
  onReleased: () => void;
  logger: Logger;
};

/** @returns a function that asks verify first: only money that the service shows now can be accepted */
export function createAccept(parts: AcceptParts): Accept {
  const { database, confirm, planRelease, onReleased, logger } = parts;
  const { mode } = parts.gateway;
  return async (acceptance) => {
    const { id, by, seen } = acceptance;
    const held = await readHeldMoney(database, mode, id, seen);
    if (held === null) return 'gone';
    const payment = await loadPayment(database, held.reference, mode);
    const isOfMoney = held.class === 'underpaid' || held.class === 'overpaid';
    if (payment?.status !== 'held' || payment.isDecided || !isOfMoney || payment.orderStatus !== 'review')
      return 'not-this';
    const leased = await leaseWhenFree({ database, mode }, held.reference, LEASE_WAIT_MS);
    if (leased === null) return 'unanswered';
    try {
      await confirm(leased, 'operator');
    } catch (error) {
      await endLease(database, held.reference);
      if (error instanceof GatewayUnanswered) return 'unanswered';
      throw error;
    }
    const fresh = await readHeldMoney(database, mode, id, seen);
    if (fresh?.class !== held.class || fresh.amount !== held.amount) return 'changed';
    if (!(await recordAcceptance(database, mode, acceptance, planRelease(payment)))) return 'changed';
    const { reference, orderId } = payment;
    logger.info({ reference, orderId, by, outcome: held.class }, 'order is paid with what a person accepted');
    onReleased();
    return 'accepted';
  };
}
