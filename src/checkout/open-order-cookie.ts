import { cookieIn, cookieLine } from '../platform/cookie.ts';
import { parseOrderId, type OrderId } from '../platform/ids.ts';

// A plain form carries no Idempotency-Key, so the browser remembers which order it was sent away with: a
// shopper who comes back and buys the same basket again gets the open checkout, and not a second order.

const NAME = '__Host-open-order';
/** A shopper who buys the same again after this long wants it twice. */
const REMEMBERED_SEC = 15 * 60;

/** The order that the browser was last sent away with; null when there is none. */
export function openOrderIn(cookies: string | undefined): OrderId | null {
  return parseOrderId(cookieIn(cookies, NAME));
}

/** The `Set-Cookie` line that makes a browser remember an order. */
export function rememberOpenOrder(orderId: OrderId): string {
  return cookieLine({ name: NAME, value: orderId, maxAgeSec: REMEMBERED_SEC, sameSite: 'Lax' });
}
