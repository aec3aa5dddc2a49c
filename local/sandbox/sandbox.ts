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
  /** 0, the default: any free one. */
  port?: number;
  /** The only key that is let in; its prefix says whether this is live mode. */
  key: string;
  /** Null: nobody is told of payments. */
  webhookUrl: string | null;
  /** Null: webhooks are not signed. */
  webhookSecret: string | null;
};

export type Sandbox = {
  /** What the integrator calls {base_url}: no slash at its end. */
  url: string;
  /** Ends at once: open connections are cut, answers and webhooks under way dropped. */
  close(): Promise<void>;
};

/**
 * Longer than clients keep idle connections, so that no call meets one that is just being closed.
 */
const KEEP_ALIVE_MS = 120_000;

/**
 * Starts the stand-in of the payment service on loopback: its calls under /v1, its hosted page
 * under /pay, and the control of control.ts under /sandbox. Everything is kept in memory.
 * @throws {Error} EADDRINUSE when the port is taken
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
    send(res, refusal(404, 'there is nothing here'));
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
