import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import express from 'express';

import { controlRoutes } from './control.ts';
import { answerError, refusal, send } from './http.ts';
import type { Ledger } from './ledger.ts';
import { payRoutes } from './pay.ts';
import { serviceRoutes } from './service.ts';
import type { State } from './state.ts';
import { createWebhooks } from './webhooks.ts';

export type SandboxOptions = {
  /** 0, the default, means any free port. */
  port?: number;
  /** The only accepted key. Its prefix decides whether this is live mode. */
  key: string;
  /** Null: no webhooks are sent. */
  webhookUrl: string | null;
  /** Null: webhooks are not signed. */
  webhookSecret: string | null;
};

export type Sandbox = {
  /** The {base_url} of the service's reference, without a final slash. */
  url: string;
  /** Closes immediately: open connections are cut, and pending answers and webhooks are dropped. */
  close(): Promise<void>;
};

/**
 * Longer than clients keep idle connections, so that no call uses a connection that is just being
 * closed.
 */
const KEEP_ALIVE_MS = 120_000;

/**
 * Starts a sandbox of the payment service on loopback: its calls under /v1, its hosted page under
 * /pay, and the control of control.ts under /sandbox. All data is kept in memory.
 * @throws {Error} EADDRINUSE if the port is taken
 */
export async function startSandbox({ port = 0, key, webhookUrl, webhookSecret }: SandboxOptions): Promise<Sandbox> {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const mode = key.startsWith('sk_live_') ? 'live' : 'test';
  const ledger: Ledger = { mode, hidePaid: false, transactions: new Map(), rows: [] };
  const webhooks = createWebhooks(webhookUrl, webhookSecret);
  const closing = new AbortController();
  const { signal } = closing;
  const state: State = { url, key, latencyMs: 0, ledger, faults: new Map(), calls: [], webhooks, closing: signal };

  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.use('/v1', serviceRoutes(state));
  app.use('/pay', payRoutes(state));
  app.use('/sandbox', controlRoutes(state, webhookUrl));
  app.use((_req, res) => {
    send(res, refusal(404, 'there is nothing at this address'));
  });
  app.use(answerError);
  server.on('request', app);

  return {
    url,
    async close() {
      const closed = new Promise((done) => server.close(done));
      closing.abort();
      server.closeAllConnections();
      await Promise.all([closed, webhooks.close()]);
    },
  };
}
