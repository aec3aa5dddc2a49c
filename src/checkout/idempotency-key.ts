import { createHash } from 'node:crypto';
import { shopperDetails } from '../orders/shopper-details.ts';
import { Problem } from '../platform/problem.ts';
import type { Basket, CheckoutInput } from './checkout-bodies.ts';
import { cookieIn, cookieLine } from '../platform/request.ts';
import { parseOrderId, type OrderId } from '../platform/ids.ts';

/**
 * A client's name for one request (IETF draft-ietf-httpapi-idempotency-key-header). The same key with the
 * same request leads to the same order, however often it is sent and whatever was cut off in between, and
 * is answered with the current state of that order. Only a request that is the same in every field,
 * e-mail included, gets such an answer: a client that guesses another client's key learns nothing.
 */
export type IdempotencyKey = {
  key: string;
  fingerprint: Buffer;
  /** Made by us for a form that has none, see {@link keyOfForm}. */
  isImplied: boolean;
};

/** What implied keys begin with: a character that no client can send. The statement PLACE relies on it. */
export const IMPLIED_KEY_PREFIX = '\t';

// Printable ASCII, in the quotes of a structured-field string or without them, as clients write it.
const SHAPE = /^(?:"([\x20\x21\x23-\x5b\x5d-\x7e]{1,255})"|([\x21\x23-\x7e][\x20\x21\x23-\x7e]{0,254}))$/;

/**
 * @returns null when the request has no such header: then it is a request of its own every time
 * @throws {Problem} 400 for a key that is none
 */
export function readIdempotencyKey(header: string | undefined, input: CheckoutInput): IdempotencyKey | null {
  if (header === undefined) return null;
  const parts = SHAPE.exec(header.trim());
  const key = parts?.[1] ?? parts?.[2];
  if (key === undefined) {
    throw new Problem('malformed-request', {
      detail: 'Idempotency-Key must be 1 to 255 printable characters.',
    });
  }
  return { key, fingerprint: digest(canonical(input)), isImplied: false };
}

/**
 * The key of a plain HTML form, which can send no header: a double click posts it twice at once. Two
 * posts are the same request when they ask for the same things, for the same e-mail, from the same
 * network, within seconds (see FORM_REPEATS_SEC), and from the same rendering of our page. The e-mail
 * distinguishes two shoppers behind one address; network and page keep a stranger who knows an e-mail
 * from being led to its payment page.
 * @param page the form's field `intent`, which our pages fill anew each time; null: a form of another page
 */
export function keyOfForm(basket: Basket, network: string, page: string | null): IdempotencyKey {
  const key = IMPLIED_KEY_PREFIX + digest([network, page, ...canonical(basket)]).toString('hex');
  return { key, fingerprint: digest(canonical(basket)), isImplied: true };
}

function digest(request: unknown[]): Buffer {
  return createHash('sha256').update(JSON.stringify(request)).digest();
}

/** The request as a list in a fixed order: how a client orders its JSON fields makes no difference. */
function canonical(input: CheckoutInput): unknown[] {
  // Last, and only where given: keys of requests without it stay what they were before the field existed.
  const landing = input.returnUrl === undefined ? [] : [input.returnUrl];
  if ('orderId' in input) return [input.orderId, ...landing];
  const items = input.items.map(({ sku, quantity }) => [sku, quantity]);
  const details = Object.entries(shopperDetails.parse(input)).sort();
  return [input.email, input.currency ?? null, items, ...landing, ...(details.length > 0 ? [details] : [])];
}

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
