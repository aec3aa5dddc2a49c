import type { Money } from '../platform/money.ts';
import type { IdempotencyKey } from './idempotency/key.ts';
import { recordInitialize } from './repository.ts';
import type { CheckoutParts, CheckoutResult } from './start-checkout.ts';

export type PaymentToSend = { orderId: string; reference: string; email: string; money: Money };

/**
 * The one initialize call of a payment. Its row is committed as "sending", so a crash from here on loses nothing: the
 * clock asks about the reference, and the same request finds its order again.
 */
export async function openCheckout(
  { store, gateway, publicOrigin, onDue, logger }: CheckoutParts,
  { orderId, reference, email, money }: PaymentToSend,
  key: IdempotencyKey | null,
): Promise<CheckoutResult> {
  const redirectUrl = `${publicOrigin()}/checkout/return/${reference}`;
  const result = await gateway.initialize({ email, money, reference, redirectUrl });
  await recordInitialize(store, reference, result, gateway.mode, key);
  const log = logger.child({ reference, orderId });
  switch (result.outcome) {
    case 'opened':
      log.info('checkout opened');
      return { outcome: 'opened', orderId, reference, money, checkoutUrl: result.checkoutUrl };
    case 'refused':
      log.warn({ reason: result.reason }, 'the service refused the checkout');
      return { outcome: 'refused', orderId };
    case 'not-sent':
    case 'ambiguous':
      log.warn({ outcome: result.outcome, reason: result.reason }, 'checkout not opened');
      onDue();
      return { outcome: 'unavailable', orderId, retryAfterSec: result.retryAfterSec };
  }
}
