import type { RequestListener } from 'node:http';
import { buildApp } from '../../src/app.ts';
import { compose } from '../../src/compose.ts';
import type { Program } from '../../src/program.ts';
import { loadConfig } from '../../src/config.ts';
import type { Extensions } from '../../src/extensions.ts';
import { SecretKey } from '../../src/gateway/secret-key.ts';
import { systemClock, type Clock } from '../../src/platform/clock.ts';
import { listen } from '../../src/platform/http-server.ts';
import type { OrderId, Reference } from '../../src/platform/ids.ts';
import { createLogger, type Logger } from '../../src/platform/logger.ts';
import { Secret } from '../../src/platform/secret.ts';
import { openTracing } from '../../src/bootstrap/open-program.ts';
import type { ProfileName } from '../../local/sandbox/profiles/all.ts';
import type { Profile } from '../../local/sandbox/profiles/profile.ts';
import { startSandbox, type Sandbox } from '../../local/sandbox/sandbox.ts';
import { startWorker } from '../../src/bootstrap/start-worker.ts';
import { cloneDatabase } from './database.ts';
import { slowDown } from './slow-time.ts';
import { recordExchanges } from './traffic/exchanges.ts';
import { recordOutgoing, type Traffic } from './traffic/traffic.ts';

export type TestProgram = {
  program: Program;
  /** The server's address, without a slash at the end. */
  origin: string;
  sandbox: Sandbox;
  /** What the sandbox's clock shows. */
  serviceTime: Clock;
  /** A person's hand at the sandbox: `hand('transactions/<reference>/pay', {…})`. */
  hand(path: string, body?: object): Promise<Response>;
  /** Starts a checkout over HTTP and gives the answer's JSON. */
  checkout(body?: object, headers?: Record<string, string>): Promise<CheckoutAnswer>;
  /** Everything that came in and went out so far. */
  traffic(): Traffic;
  close(): Promise<void>;
};

export type CheckoutAnswer = {
  orderId: OrderId;
  reference: Reference;
  status: string;
  amount: string;
  currency: string;
  checkoutUrl: string;
};

export type TestProgramOptions = {
  /** Variables over those of the test. */
  env?: Record<string, string>;
  /** Whether the clock runs by itself. Otherwise a test calls `duePayments.runOnce()`. */
  worker?: boolean;
  /**
   * Whether time passes so slowly that nothing strikes by itself: for a test that moves its due times by SQL.
   */
  slowTime?: boolean;
  /** Which service the sandbox plays. */
  profile?: ProfileName | Profile;
  /** Milliseconds that the sandbox takes for each answer. */
  latencyMs?: number;
  /** Another service than the sandbox. */
  gatewayUrl?: string;
  /** As with a service that signs nothing: no secret is set. */
  areWebhooksUnsigned?: boolean;
  /** Where log lines go; nowhere by default. */
  logger?: Logger;
  /** Address of a database that the caller keeps; a new one by default. */
  databaseUrl?: string;
  /** What a shop has put in place of what the program comes with; nothing by default. */
  extensions?: Extensions;
};

