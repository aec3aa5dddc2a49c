import { expect } from '@jest/globals';
import { newId } from '../../src/platform/ids.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { startSandbox } from '../../local/sandbox/sandbox.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { checkInvariants } from '../support/invariants.ts';
import { passTimeSql } from '../support/pass-time.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';
import { freePort, newFolder } from '../support/process.ts';
import { eventually, post, type CheckoutAnswer } from '../support/program.ts';
import { startReleaseReceiver } from '../support/release-receiver.ts';
import { startServiceProxy, type ProxiedRequest } from '../support/service-proxy.ts';
import { startShop, type ShopProcess } from '../support/shop-process.ts';
import type { Held, Where } from '../support/stops.ts';

/** A message on one of the server's four sides, and where it is stopped. */
export type Place = Where & { on: 'database' | 'service' | 'receiver' | 'shop' };

/** What an answer to `POST /checkout` says; null when the connection broke before one came. */
export type Answer = (Partial<CheckoutAnswer> & { http: number }) | null;

export type World = {
  /** Address of the service itself, past the proxy. */
  service: string;
  /** Starts the server, again if it has died. */
  start(): Promise<void>;
  isRunning(): boolean;
  /** Kills the server (SIGKILL) when it gets there; resolves once it is dead. What it held there goes no further. */
  diesAt(place: Place): Promise<void>;
  /** Breaks the one connection there; the server lives on. */
  isCutAt(place: Place): Promise<void>;
  /** Holds the message there while something else happens, and then lets it go on. */
  meanwhileAt(place: Place, happens: () => Promise<void>): Promise<void>;
  /** A shopper posts a checkout. */
  checkout(body: object, key?: string): Promise<Answer>;
  /** A checkout that must work. The clock leaves it alone for an hour, so that only the door in question asks. */
  open(): Promise<CheckoutAnswer>;
  /** The shopper comes back. @returns the status, null when the connection broke */
  comesBack(reference: string): Promise<number | null>;
  /** The service has a payment decided. */
  hand(reference: string, deed: 'pay' | 'fail', how?: { notify: boolean; amount?: string }): Promise<void>;
  /** Waits until a webhook about the payment has been answered 202. */
  acknowledged(reference: string): Promise<void>;
  /** Moves everything that waits for a time: by SQL, as the clock of the database cannot be moved. */
  letTimePass(seconds: number): Promise<void>;
  /** Nothing but time passes, until nothing is left to be done. */
  settleDown(): Promise<void>;
  query<Row extends object>(text: string, ...values: unknown[]): Promise<Row[]>;
  /** Requests that reached the wire to the service, applied or not. */
  sent(what: string, about: string): ProxiedRequest[];
  /** Deliveries to the receiver of releases for an order. */
  deliveries(orderId: string): string[];
  /** What the receiver was told of the order beside that it is paid: ids and bodies, repetitions included. */
  events(orderId: string): { id: string; body: string }[];
  /** Violations of the invariants that no earlier call has named. */
  newViolations(): Promise<string[]>;
  close(): Promise<void>;
};

/** Longer than every lease, lock and pause between hints. */
export const A_MINUTE = 61;
const PAST_THE_HORIZON = 9 * 86_400;
const WEBHOOK_SECRET = 'whsec_test';

/**
 * A real server process that can be killed at any message it exchanges with PostgreSQL, the service, the receiver of
 * releases or its own callers, and started again; everything else lives on.
 * @param of a database of its own, by default a copy of the run's template
 */
