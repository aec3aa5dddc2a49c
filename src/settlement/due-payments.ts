import { GatewayKeyRefused, GatewayUnavailable } from '../gateway/errors.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Database } from '../platform/database.ts';
import { createDueLoop, type DueLoop, type LoopWatch } from '../platform/due-loop.ts';
import type { Logger } from '../platform/logger.ts';
import {
  claimDuePayments,
  doubtSending,
  expireUnsent,
  postponeCheck,
  type DuePayment,
} from './checks/repository.ts';
import { pauseAfterFailureSec, SENDING_IS_LOST_AFTER_SEC } from './schedule.ts';
import type { Settle } from './settle.ts';

export type DuePaymentsParts = {
  database: Database;
  gateway: Gateway;
  settle: Settle;
  /** Calls to the service that may be in flight. */
  callsAtOnce: number;
  logger: Logger;
  watch?: LoopWatch | undefined;
};

// Nobody rings for a check whose time simply comes, so the loop looks by itself.
const POLL_MS = 1_000;
/** While some payments wait for the service's answer, as many wait for theirs to be written. */
const CHECKS_PER_CALL = 2;

/** The clock's door: settles payments whose time has come, by schedule or by a webhook. */
export function createDuePayments({
  database,
  gateway,
  settle,
  callsAtOnce,
  logger,
  watch,
}: DuePaymentsParts): DueLoop<DuePayment> {
  async function check(payment: DuePayment): Promise<void> {
    if (payment.status === 'created') {
      await expireUnsent(database, payment.reference);
      return;
    }
    try {
      await settle(payment, payment.isHinted ? 'webhook' : 'schedule');
    } catch (error) {
      if (!(error instanceof GatewayUnavailable || error instanceof GatewayKeyRefused)) throw error;
      const notBeforeSec = error instanceof GatewayUnavailable ? error.retryAfterSec : null;
      const pauseSec = pauseAfterFailureSec(payment.checks);
      const { reference, orderId } = payment;
      logger.warn({ reference, orderId, reason: error.message, pauseSec, notBeforeSec }, 'check postponed');
      // An answer would have said so; without one, nobody should take it for being on its way still.
      if (payment.status === 'sending' && payment.ageSec >= SENDING_IS_LOST_AFTER_SEC)
        await doubtSending(database, reference);
      await postponeCheck(database, reference, pauseSec, notBeforeSec);
    }
  }

  return createDueLoop({
    name: 'payments',
    claim: (limit) => claimDuePayments(database, gateway.mode, limit),
    work: check,
    label: ({ reference, orderId }) => ({ reference, orderId }),
    concurrency: callsAtOnce * CHECKS_PER_CALL,
    pollMs: POLL_MS,
    logger,
    watch,
  });
}
