import { GatewayKeyRefused, GatewayUnavailable } from '../gateway/errors.ts';
import type { OrderStatus } from '../orders/order.ts';
import { findOrderStatus } from '../orders/repository.ts';
import { sleep, type Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import type { Logger } from '../platform/logger.ts';
import type { Mode } from '../platform/mode.ts';
import { tellOf } from '../platform/story.ts';
import { hintAndClaim, isBeingChecked, postponeCheck } from '../settlement/checks/repository.ts';
import type { Payment } from '../settlement/payment.ts';
import { loadPayment } from '../settlement/repository.ts';
import type { Settle } from '../settlement/settle.ts';

/**
 * The shopper came back. Nothing in the query is evidence and nothing of it is read: the service is asked, and the
 * shopper then sees what the order really says. When it cannot be asked in time, the order page says so and the clock goes on.
 * @param mayAsk false: the service is not asked now, and nothing is written
 */
export type ReturnFromCheckout = (
  reference: string,
  mayAsk: boolean,
) => Promise<{ orderId: string; status: OrderStatus } | null>;

export type ReturnParts = {
  database: Database;
  mode: Mode;
  settle: Settle;
  clock: Clock;
  logger: Logger;
};

/** A person waits for the page behind the redirect, so no longer than this. */
const PATIENCE_MS = 6_000;
const LOOK_AGAIN_MS = 200;
/** After a failed question the clock asks again soon: somebody may still be looking at the page. */
const RETRY_SEC = 5;

export function createReturnFromCheckout(parts: ReturnParts): ReturnFromCheckout {
  const { database, mode, settle, clock } = parts;
  async function comeBack(reference: string, mayAsk: boolean): ReturnType<ReturnFromCheckout> {
    const payment = await loadPayment(database, reference, mode);
    if (payment === null) return null;
    const { orderId } = payment;
    if (mayAsk && payment.orderStatus !== 'paid') {
      const hinted = await hintAndClaim(database, reference, mode);
      if (hinted?.isClaimed) {
        await settle(hinted, 'return').catch((error: unknown) => putOff(parts, hinted, error));
      } else if (hinted?.isLeased) {
        await somebodyElseSettles(database, reference, clock);
      }
    }
    const status = await findOrderStatus(database, orderId);
    return { orderId, status: status ?? payment.orderStatus };
  }

  return (reference, mayAsk) =>
    comeBack(reference, mayAsk).catch((error: unknown) => {
      throw tellOf(error, { reference });
    });
}

/** A webhook was faster and its check is under way: its result is ours too, if it comes in time. */
async function somebodyElseSettles(database: Database, reference: string, clock: Clock): Promise<void> {
  const until = clock.elapsedMs() + PATIENCE_MS;
  while (clock.elapsedMs() < until && (await isBeingChecked(database, reference))) await sleep(LOOK_AGAIN_MS);
}

async function putOff(
  { database, logger }: ReturnParts,
  { reference, orderId }: Payment,
  error: unknown,
): Promise<void> {
  if (!(error instanceof GatewayUnavailable || error instanceof GatewayKeyRefused)) throw error;
  const notBeforeSec = error instanceof GatewayUnavailable ? error.retryAfterSec : null;
  const { message: reason } = error;
  logger.warn({ reference, orderId, reason, pauseSec: RETRY_SEC, notBeforeSec }, 'check postponed');
  await postponeCheck(database, reference, RETRY_SEC, notBeforeSec);
}
