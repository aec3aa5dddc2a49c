import { readRetryAfter } from '../gateway/traffic/backoff.ts';
import { systemClock } from '../platform/clock.ts';
import type { Secret } from '../platform/secret.ts';
import { createSignedPost } from '../platform/signed-post.ts';
import { ReleaseRefused, type ReceiverContext } from './release.ts';

type Sent = { id: string; message: string };

const NOT_LET_IN = new Set([401, 403]);
const GONE = 410;
const TOO_MANY_REQUESTS = 429;

/**
 * Sends a release or an event to another system by a signed POST (Standard Webhooks): id and body are the
 * same on every delivery, `webhook-timestamp` and `webhook-signature` belong to one delivery. Any 2xx is a
 * receipt, 410 ends the delivery, and `Retry-After` is honoured, an hour at most. A redirect is no receipt
 * and is not followed, because only the configured address may learn of orders. What the network throws is a
 * {@link ReleaseRefused}: a later attempt may succeed. 401 and 403 are not: our signature or our address is
 * wrong, and a person has to look.
 * @param moreHeaders sent along, unsigned
 */
export function createHttpReceiver(
  url: URL,
  secret: Secret,
  moreHeaders: () => Record<string, string> = () => ({}),
): {
  receive(message: Sent, context: Pick<ReceiverContext, 'signal'>): Promise<void>;
  close(): Promise<void>;
} {
  // Releases and events each have eight places.
  const { post, close } = createSignedPost(url, secret, 16);

  async function receive(
    { id, message: body }: Sent,
    { signal }: Pick<ReceiverContext, 'signal'>,
  ): Promise<void> {
    const sent = { id, body, sentAt: systemClock.now(), signal, headers: moreHeaders() };
    const { status, headers } = await post(sent).catch(asRefusal);
    if (status >= 200 && status <= 299) return;
    if (NOT_LET_IN.has(status))
      throw new Error(
        `the receiver answered HTTP ${status}: it does not let us in; check FULFILMENT_SECRET and FULFILMENT_URL`,
      );
    const isGone = status === GONE;
    throw new ReleaseRefused(
      `the receiver answered HTTP ${status}${isGone ? ': it wants no more of this' : ''}`,
      {
        isGone,
        isOverloaded: status === TOO_MANY_REQUESTS,
        retryAfterSec: readRetryAfter(headers['retry-after'], headers.date)?.sec ?? null,
      },
    );
  }

  return { receive, close };
}

function asRefusal(error: Error): never {
  throw error.name === 'TimeoutError' ? error : new ReleaseRefused(error.message);
}
