import { GatewayNotAsked } from '../gateway/errors.ts';
import { PERSON_WAIT_MS } from '../gateway/verify.ts';
import type { OrderStatus } from '../orders/order.ts';
import { findOrderStatus } from '../orders/orders.sql.ts';
import { sleep, type Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import { jittered, NOT_ASKED_PAUSE_SEC } from '../payments/check-schedule.ts';
import type { Logger } from '../platform/logger.ts';
import type { Mode } from '../platform/mode.ts';
import { withContext } from '../platform/problem.ts';
import { hintAndLease, isBeingChecked } from '../payments/checks.sql.ts';
import { postponeAfterFailure } from '../payments/due-payments.ts';
import { loadPayment } from '../payments/confirm.sql.ts';
import type { Confirm } from '../payments/confirm.ts';

/**
 * Handles a shopper's return. Nothing in the query is evidence, so nothing of it is read: the service is
 * asked, and the shopper then sees what the order really says. When the service cannot be asked in time,
 * the order page says so and the poller goes on.
 * @param mayAsk false: the service is not asked now, and nothing is written
 * @param address where the shopper is
 */
export type ReturnFromCheckout = (
  reference: Reference,
  mayAsk: boolean,
  address: string,
) => Promise<{ orderId: OrderId; status: OrderStatus } | null>;

type ReturnParts = {
  database: Database;
  mode: Mode;
  confirm: Confirm;
  clock: Clock;
  logger: Logger;
};

const LOOK_AGAIN_MS = 200;
/** After a failed call the poller asks again soon: the shopper may still be looking at the page. */
const RETRY_SEC = 5;
/**
 * Shoppers of one address for whom this process asks the service at the same moment; for more of them the
 * poller asks a moment later. A few addresses would otherwise fill the queue of calls, and a shopper from
 * elsewhere would not get a turn in time.
 */
const MAX_RETURNS_AT_ONCE = 2;

export function createReturnFromCheckout(parts: ReturnParts): ReturnFromCheckout {
  const { database, mode, confirm, clock } = parts;
  const atOnce = new Map<string, number>();
  const count = (address: string, by: 1 | -1): void => {
    const left = (atOnce.get(address) ?? 0) + by;
    if (left > 0) atOnce.set(address, left);
    else atOnce.delete(address);
  };

  async function ask(reference: Reference, address: string): Promise<void> {
    const mayLease = (atOnce.get(address) ?? 0) < MAX_RETURNS_AT_ONCE;
    count(address, 1);
    try {
      const hinted = await hintAndLease(database, reference, mode, { mayLease });
      if (hinted?.isLeased) {
        await confirm(hinted, 'return').catch((error: unknown) => {
          const pauseSec = error instanceof GatewayNotAsked ? jittered(NOT_ASKED_PAUSE_SEC) : RETRY_SEC;
          return postponeAfterFailure(parts, hinted, error, pauseSec);
        });
      } else if (hinted?.wasLeased) {
        await waitForConcurrentCheck(database, reference, clock);
      }
    } finally {
      count(address, -1);
    }
  }

  async function handleReturn(
    reference: Reference,
    mayAsk: boolean,
    address: string,
  ): ReturnType<ReturnFromCheckout> {
    const payment = await loadPayment(database, reference, mode);
    if (payment === null) return null;
    const { orderId } = payment;
    if (mayAsk && payment.orderStatus !== 'paid') await ask(reference, address);
    const status = await findOrderStatus(database, orderId);
    return { orderId, status: status ?? payment.orderStatus };
  }

  return (reference, mayAsk, address) =>
    handleReturn(reference, mayAsk, address).catch((error: unknown) => {
      throw withContext(error, { reference });
    });
}

/** A faster webhook's check is under way: its result serves this shopper too, if it comes in time. */
async function waitForConcurrentCheck(database: Database, reference: Reference, clock: Clock): Promise<void> {
  const until = clock.elapsedMs() + PERSON_WAIT_MS;
  while (clock.elapsedMs() < until && (await isBeingChecked(database, reference))) await sleep(LOOK_AGAIN_MS);
}
