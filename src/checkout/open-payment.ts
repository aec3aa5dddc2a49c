import type { Logger } from 'pino';
import type { Gateway } from '../gateway/gateway.ts';
import { INITIALIZE_MS, type InitializeResult } from '../gateway/initialize.ts';
import { changeOrder } from '../payments/change-order.ts';
import type { Aggregate, Policy } from '../payments/aggregate.ts';
import { record, setPayment, type Change } from '../payments/change.ts';
import { Problem } from '../platform/problem.ts';
import type { CheckoutLimits } from './limits.ts';
import type { PrismaClient } from '../platform/prisma/client.ts';

export type OpenParts = {
  prisma: PrismaClient;
  gateway: Gateway;
  policy: Policy;
  /** The address for the shopper's return. The reference is appended to it. */
  returnBase: () => string;
  limits: CheckoutLimits;
  logger: Logger;
};

/** A committed payment that is not sent yet. */
export type Placed = { orderId: string; reference: string; amount: bigint; currency: string; email: string };
export type Opened = { orderId: string; reference: string; amount: bigint; currency: string; checkoutUrl: string };

/**
 * After this time, initialize has answered or its process is dead. The database's default of
 * `next_check_at` is the same time.
 */
export const SENDING_MS = INITIALIZE_MS + 5_000;
export const RETRY_SEC = 5;
const FIRST_CHECK_MS = 5_000;

/**
 * Opens a committed payment at the service, by the only initialize call for its reference.
 * @throws {Problem} 502 if the service refused; 503 if nothing was sent or the result is unknown;
 * 409 if the order was paid, held or ended meanwhile, so that nobody may pay on the page
 */
export async function openPayment(
  parts: OpenParts,
  { orderId, reference, amount, currency, email }: Placed,
): Promise<Opened> {
  const { gateway, logger, limits, returnBase } = parts;
  const request = { email, money: { amount, currency }, reference, redirectUrl: `${returnBase()}${reference}` };
  const result = await gateway.initialize(request);
  const status = await changeOrder(parts, orderId, 'service', (change) => {
    writeResult(change, reference, result);
    return change.aggregate.status;
  });
  logger.info(
    { orderId, reference, outcome: result.outcome, reason: 'reason' in result ? result.reason : undefined },
    'initialize answered',
  );
  if (result.outcome === 'refused') throw new Problem('payment-refused', { extra: { orderId } });
  if (result.outcome !== 'opened')
    throw new Problem('payment-service-unavailable', {
      detail: 'The order is kept. Send the same Idempotency-Key again, or start a checkout with its orderId.',
      retryAfterSec: Math.max(result.retryAfterSec ?? 0, RETRY_SEC),
      extra: { orderId },
    });
  await limits.countOpened(email);
  if (status === null) throw new Error(`the order ${orderId} is gone`);
  const refusal = refusalOf(status, orderId);
  if (refusal !== null) throw refusal;
  return { orderId, reference, amount, currency, checkoutUrl: result.checkoutUrl };
}

function writeResult(change: Change, reference: string, result: InitializeResult): void {
  const { aggregate, now } = change;
  const payment = aggregate.payments.find((one) => one.reference === reference);
  if (payment === undefined) throw new Error(`${reference} is no payment of its order`);
  record(change, `initialize ${result.outcome}`, reference, 'reason' in result ? { reason: result.reason } : {});
  // A webhook or the schedule may have been faster. Then the result of verify stays.
  const isSending = payment.status === 'sending';
  if (result.outcome === 'opened') {
    const next = { status: 'open' as const, nextCheckAt: new Date(now.getTime() + FIRST_CHECK_MS) };
    setPayment(change, payment, { checkoutUrl: result.checkoutUrl, openedAt: now, ...(isSending && next) });
  } else if (isSending && result.outcome === 'unknown') {
    setPayment(change, payment, { reason: result.reason, nextCheckAt: now });
  } else if (isSending) {
    setPayment(change, payment, { status: 'refused', reason: result.reason, nextCheckAt: null });
  }
}

/** The statuses in which an order takes no payment. */
const REFUSALS = {
  paid: 'already-paid',
  review: 'under-review',
  cancelled: 'order-cancelled',
  expired: 'order-expired',
} as const;

/** Why an order with this status takes no further payment. null: it takes one. */
export function refusalOf(status: Aggregate['status'], orderId: string): Problem | null {
  return status === 'pending' || status === 'failed' ? null : new Problem(REFUSALS[status], { extra: { orderId } });
}
