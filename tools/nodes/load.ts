import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { until } from './stage.ts';

const QUIET_LIMIT_MS = 120_000;

export type Count = { sent: number; failed: number };

export type Load = {
  /** Requests by what they are for; failed: no answer, or another one than the promised. */
  counts: Record<string, Count>;
  /** The first few failures in words. */
  failures: string[];
  /** Failures by what the shopper saw: the answer's status, or that none came. */
  seen: Record<string, number>;
  /** Orders that were answered 201, and when. */
  orders: Map<string, string>;
  /** Orders that were seen paid: nobody may ever see them otherwise. */
  paid: Set<string>;
  stop(): Promise<void>;
};

export type LoadOptions = { url: string; serviceUrl: string; shoppers: number; pauseMs: number };

/**
 * Shoppers who each order, pay at the service and come back, again and again, until stopped. A connection for each
 * request, as with many shoppers; nothing is repeated, so each failure is one that a shopper would have seen.
 */
export function startLoad({ url, serviceUrl, shoppers, pauseMs }: LoadOptions): Load {
  const agent = new Agent({ connections: null, pipelining: 0, headersTimeout: 20_000 });
  const load: Omit<Load, 'stop'> = { counts: {}, failures: [], seen: {}, orders: new Map(), paid: new Set() };
  let isStopping = false;

  async function ask(what: string, address: string, expected: number, body?: object): Promise<unknown> {
    const count = (load.counts[what] ??= { sent: 0, failed: 0 });
    count.sent += 1;
    let saw = 'no answer';
    try {
      const answer = await request(address, {
        dispatcher: agent,
        reset: true,
        method: body === undefined ? 'GET' : 'POST',
        ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      });
      const text = await answer.body.text();
      if (answer.statusCode !== expected) {
        saw = `HTTP ${answer.statusCode}`;
        throw new Error(`${saw} ${text.slice(0, 120)}`);
      }
      return answer.headers['content-type']?.includes('json') === true ? JSON.parse(text) : null;
    } catch (error) {
      count.failed += 1;
      load.seen[saw] = (load.seen[saw] ?? 0) + 1;
      if (load.failures.length < 5) load.failures.push(`${what}: ${(error as Error).message}`);
      return undefined;
    }
  }

  async function shop(): Promise<void> {
    const items = [{ sku: 'ankara-tote', quantity: 1 }];
    while (!isStopping) {
      const order = (await ask('checkout', `${url}/checkout`, 201, { email: 'ada@example.com', items })) as
        { orderId: string; reference: string } | undefined;
      if (order) {
        load.orders.set(order.orderId, new Date().toISOString());
        await ask(
          'pay (at the service)',
          `${serviceUrl}/sandbox/transactions/${order.reference}/pay`,
          200,
          {},
        );
        await ask('return', `${url}/checkout/return/${order.reference}`, 303);
        const seen = (await ask('order', `${url}/orders/${order.orderId}`, 200)) as
          { status: string } | undefined;
        if (seen?.status === 'paid') load.paid.add(order.orderId);
      }
      await pause(pauseMs);
    }
  }

  const running = Array.from({ length: shoppers }, shop);
  return {
    ...load,
    stop: async () => {
      isStopping = true;
      await Promise.all(running);
      if (!agent.closed) await agent.close();
    },
  };
}

export function totals(load: Load): Count {
  const own = Object.entries(load.counts).filter(([what]) => !what.startsWith('pay'));
  return {
    sent: own.reduce((sum, [, { sent }]) => sum + sent, 0),
    failed: own.reduce((sum, [, { failed }]) => sum + failed, 0),
  };
}

export type Books = {
  /** Orders answered 201 that are not in the database. */
  ordersLost: number;
  /** Orders seen paid that are not paid in the database. */
  paymentsLost: number;
  /** Orders that the service took money for and that are not paid, once all is quiet. */
  unpaid: number;
  /** Releases beyond one for each paid order. */
  releasesTooMany: number;
};

type Query = (sql: string, values?: unknown[]) => Promise<{ rows: Record<string, unknown>[] }>;

/** Compares what shoppers were told with what the database says. */
export async function audit(load: Load, query: Query, serviceUrl: string): Promise<Books> {
  const { rows } =
    await query(`SELECT o.id, o.status, p.reference, (SELECT count(*)::int FROM releases r WHERE r.order_id = o.id) AS releases
    FROM orders o LEFT JOIN payments p ON p.order_id = o.id`);
  const statuses = new Map(rows.map(({ id, status }) => [id, status]));
  const answer = await fetch(`${serviceUrl}/sandbox/transactions`);
  const { transactions } = (await answer.json()) as { transactions: { reference: string; state: string }[] };
  const taken = new Set(
    transactions.filter(({ state }) => state === 'paid').map(({ reference }) => reference),
  );
  return {
    ordersLost: [...load.orders.keys()].filter((id) => !statuses.has(id)).length,
    paymentsLost: [...load.paid].filter((id) => statuses.get(id) !== 'paid').length,
    unpaid: rows.filter(({ reference, status }) => taken.has(String(reference)) && status !== 'paid').length,
    releasesTooMany: rows.filter(({ releases, status }) => Number(releases) !== (status === 'paid' ? 1 : 0))
      .length,
  };
}

export type FinalBooks = Books & { sent: number; failed: number; paid: number };

/** The sums over all loads once everything that the service took money for is paid, or two minutes are over. */
export async function finalBooks(
  loads: readonly Load[],
  query: Query,
  serviceUrl: string,
): Promise<FinalBooks> {
  const look = () => Promise.all(loads.map((load) => audit(load, query, serviceUrl)));
  let books = await look();
  await until(
    'everything paid is confirmed',
    async () => {
      books = await look();
      return books.every(({ unpaid }) => unpaid === 0);
    },
    QUIET_LIMIT_MS,
  ).catch(() => undefined);
  const sum = (numbers: number[]): number => numbers.reduce((a, b) => a + b, 0);
  return {
    ordersLost: sum(books.map((each) => each.ordersLost)),
    paymentsLost: sum(books.map((each) => each.paymentsLost)),
    unpaid: books[0]?.unpaid ?? -1,
    releasesTooMany: books[0]?.releasesTooMany ?? -1,
    sent: sum(loads.map((load) => totals(load).sent)),
    failed: sum(loads.map((load) => totals(load).failed)),
    paid: sum(loads.map((load) => load.paid.size)),
  };
}

/** What was lost, for a table. */
export function lossesOf(books: Books): Record<string, number> {
  return {
    'orders answered 201 and lost': books.ordersLost,
    'payments acknowledged and lost': books.paymentsLost,
    'paid at the service and not here in the end': books.unpaid,
    'orders with a wrong number of releases': books.releasesTooMany,
  };
}

export function printTable(title: string, rows: Record<string, string | number>): void {
  const width = Math.max(...Object.keys(rows).map((name) => name.length));
  const lines = Object.entries(rows).map(([name, value]) => `  ${name.padEnd(width)}  ${value}`);
  process.stdout.write(`\n${title}\n${lines.join('\n')}\n`);
}
