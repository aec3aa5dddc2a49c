import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import { createHmac } from 'node:crypto';
import pg from 'pg';
import type { Call } from '../../local/sandbox/calls.ts';
import type { TestDatabase } from './database.ts';
import { eventually } from './eventually.ts';
import { statusOf } from './outside.ts';
import { freePort } from './ports.ts';
import { startProcess, type Running } from './process.ts';
import { startReceiver, type Receiver } from './receiver.ts';
import { startShop, TEST_KEY, WEBHOOK_SECRET, type Checkout, type Reply, type Shop, type ShopOptions } from './shop.ts';

export type Used = {
  shop: Shop;
  receiver: Receiver;
  /** Closed after the last test, also when the setup fails. */
  ends: (() => unknown)[];
};

/**
 * One shop for the tests of a file, and a receiver of its messages. Faults are removed after each
 * test.
 */
export function useShop(options: ShopOptions | (() => Promise<ShopOptions>) = {}): Used {
  const used: Used = { shop: {} as Shop, receiver: {} as Receiver, ends: [] };
  beforeAll(async () => {
    used.ends.push(Object.assign(used.receiver, await startReceiver()).close);
    const { env, ...more } = typeof options === 'function' ? await options() : options;
    used.ends.push(Object.assign(used.shop, await startShop({ ...more, env: { ...used.receiver.env, ...env } })).stop);
  });
  afterEach(() => Promise.all([healService(used.shop), release()]));
  afterAll(async () => {
    for (const end of used.ends.reverse()) await end();
  });
  return used;
}

/** A worker beside the shop, in a process of its own. */
export async function startWorker({ shop, receiver, ends }: Used, env = {}): Promise<Running & { url: string }> {
  const port = await freePort();
  const service = { GATEWAY_URL: String(shop.sandbox?.url), GATEWAY_SECRET_KEY: TEST_KEY };
  const own = { DATABASE_URL: shop.database.url, WORKER_PORT: String(port) };
  const worker = startProcess('src/worker.ts', { ...receiver.env, ...service, ...own, ...env });
  ends.push(() => worker.kill('SIGKILL'));
  await eventually(() => worker.lines().some(({ msg }) => msg === 'worker ready'));
  return { ...worker, url: `http://127.0.0.1:${port}` };
}

/** The calls to the service, oldest first. */
export const callsOf = (shop: Shop, endpoint: 'initialize' | 'verify', reference?: string): Promise<Call[]> =>
  shop.sandboxGet(`/calls?endpoint=${endpoint}${reference === undefined ? '' : `&reference=${reference}`}`);

/** Sets a fault of the sandbox. See control.ts of the sandbox for all of them. */
export const befall = (shop: Shop, endpoint: string, kind: string, more: object = {}): Promise<{ id: number }> =>
  shop.sandboxPost('/faults', { endpoint, kind, ...more });

export const healService = async (shop: Shop): Promise<void> => {
  await fetch(`${String(shop.sandbox?.url)}/sandbox/faults`, { method: 'DELETE' });
};

/** A checkout with any outcome. null: the connection broke. */
export const tryCheckout = (
  shop: Shop,
  email: string,
  headers: Record<string, string> = {},
): Promise<Reply<Partial<Checkout>> | null> => {
  const json = { email, items: [{ sku: 'ankara-tote', quantity: 1 }] };
  return shop.request<Partial<Checkout>>('POST', '/checkout', { json, headers }).catch(() => null);
};

/**
 * Sends a webhook about a payment, with a valid signature.
 * @param url of the process that gets it
 */
export function sendNotification(shop: Shop, reference: string, url = shop.url, event = 'success'): Promise<Reply> {
  const body = JSON.stringify({ event: `transaction.${event}`, data: { reference } });
  const signature = createHmac('sha256', WEBHOOK_SECRET).update(body).digest('hex');
  const headers = { 'content-type': 'application/json', 'x-signature': signature };
  return shop.request('POST', `${url}/webhooks/payments`, { body, headers });
}

/**
 * Lets time pass for payments and messages: moves their creation, due times and leases into the
 * past.
 */
export async function letPass(database: TestDatabase, seconds: number): Promise<void> {
  const back = (columns: string[]) => columns.map((name) => `${name} = ${name} - interval '${seconds} seconds'`).join();
  const asked = ['created_at', 'opened_at', 'answered_at', 'next_check_at', 'leased_until', 'notified_at'];
  await database.query(`UPDATE payments SET ${back(asked)}`);
  await database.query(`UPDATE messages SET ${back(['next_try_at', 'leased_until', 'first_try_at'])}`);
}

const holding: pg.Client[] = [];

/**
 * Holds the locks of a statement, in a transaction of its own, until they are released or the test
 * ends.
 */
export async function hold(database: TestDatabase, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  // A test may stop the server meanwhile.
  client.on('error', () => undefined);
  await client.connect();
  holding.push(client);
  await client.query(`BEGIN; ${statement}`);
}

export async function release(): Promise<void> {
  await Promise.all(holding.splice(0).map((client) => client.end()));
}

/** Waits until a statement of the program waits for a lock. */
export function waitsForLock(database: TestDatabase, statement: RegExp): Promise<true> {
  return eventually(async () => {
    const sql = "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    const rows = await database.query<{ query: string }>(sql);
    return rows.some(({ query }) => statement.test(query));
  });
}

/**
 * Waits until the order is paid, and checks that it has one proof, one message, and at most one
 * initialize call per reference.
 */
export async function expectPaidOnce(shop: Shop, orderId: string): Promise<void> {
  await eventually(async () => {
    expect(await statusOf(shop, orderId)).toBe('paid');
  });
  const [seen] = await shop.database.query(
    `SELECT (SELECT count(*)::int FROM proofs WHERE order_id = o.id) AS proofs,
            (SELECT count(*)::int FROM messages WHERE order_id = o.id AND type = 'order.paid') AS messages,
            (SELECT sum(captured) FROM ledgers JOIN payments USING (reference) WHERE order_id = o.id) = o.amount AS "isEarned"
     FROM orders o WHERE id = $1`,
    [orderId],
  );
  expect(seen).toEqual({ proofs: 1, messages: 1, isEarned: true });
  const payments = await paymentsOf(shop, 'order_id', orderId);
  for (const { reference } of payments)
    expect((await callsOf(shop, 'initialize', reference)).length).toBeLessThanOrEqual(1);
}

/** The payments of an order or of a customer, oldest first. */
export const paymentsOf = (shop: Shop, by: 'order_id' | 'email', value: string) =>
  shop.database.query<{ order_id: string; reference: string; status: string; checkout_url: string | null }>(
    `SELECT p.* FROM payments p JOIN orders o ON o.id = order_id WHERE ${by} = $1 ORDER BY p.created_at`,
    [value],
  );
