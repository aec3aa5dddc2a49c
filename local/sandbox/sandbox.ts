import { systemClock, type Clock } from '../../src/platform/clock.ts';
import { listen } from '../../src/platform/http-server.ts';
import type { Logger } from '../../src/platform/logger.ts';
import { createApp } from './app.ts';
import { WEBHOOK_PAUSES_MS } from './assumptions.ts';
import { createCallBook } from './calls.ts';
import { createConditions, profileOf } from './conditions.ts';
import { createFaultBook } from './faults/book.ts';
import { fateOf } from './faults/fate.ts';
import { createPlayer } from './faults/player.ts';
import { createKeyRing, SANDBOX_LIVE_KEY, SANDBOX_TEST_KEY } from './keys.ts';
import { openLedgerFile } from './ledger/ledger-file.ts';
import { createLedger, type Ledger } from './ledger/ledger.ts';
import { createLedgerState } from './ledger/state.ts';
import { readStylesheet } from './pages/stylesheet.ts';
import type { ProfileName } from './profiles/all.ts';
import type { Profile } from './profiles/profile.ts';
import { createTurnstile } from './rate.ts';
import { createServiceClock } from './service-clock.ts';
import { createDeliveries } from './webhooks/deliveries.ts';
import { createPost } from './webhooks/post.ts';

export type SandboxOptions = {
  host: string;
  /** 0: any free one. */
  port: number;
  /** Folder of the ledger, made if absent; null keeps everything in memory. */
  dataDir: string | null;
  logger: Logger;
  /** How browsers reach the checkout pages, an origin; by default the address it listens on. */
  publicUrl?: string;
  /** The shop's address, for checkouts opened by hand; by default where `npm start` has it. */
  shopUrl?: string;
  /** Keys that are valid beside the stand-in's own two. */
  extraKeys?: string[];
  webhook: {
    /** Null: nobody is told until {@link Sandbox.setWebhookUrl}. */
    url: string | null;
    secret: string;
    /** Milliseconds between attempts, the last one repeating; short ones make tests short. */
    pausesMs?: readonly number[];
  };
  /** Which service it plays at first; the plain one by default. */
  profile?: ProfileName | Profile;
  /** Delays each answer under /v1, in milliseconds. */
  latencyMs?: number;
  clock?: Clock;
};

export type Sandbox = {
  /** What the integrator calls {base_url}: no slash at its end. */
  url: string;
  testKey: string;
  liveKey: string;
  webhookSecret: string;
  setWebhookUrl(url: string | null): void;
  close(): Promise<void>;
};

/**
 * Starts the stand-in for the payment service: its interface, its checkout pages, its webhooks, and
 * control routes for tests.
 * @throws {PortTakenError} when the port is in use
 * @throws {Error} when another process writes to `dataDir`, or its ledger is damaged
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { logger, webhook } = options;
  const clock = createServiceClock(options.clock ?? systemClock);
  const keys = createKeyRing(options.extraKeys ?? []);
  const state = createLedgerState();
  const log = await openLedgerFile(options.dataDir, state, logger);
  const [conditions, faults] = [createConditions(options.profile, options.latencyMs), createFaultBook()];
  const deliveries = createDeliveries({
    ...webhook,
    pausesMs: webhook.pausesMs ?? WEBHOOK_PAUSES_MS,
    post: createPost(),
    profile: () => profileOf(conditions),
    fateOf: (notice) => fateOf(faults, notice),
    clock,
    ended: ({ webhookId, transaction: { reference } }, hasArrived) => {
      if (!hasArrived) logger.warn({ reference }, 'sandbox webhook given up');
      ledger.endWebhook(webhookId, hasArrived);
    },
  });
  const ledger: Ledger = createLedger({ clock, log, state, webhooks: deliveries });

  const player = createPlayer({ ledger, forge: deliveries.forge });

  const closeParts = async (): Promise<void> => {
    player.reset();
    await deliveries.close();
    await log.close();
  };
  let publicUrl = options.publicUrl?.replace(/\/+$/, ''); // with port 0 known only once it listens
  const app = createApp({
    ledger,
    keys,
    calls: createCallBook(clock),
    conditions,
    faults,
    player,
    turnstile: createTurnstile(clock),
    clock,
    deliveries,
    checkoutUrl: (token) => `${publicUrl ?? ''}/checkout/${token}`,
    baseUrl: () => publicUrl ?? '',
    webhookSecret: webhook.secret,
    shopUrl: options.shopUrl ?? 'http://localhost:3000/',
    stylesheet: await readStylesheet(),
    logger,
  });
  const server = await listen(app, options.host, options.port).catch(afterwards(closeParts));
  const url = addressOf(options.host, server.port);
  publicUrl ??= url;
  for (const notice of state.owedNotices()) deliveries.send(notice);

  return {
    url,
    testKey: SANDBOX_TEST_KEY,
    liveKey: SANDBOX_LIVE_KEY,
    webhookSecret: webhook.secret,
    setWebhookUrl: deliveries.setUrl,
    async close() {
      await server.close();
      await closeParts();
    },
  };
}

/** Cleans up, and lets the failure go on. */
function afterwards(cleanUp: () => Promise<void>): (error: unknown) => Promise<never> {
  return async (error) => {
    await cleanUp();
    throw error;
  };
}

/** An address that can be opened: "every interface" is none. */
function addressOf(host: string, port: number): string {
  if (host === '0.0.0.0' || host === '::') return `http://localhost:${port}`;
  return host.includes(':') ? `http://[${host}]:${port}` : `http://${host}:${port}`;
}
