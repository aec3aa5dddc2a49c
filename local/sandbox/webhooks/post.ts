import { Agent, request } from 'undici';

import { WEBHOOK_TIMEOUT_MS } from '../assumptions.ts';
import type { WebhookMessage } from './message.ts';

/** Deliveries under way at once, each on its own kept-alive connection: slow answers hold up only themselves. */
export const MAX_IN_FLIGHT = 64;

export type Post = {
  /** The HTTP status that the receiver answered with in time, or null. Never rejects. */
  send(url: string, message: WebhookMessage): Promise<number | null>;
  close(): Promise<void>;
};

export function createPost(): Post {
  const agent = new Agent({ connections: MAX_IN_FLIGHT });
  return {
    async send(url, { headers, body }) {
      try {
        // One deadline from the connection to the last byte: a receiver that drips its answer is slow too.
        const signal = AbortSignal.timeout(WEBHOOK_TIMEOUT_MS);
        const answer = await request(url, { dispatcher: agent, method: 'POST', headers, body, signal });
        await answer.body.dump(); // frees the connection for the next delivery
        return answer.statusCode;
      } catch {
        return null;
      }
    },
    close: () => agent.destroy(),
  };
}
