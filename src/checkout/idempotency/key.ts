import { createHash } from 'node:crypto';
import { Problem } from '../../platform/problem.ts';
import type { CheckoutInput } from '../input.ts';

/**
 * A client's name for one request (IETF draft-ietf-httpapi-idempotency-key-header). The same key with the same request
 * gives the same checkout, however often it is sent and whatever was cut off in between. An answer is only ever given
 * to a request that is the same in every field, e-mail included: a key that somebody else guesses shows nothing.
 */
export type IdempotencyKey = { key: string; fingerprint: Buffer };

// Printable ASCII, in the quotes of a structured-field string or without them, as clients write it.
const SHAPE = /^(?:"([\x20\x21\x23-\x5b\x5d-\x7e]{1,255})"|([\x21\x23-\x7e][\x20\x21\x23-\x7e]{0,254}))$/;

/**
 * @param header null when the request has none: then it is a request of its own every time
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
  return {
    key,
    fingerprint: createHash('sha256')
      .update(JSON.stringify(canonical(input)))
      .digest(),
  };
}

/** The request in one fixed order of fields: how a client orders its JSON does not make another request of it. */
function canonical(input: CheckoutInput): unknown[] {
  if ('orderId' in input) return [input.orderId];
  return [input.email, input.currency ?? null, input.items.map(({ sku, quantity }) => [sku, quantity])];
}