export async function createWorld(of?: TestDatabase): Promise<World> {
  const { database, url, close: closeDatabase } = of ?? (await createTestDatabase());
  const receiver = await startReleaseReceiver();
  const port = await freePort();
  const shopProxy = await startServiceProxy(`http://127.0.0.1:${port}`);
  const sandbox = await startSandbox({
    host: '127.0.0.1',
    port: 0,
    dataDir: null,
    logger: createLogger('silent'),
    // As services do: what was not acknowledged comes again.
    webhook: { url: `${shopProxy.url}/webhooks/payments`, secret: WEBHOOK_SECRET, pausesMs: [300] },
  });
  const proxies = {
    database: await startPostgresProxy(url),
    service: await startServiceProxy(sandbox.url),
    receiver: await startServiceProxy(receiver.env.FULFILMENT_URL),
    shop: shopProxy,
  };
  const folder = await newFolder();
  const env = {
    DATABASE_URL: proxies.database.url,
    GATEWAY_URL: proxies.service.url,
    GATEWAY_SECRET_KEY: sandbox.testKey,
    GATEWAY_CALLS_PER_SECOND: '0',
    WEBHOOK_SECRETS: WEBHOOK_SECRET,
    FULFILMENT_URL: proxies.receiver.url,
    FULFILMENT_SECRET: receiver.env.FULFILMENT_SECRET,
    FULFILMENT_EVENTS: 'order.paid,order.review',
    CHECKOUTS_PER_MINUTE: '0',
    LOG_LEVEL: 'debug',
  };
  let server: ShopProcess | undefined;
  let logs = '';
  const seen = new Set<string>();
  const acknowledged = (about = ''): string[] =>
    shopProxy.requests
      .filter(({ what, status }) => what === 'POST /webhooks/payments' && status === 202)
      .map(({ body }) => body)
      .filter((body) => body.includes(about));

  const query: World['query'] = (text, ...values) => database.query(text, values);
  const ring = (): Promise<unknown> => query(`SELECT pg_notify('due', '')`);
  const checkout: World['checkout'] = async (body, key) => {
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
    const answer = await post(`${shopProxy.url}/checkout`, body, headers).catch(() => null);
    return answer && { ...((await answer.json()) as Partial<CheckoutAnswer>), http: answer.status };
  };
  async function letTimePass(seconds: number): Promise<void> {
    await query(passTimeSql('all'), seconds);
    await ring();
  }

  return {
    service: sandbox.url,
    start: async () => {
      if (server?.isRunning() === true) return;
      logs += server?.stdout() ?? '';
      const diedAtMs = performance.now();
      server = await startShop({ folder, port, service: sandbox.url, env });
      // However long it took to start: the lock of a dead request on its key has not run out meanwhile.
      await query(KEYS_WAITED, (performance.now() - diedAtMs) / 1_000);
    },
    isRunning: () => server?.isRunning() === true,
    diesAt: async ({ on, ...where }) => {
      await proxies[on].once(where, async (held: Held) => {
        held.silence();
        await server?.stop('SIGKILL');
        // Whoever is at the other end of what it held there sees it gone.
        held.cut();
      });
    },
    isCutAt: async ({ on, ...where }) => {
      await proxies[on].once(where, (held: Held) => {
        held.cut();
      });
    },
    meanwhileAt: ({ on, ...where }, happens) => proxies[on].once(where, happens),
    checkout,
    open: async () => {
      const answer = await checkout(aBasketOf(`${newId()}@example.com`));
      if (answer?.http !== 201) throw new Error(`checkout answered ${answer?.http ?? 'nothing'}`);
      await query(LEAVE_ALONE, answer.reference);
      return answer as CheckoutAnswer & { http: number };
    },
    comesBack: async (reference) => {
      const target = `${shopProxy.url}/checkout/return/${reference}`;
      const answer = await fetch(target, { redirect: 'manual' }).catch(() => null);
      return answer?.status ?? null;
    },
    hand: async (reference, deed, how = { notify: true }) => {
      const answer = await post(`${sandbox.url}/sandbox/transactions/${reference}/${deed}`, how);
      expect([deed, answer.status]).toEqual([deed, 200]);
    },
    acknowledged: async (reference) => {
      await eventually(() => Promise.resolve(acknowledged(reference).length > 0));
    },
    letTimePass,
    settleDown: async () => {
      // Twice, for what fails once; then whatever is still open comes to its end.
      for (const seconds of [A_MINUTE, A_MINUTE, PAST_THE_HORIZON, A_MINUTE]) {
        await letTimePass(seconds);
        await eventually(async () => (await query(DUE)).length === 0).catch(async (error: unknown) => {
          throw new Error(`${String(error)}, still due: ${JSON.stringify(await query(DUE))}`);
        });
      }
    },
    query,
    sent: (what, about) =>
      proxies.service.requests.filter(
        (request) => request.what.startsWith(what) && (request.what + request.body).includes(about),
      ),
    deliveries: (orderId) =>
      receiver.deliveries.filter((one) => one.orderId === orderId).map(({ releaseId }) => releaseId),
    events: (orderId) => receiver.events.filter((one) => one.orderId === orderId),
    newViolations: async () => {
      const all = await checkInvariants({
        database,
        sandboxUrl: sandbox.url,
        sink: receiver.deliveries,
        acknowledged: acknowledged(),
        logs: (logs + (server?.stdout() ?? '')).split('\n'),
        key: sandbox.testKey,
      });
      const fresh = all.filter((line) => !seen.has(line));
      for (const line of fresh) seen.add(line);
      return fresh;
    },
    close: async () => {
      await server?.stop('SIGKILL');
      await sandbox.close();
      for (const proxy of Object.values(proxies)) await proxy.close();
      await receiver.close();
      await closeDatabase();
    },
  };
}

export function aBasketOf(email: string): object {
  return { email, items: [{ sku: 'ankara-tote', quantity: 1 }] };
}

const LEAVE_ALONE = `UPDATE payments SET next_check_at = now() + interval '1 hour' WHERE reference = $1`;

const KEYS_WAITED = `UPDATE idempotency_keys SET locked_until = locked_until + make_interval(secs => $1)`;

/** What somebody works on, or should. */
const DUE = `
  SELECT 'payment' AS what, status AS state, next_check_at, leased_until FROM payments WHERE next_check_at <= now()
  UNION ALL SELECT 'release', delivery, next_check_at, leased_until FROM releases WHERE next_check_at <= now()
  UNION ALL SELECT 'event', delivery, next_check_at, leased_until FROM events WHERE next_check_at <= now()`;