/** The whole program on a database of its own, listening, with a sandbox of its own beside it. */
export async function startProgram(options: TestProgramOptions = {}): Promise<TestProgram> {
  const kept = options.databaseUrl;
  const { url, drop } =
    kept === undefined ? await cloneDatabase() : { url: kept, drop: () => Promise.resolve() };
  const logger = options.logger ?? createLogger('silent');
  // Its own hands: a test that moves our clock leaves the service's alone.
  const serviceTime = options.slowTime === true ? await slowDown(url) : { ...systemClock };
  const sandbox = await startSandbox({
    host: '127.0.0.1',
    port: 0,
    dataDir: null,
    logger,
    clock: serviceTime,
    webhook: { url: null, secret: 'whsec_test', pausesMs: [50] },
    latencyMs: options.latencyMs ?? 0,
    ...(options.profile && { profile: options.profile }),
    extraKeys: options.env?.GATEWAY_SECRET_KEY === undefined ? [] : [options.env.GATEWAY_SECRET_KEY],
  });
  const gatewayUrl = new URL(options.gatewayUrl ?? sandbox.url);
  const outgoing = recordOutgoing(gatewayUrl, options.env?.GATEWAY_SECRET_KEY ?? sandbox.testKey);
  const env: Record<string, string | undefined> = {
    NODE_ENV: 'test',
    CHECKOUTS_PER_MINUTE: '0',
    RECONCILE_EVERY_MIN: '0',
    ...options.env,
  };
  const config = loadConfig(env);
  const tracing = await openTracing(config.tracing, () => logger);
  let origin = '';
  const program = await compose({
    config,
    services: {
      databaseUrl: new Secret(url),
      gatewayUrl,
      secretKey: config.GATEWAY_SECRET_KEY ?? new SecretKey(sandbox.testKey),
      webhookSecrets:
        options.areWebhooksUnsigned === true
          ? []
          : [new Secret(sandbox.webhookSecret), ...config.WEBHOOK_SECRETS],
      sandboxUrl: sandbox.url,
      receiveWebhooksAt: sandbox.setWebhookUrl,
      close: () => sandbox.close(),
    },
    publicOrigin: () => origin,
    logger,
    tracing,
    ...(options.extensions && { extensions: options.extensions }),
  });
  const { handler, exchanges } = recordExchanges(buildApp(program) as RequestListener);
  const http = await listen(handler, '127.0.0.1', 0);
  origin = `http://127.0.0.1:${http.port}`;
  sandbox.setWebhookUrl(`${origin}/webhooks/payments`);
  const worker = options.worker === true ? startWorker(program) : null;

  const hand = (path: string, body: object = {}): Promise<Response> =>
    post(`${sandbox.url}/sandbox/${path}`, body);
  return {
    program,
    get origin() {
      return origin;
    },
    sandbox,
    serviceTime,
    hand,
    checkout: async (body = aBasket, headers = {}) => {
      const answer = await post(`${origin}/checkout`, body, headers);
      if (answer.status !== 201)
        throw new Error(`checkout answered ${answer.status}: ${await answer.text()}`);
      return (await answer.json()) as CheckoutAnswer;
    },
    traffic: () => ({
      ...outgoing.traffic,
      exchanges,
      own: origin,
      service: gatewayUrl.origin,
      mayConnectTo: [origin, sandbox.url, gatewayUrl.href, url, env.FULFILMENT_URL ?? origin].map(
        hostAndPort,
      ),
      concurrency: config.GATEWAY_CONCURRENCY,
    }),
    close: async () => {
      await sandbox.close();
      await worker?.stop();
      await http.close(0);
      await program.close();
      await tracing?.close();
      await drop();
      outgoing.stop();
    },
  };
}

/** As sockets name it: tests listen on this machine alone. */
function hostAndPort(address: string): string {
  const { hostname, port } = new URL(address);
  return `${hostname === 'localhost' ? '127.0.0.1' : hostname}:${port}`;
}

/** A basket that the demo catalogue can price: 8,500.00 NGN. */
export const aBasket = { email: 'ada@example.com', items: [{ sku: 'ankara-tote', quantity: 1 }] };

/** On a connection of its own: one that was idle may be closed by the server in the moment in which it is used. */
export function post(url: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close', ...headers },
    body: JSON.stringify(body),
    redirect: 'manual',
  });
}

/**
 * Waits until `look` gives something other than false, null or undefined, for at most `limitMs`; asks less
 * often as time passes.
 */
export async function eventually<T>(
  look: () => Promise<T | false | null | undefined>,
  limitMs = 90_000,
): Promise<T> {
  const begunAt = performance.now();
  for (;;) {
    const seen = await look();
    if (seen !== false && seen !== null && seen !== undefined) return seen;
    const waitedMs = performance.now() - begunAt;
    if (waitedMs > limitMs) throw new Error(`nothing came within ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, Math.min(Math.max(waitedMs / 5, 10), 150)));
  }
}
