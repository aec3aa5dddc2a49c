import { GatewayNotAsked, GatewayUnanswered } from '../gateway/errors.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Database } from '../platform/database/database.ts';
import { createPoller, type Poller, type LoopWatch } from '../platform/poller.ts';
import {
  jittered,
  NOT_ASKED_PAUSE_SEC,
  NOT_ASKED_SCHEDULED_PAUSE_SEC,
  pauseAfterFailureSec,
  SENDING_IS_LOST_AFTER_SEC,
} from './check-schedule.ts';
import type { OrderId } from '../platform/ids.ts';
import type { Logger } from '../platform/logger.ts';
import {
  leaseHinted,
  leaseScheduled,
  markAmbiguous,
  expireUnsent,
  postponeCheck,
  type DuePayment,
} from './checks.sql.ts';
import type { Confirm } from './confirm.ts';
import type { EndOrder } from './end-order.ts';
import { leasePastDeadline } from './end-order.sql.ts';
import type { Cause, Payment } from './payment.ts';

type DuePaymentsParts = {
  database: Database;
  gateway: Gateway;
  confirm: Confirm;
  endOrder: EndOrder;
  /** Calls to the service that may be in flight. */
  callsAtOnce: number;
  logger: Logger;
  watch?: LoopWatch | undefined;
};

// The loops poll, because no wake-up is sent when a check becomes due by schedule. None is sent either
// for a hint that came during a check of its payment, perhaps by another process, and a shopper may be
// waiting for that one.
const POLL_MS = 1_000;
const POLL_HINTED_MS = 250;
/** Ends of orders that are worked on at once; each asks about one payment at a time. */
const ENDS_AT_ONCE = 4;
/** While some checks wait for the service's answer, as many wait for theirs to be written. */
const CHECKS_PER_CALL = 2;

/**
 * Confirms payments whose time has come, and ends orders whose deadline has passed. Payments due by schedule
 * and payments due because of hints are two queues, each with its own slots and its own share of the calls.
 * So hints, however many, do not hold up the schedule, and thousands of checks left by an outage do not hold
 * up the hints. `reserve` gives a third lot of slots, for hints that are followed as they come in.
 */
export function createDuePayments(parts: DuePaymentsParts): Poller<DuePayment> {
  const { database, gateway, confirm, callsAtOnce, logger, watch } = parts;
  async function check(payment: DuePayment, cause: Cause): Promise<void> {
    if (payment.status === 'created') {
      await expireUnsent(database, payment.reference);
      return;
    }
    try {
      await confirm(payment, cause);
    } catch (error) {
      const isLost = payment.status === 'sending' && payment.ageSec >= SENDING_IS_LOST_AFTER_SEC;
      // A recorded answer would have made it ambiguous. Without one, it must not pass for being on its way.
      if (isLost && error instanceof GatewayUnanswered) await markAmbiguous(database, payment.reference);
      await postponeAfterFailure(parts, payment, error, pauseAfter(error, payment));
    }
  }

  const options = {
    label: ({ reference, orderId }: DuePayment) => ({ reference, orderId }),
    concurrency: callsAtOnce * CHECKS_PER_CALL,
    logger,
    watch,
  };
  const scheduled = createPoller<DuePayment>({
    ...options,
    name: 'payments',
    lease: (limit) => leaseScheduled(database, gateway.mode, limit),
    work: (payment) => check(payment, 'schedule'),
    pollMs: POLL_MS,
  });
  const hinted = createPoller<DuePayment>({
    ...options,
    name: 'hinted payments',
    lease: (limit) => leaseHinted(database, gateway.mode, limit),
    work: (payment) => check(payment, 'hint'),
    workOnLent: (payment) => check(payment, 'webhook'),
    pollMs: POLL_HINTED_MS,
  });
  return allLoops([scheduled, hinted, createDeadlines(parts)], hinted.reserve);
}

function createDeadlines({ database, gateway, endOrder, logger, watch }: DuePaymentsParts): Loop {
  return createPoller<{ orderId: OrderId }>({
    name: 'deadlines',
    lease: (limit) => leasePastDeadline(database, gateway.mode, limit),
    work: async ({ orderId }) => {
      const { outcome } = await endOrder(orderId, 'deadline');
      logger.info({ orderId, outcome }, 'the deadline of an order has passed');
    },
    label: ({ orderId }) => ({ orderId }),
    concurrency: ENDS_AT_ONCE,
    pollMs: POLL_MS,
    logger,
    watch,
  });
}

/**
 * Ends the check of a payment about which the service could not be asked: it is due again after the pause, or
 * when the service wants to be asked again.
 * @throws any other error
 */
export async function postponeAfterFailure(
  { database, logger }: Pick<DuePaymentsParts, 'database' | 'logger'>,
  { reference, orderId }: Payment,
  error: unknown,
  pauseSec: number,
): Promise<void> {
  if (!(error instanceof GatewayUnanswered)) throw error;
  const { message: reason, retryAfterSec: notBeforeSec } = error;
  logger.warn({ reference, orderId, reason, pauseSec, notBeforeSec }, 'check postponed');
  const wasAsked = !(error instanceof GatewayNotAsked);
  await postponeCheck(database, reference, pauseSec, notBeforeSec, wasAsked);
}

/**
 * When our own limits left no turn for the call, trying again soon costs nothing. While the service fails or
 * asked for a pause, only hints try again as soon as it ends; a check that was not made lengthens no pause.
 */
function pauseAfter(error: unknown, { isHinted, checks }: DuePayment): number {
  if (!(error instanceof GatewayNotAsked)) return pauseAfterFailureSec(checks);
  if (isHinted || error.reason === 'budget-exhausted') return jittered(NOT_ASKED_PAUSE_SEC);
  const isAway = error.reason === 'service-is-failing' || error.reason === 'service-asked-to-wait';
  return Math.max(isAway ? jittered(NOT_ASKED_SCHEDULED_PAUSE_SEC) : 0, pauseAfterFailureSec(checks));
}

type Loop = Omit<Poller, 'reserve'>;

function allLoops<Row>(loops: readonly Loop[], reserve: Poller<Row>['reserve']): Poller<Row> {
  return {
    runOnce: async () =>
      (await Promise.all(loops.map((loop) => loop.runOnce()))).reduce((sum, rows) => sum + rows),
    start: () => {
      for (const loop of loops) loop.start();
    },
    wake: () => {
      for (const loop of loops) loop.wake();
    },
    reserve,
    stuckMs: () => Math.max(...loops.map((loop) => loop.stuckMs())),
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
