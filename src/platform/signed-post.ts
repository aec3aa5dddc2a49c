import { Webhook } from 'standardwebhooks';
import { Agent, request } from 'undici';
import type { Secret } from './secret.ts';

/**
 * Only an answer's status and headers count: this much of its body is read, then the connection is dropped.
 */
const MAX_BODY_BYTES = 64 * 1_024;

type Signed = {
  /** The same whenever the same is sent again. */
  id: string;
  body: string;
  /** Of this try. */
  sentAt: Date;
  signal: AbortSignal;
  /** Sent along, unsigned. */
  headers?: Record<string, string>;
};

type SignedPost = {
  post(message: Signed): Promise<{ status: number; headers: Record<string, string | string[] | undefined> }>;
  close(): Promise<void>;
};

/** Posts JSON to one address, signed by Standard Webhooks. Redirects are answers and not followed. */
export function createSignedPost(url: URL, secret: Secret, connections: number): SignedPost {
  const webhook = new Webhook(secret.reveal());
  const agent = new Agent({ connections, connect: { timeout: 2_000 } });
  return {
    post: async ({ id, body, sentAt, signal, headers = {} }) => {
      const answer = await request(url, {
        method: 'POST',
        dispatcher: agent,
        body,
        headers: {
          ...headers,
          'content-type': 'application/json',
          'webhook-id': id,
          'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
          'webhook-signature': webhook.sign(id, sentAt, body),
        },
        signal,
      });
      await answer.body.dump({ limit: MAX_BODY_BYTES, signal });
      return { status: answer.statusCode, headers: answer.headers };
    },
    close: () => agent.close(),
  };
}
