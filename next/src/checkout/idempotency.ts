import { Problem } from '../platform/problem.ts';
import { digestOf } from '../platform/ids.ts';

/** An Idempotency-Key as it is stored: nobody else's key collides with it, and it tells nothing. */
export type Key = { key: Uint8Array<ArrayBuffer>; digest: Uint8Array<ArrayBuffer> };

const FORM = /^[\x21-\x7e]{1,255}$/;

/**
 * @param header as it was sent; undefined: the request has none
 * @param owner the e-mail address that the key belongs to: a guessed key of a stranger's is another key
 * @param request all that must be the same when the key comes again
 * @throws {Problem} 400 for a key that cannot be one
 */
export function readKey(header: string | undefined, owner: string, request: unknown): Key | null {
  if (header === undefined || header === '') return null;
  if (!FORM.test(header))
    throw new Problem('malformed-request', {
      detail: 'Idempotency-Key must be 1 to 255 printable characters without spaces.',
    });
  return { key: digestOf([owner.toLowerCase(), header]), digest: digestOf(request) };
}
