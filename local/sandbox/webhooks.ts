import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { Agent, request } from 'undici';

/** Pauses before the second, third and fourth attempt. */
const PAUSES_MS = [250, 1_000, 3_000];
const TIMEOUT_MS = 10_000;

export type Webhooks = {
  /** Null: no webhooks are sent. */
  url: string | null;
  /**
   * Posts the body once, a string as it is. Returns the receiver's HTTP status, or null if there
   * was no answer.
   */
  post(body: unknown): Promise<number | null>;
  /**
   * Posts the body after `delayMs` milliseconds in the background, and repeats it while the answer
   * is not 2xx.
   */
  send(body: unknown, delayMs: number): void;
  /** Drops all webhooks that have not arrived yet. */
  drop(): void;
  close(): Promise<void>;
};

/** @param secret null: webhooks are not signed */
export function createWebhooks(url: string | null, secret: string | null): Webhooks {
  const agent = new Agent({ connections: 64, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
  let dropping = new AbortController();

  async function post(body: unknown): Promise<number | null> {
    if (webhooks.url === null) return null;
    const raw = typeof body === 'string' ? body : JSON.stringify(body);
    const signature = secret === null ? {} : { 'x-signature': createHmac('sha256', secret).update(raw).digest('hex') };
    const headers = { 'content-type': 'application/json', 'user-agent': 'payment-sandbox', ...signature };
    try {
      const answer = await request(webhooks.url, { dispatcher: agent, method: 'POST', headers, body: raw });
      await answer.body.dump(); // frees the connection
      return answer.statusCode;
    } catch {
      return null;
    }
  }

  async function deliver(body: unknown, delayMs: number): Promise<void> {
    const { signal } = dropping;
    for (const pauseMs of [delayMs, ...PAUSES_MS]) {
      if (pauseMs > 0) await sleep(pauseMs, undefined, { signal });
      const status = webhooks.url === null ? null : await post(body);
      if (signal.aborted || (status !== null && status >= 200 && status < 300)) return;
    }
  }

  const webhooks: Webhooks = {
    url,
    post,
    send(body, delayMs) {
      deliver(body, delayMs).catch(() => undefined); // dropped while it waited
    },
    drop() {
      dropping.abort();
      dropping = new AbortController();
    },
    async close() {
      webhooks.drop();
      await agent.destroy();
    },
  };
  return webhooks;
}
