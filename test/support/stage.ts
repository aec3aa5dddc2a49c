import { createHmac } from 'node:crypto';
import { expect } from '@jest/globals';
import { checkInvariants } from './invariants.ts';
import { startLine, type Line } from './line.ts';
import { passTimeSql } from './pass-time.ts';
import { keepLines } from './lines.ts';
import { aBasket, post, startProgram, type TestProgram, type TestProgramOptions } from './program.ts';
import { startReleaseReceiver } from './release-receiver.ts';

/** An order and one of its references: what a scenario is about. */
export type Order = { orderId: string; reference: string };

/** Where an order stands, seen from everywhere at once. Lists are in the order in which things happened. */
export type End = {
  order: string;
  /** Status of each payment. */
  payments: string[];
  /** What each verify answer was found to prove. */
  proofs: string[];
  /** Money in suspense that nobody has dealt with, with its amount in minor units. */
  suspense: string[];
  releases: number;
  /** Calls over the line for all payments of the order. */
  wire: { initialize: number; verify: number };
};

/**
 * The whole program with a line that faults can befall, and what a shopper, the service and the clock do to
 * it.
 */
export type Stage = TestProgram & {
  line: Line;
  /** A checkout that may fail. */
  buy(body?: object, headers?: Record<string, string>): Promise<Response>;
  /** The shopper comes back from the checkout page. @returns the status of the answer */
  comeBack(order: Pick<Order, 'reference'>): Promise<number>;
  /** Money comes, or not, and by default nobody is told. */
  decide(order: Pick<Order, 'reference'>, deed: 'pay' | 'fail' | 'reverse', body?: object): Promise<void>;
  /** The service calls. @returns the status of the answer */
  callUs(body: string | Buffer | object, headers?: Record<string, string>): Promise<number>;
  /** Time passes for the payments of this order, then the clock looks. */
  later(order: Pick<Order, 'orderId'>, seconds: number): Promise<void>;
  endOf(order: Pick<Order, 'orderId'>): Promise<End>;
  /** Every fault is over, an hour passes, and the clock looks. */
  heal(order: Pick<Order, 'orderId'>): Promise<void>;
  /** Log lines since the last check. */
  lines: readonly string[];
  /** No invariant is broken that was not before. */
  check(): Promise<void>;
};

const HOUR = 3_600;

export async function startStage(options: TestProgramOptions = {}): Promise<Stage> {
  const line = await startLine();
  const receiver = await startReleaseReceiver();
  const { logger, lines } = keepLines();
  const env = { GATEWAY_CALLS_PER_SECOND: '0', ...receiver.env, ...options.env };
  const shop = await startProgram({ logger, gatewayUrl: line.url, slowTime: true, ...options, env });
  line.leadTo(shop.sandbox.url, shop.serviceTime);
  const { database, duePayments, dueReleases } = shop.program;
  const acknowledged: string[] = [];
  const known = new Set<string>();

  const stage: Stage = {
    ...shop,
    origin: shop.origin,
    line,
    lines,
    buy: (body = aBasket, headers = {}) => post(`${shop.origin}/checkout`, body, headers),
    comeBack: async ({ reference }) =>
      (await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' })).status,
    decide: async ({ reference }, deed, body = {}) => {
      const answer = await shop.hand(`transactions/${reference}/${deed}`, { notify: false, ...body });
      if (!answer.ok) throw new Error(`the sandbox answered ${answer.status}: ${await answer.text()}`);
    },
    callUs: async (body, headers = {}) => {
      const bytes = bytesOf(body);
      const signature = createHmac('sha256', shop.sandbox.webhookSecret).update(bytes).digest('hex');
      const answer = await fetch(`${shop.origin}/webhooks/payments`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-signature': signature, ...headers },
        body: new Uint8Array(bytes),
      });
      if (answer.ok) acknowledged.push(bytes.toString());
      return answer.status;
    },
    later: async ({ orderId }, seconds) => {
      await database.query(passTimeSql('order'), [seconds, orderId]);
      await duePayments.runOnce();
    },
    endOf: async ({ orderId }) => {
      const [end] = await database.query<Omit<End, 'wire'> & { references: string[] }>(END, [orderId]);
      if (end === undefined) throw new Error(`there is no order ${orderId}`);
      const { references, ...rest } = end;
      const wire = { initialize: 0, verify: 0 };
      for (const calls of references.map(line.callsAbout)) {
        wire.initialize += calls.initialize;
        wire.verify += calls.verify;
      }
      return { ...rest, wire };
    },
    heal: async (order) => {
      line.clear();
      await stage.later(order, HOUR);
      await database.query(
        `UPDATE releases SET next_check_at = now(), leased_until = NULL WHERE delivery = 'waiting'`,
      );
      await dueReleases.runOnce();
    },
    check: async () => {
      const violations = await checkInvariants({
        database,
        sandboxUrl: line.url,
        sink: receiver.deliveries,
        acknowledged,
        logs: lines.splice(0),
        key: shop.sandbox.testKey,
      });
      // What one scenario broke is not the next one's fault.
      const fresh = violations.filter((violation) => !known.has(violation));
      for (const violation of fresh) known.add(violation);
      expect(fresh).toEqual([]);
    },
    close: async () => {
      await line.close();
      await shop.close();
      await receiver.close();
    },
  };
  return stage;
}

function bytesOf(body: string | Buffer | object): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

const END = `
  SELECT o.status AS order,
    ARRAY(SELECT p.status FROM payments p WHERE p.order_id = o.id ORDER BY p.created_at) AS payments,
    ARRAY(SELECT p.reference FROM payments p WHERE p.order_id = o.id ORDER BY p.created_at) AS references,
    ARRAY(SELECT v.outcome FROM verifications v WHERE v.order_id = o.id ORDER BY v.id) AS proofs,
    ARRAY(SELECT s.class || ' ' || s.amount FROM suspense_items s
      WHERE s.order_id = o.id AND s.closed_at IS NULL ORDER BY s.id) AS suspense,
    (SELECT count(*)::int FROM releases r WHERE r.order_id = o.id) AS releases
  FROM orders o WHERE o.id = $1`;
