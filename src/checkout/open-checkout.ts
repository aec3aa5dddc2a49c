import type { InitializeResult } from '../gateway/initialize.ts';
import { newReference, type OrderId, type Reference } from '../platform/ids.ts';
import type { Money } from '../platform/money.ts';
import { withContext } from '../platform/problem.ts';
import { recordAmbiguousAndAdd, recordInitialize } from './attempts.sql.ts';
import type { CheckoutParts, CheckoutResult, ShopperRequest } from './checkout.ts';
import { whyNotPayable } from './plan-payment.ts';

type PaymentToSend = { orderId: OrderId; reference: Reference; email: string; money: Money };

/** With less time, a further attempt would probably time out and leave a second payment in doubt. */
const ANOTHER_ATTEMPT_NEEDS_MS = 5_000;

/**
 * The initialize call of a payment. Its row is committed as "sending", so a crash from here on loses
 * nothing: the poller asks about the reference, and the same request finds its order again. When the end
 * of the call is unknown, one further payment is tried under a new reference: sending the same reference
 * again could create two transactions, of which verify shows one. The shopper never got the first one's
 * address, so no shopper pays twice; should it be paid all the same, the poller sees it.
 */
export function openCheckout(
  parts: CheckoutParts,
  payment: PaymentToSend,
  request: ShopperRequest,
): Promise<CheckoutResult> {
  return open(parts, payment, request).catch((error: unknown) => {
    throw withContext(error, { reference: payment.reference, orderId: payment.orderId });
  });
}

async function open(
  parts: CheckoutParts,
  payment: PaymentToSend,
  request: ShopperRequest,
): Promise<CheckoutResult> {
  const result = await initialize(parts, payment);
  if (result.outcome !== 'ambiguous' || !isAnotherWorthwhile(parts, request, result))
    return finish(parts, payment, result, request);

  const { store, gateway, clock, onDue, logger } = parts;
  const { orderId, reference } = payment;
  const next = { ...payment, reference: newReference() };
  const { reason } = result;
  const { mode } = gateway;
  const ended = { reference, reason, next: next.reference, mode, key: request.key };
  const isAdded = await recordAmbiguousAndAdd(store, ended);
  onDue();
  logger.warn(
    { reference, orderId, reason, next: isAdded ? next.reference : null },
    'checkout outcome unknown',
  );
  if (!isAdded) return { outcome: 'unavailable', orderId, retryAfterSec: result.retryAfterSec };
  // Timers take whole milliseconds only.
  const withinMs = Math.floor(request.answerByMs - clock.elapsedMs());
  return finish(parts, next, await initialize(parts, next, withinMs), request);
}

function isAnotherWorthwhile(
  { gateway, clock }: CheckoutParts,
  { answerByMs }: ShopperRequest,
  { asksToWait }: { asksToWait: boolean },
): boolean {
  const leftMs = answerByMs - clock.elapsedMs();
  return leftMs >= ANOTHER_ATTEMPT_NEEDS_MS && !asksToWait && gateway.health().failingForMs === 0;
}

function initialize(
  { gateway, publicOrigin }: CheckoutParts,
  { email, money, reference }: PaymentToSend,
  withinMs?: number,
): Promise<InitializeResult> {
  const redirectUrl = `${publicOrigin()}/checkout/return/${reference}`;
  return gateway.initialize({
    email,
    money,
    reference,
    redirectUrl,
    ...(withinMs !== undefined && { withinMs }),
  });
}

async function finish(
  { store, gateway, onDue, logger }: CheckoutParts,
  { orderId, reference, money }: PaymentToSend,
  result: InitializeResult,
  { key }: ShopperRequest,
): Promise<CheckoutResult> {
  const order = await recordInitialize(store, { reference, result, mode: gateway.mode, key });
  const log = logger.child({ reference, orderId });
  switch (result.outcome) {
    case 'opened': {
      // Paid by an earlier payment, cancelled or ended meanwhile: the shopper must not see a page to pay on.
      const refusal = order && whyNotPayable(order);
      log.info({ refusal: refusal?.outcome }, 'checkout opened');
      if (refusal !== null) return refusal;
      return { outcome: 'opened', orderId, reference, money, checkoutUrl: result.checkoutUrl };
    }
    case 'refused':
      log.warn({ reason: result.reason }, 'the service refused the checkout');
      return { outcome: 'refused', orderId };
    case 'not-sent':
    case 'ambiguous':
      log.warn({ outcome: result.outcome, reason: result.reason }, 'checkout not opened');
      onDue();
      return {
        outcome: 'unavailable',
        orderId,
        retryAfterSec: result.retryAfterSec,
        ...(result.outcome === 'ambiguous' && { misconfigured: result.misconfigured }),
      };
  }
}
