import { Pool } from 'undici';
import type { Contestant, StandIn } from '../shop/contestants.ts';
import type { Request } from '../shop/load.ts';
import { CHECKOUT, referenceOf, webhookAbout } from '../shop/turn.ts';
import type { Receiver } from './receiver.ts';

/**
 * Milliseconds, in no order: from a request's place in the schedule to its answer, or to the release.
 * Infinity: it was refused, because the server had too much to do.
 */
export type Latencies = { checkout: number[]; release: number[] };

/** So long after its answer the shopper has paid, and the service sends its webhook. */
const PAYS_AFTER_MS = 1_000;
/** More than are ever in flight: a request must not wait here for another one's answer. */
const CONNECTIONS = 400;

/**
 * So many orders a second, evenly, whether or not the earlier ones are answered; a webhook follows each. What
 * a late server, a queue or this process itself adds to the wait is part of the latency.
 * @param receiver null: the webhook is answered when the order is paid, and nothing is sent after that
 */
export async function orderEvenly(
  one: Contestant,
  standIn: StandIn,
  receiver: Receiver | null,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<Latencies> {
  const pool = new Pool(one.origin, { connections: CONNECTIONS, pipelining: 1 });
  const latencies: Latencies = { checkout: [], release: [] };
  const startMs = performance.now();
  async function order(at: number): Promise<void> {
    const dueMs = startMs + (at * 1_000) / perSecond;
    await until(dueMs);
    const answer = await send(pool, CHECKOUT);
    if (answer === null) {
      latencies.checkout.push(Infinity);
      return;
    }
    const reference = referenceOf(answer);
    const answeredMs = performance.now();
    latencies.checkout.push(answeredMs - dueMs);
    await standIn.pay([reference]);
    const webhook = webhookAbout(reference);
    const released = receiver?.heardOf(reference);
    await until(answeredMs + PAYS_AFTER_MS);
    const isRefused = (await send(pool, webhook)) === null;
    if (!isRefused) await released;
    latencies.release.push(isRefused ? Infinity : performance.now() - answeredMs - PAYS_AFTER_MS);
  }
  await Promise.all(Array.from({ length: perSecond * seconds }, (_none, at) => order(at)));
  await pool.close();
  return latencies;
}

function until(atMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, atMs - performance.now()));
}

/** @returns null when it is refused with 503 */
async function send(pool: Pool, { path, body, headers }: Request): Promise<string | null> {
  const answer = await pool.request({
    method: 'POST',
    path,
    body: body ?? null,
    headers: { 'content-type': 'application/json', ...headers },
  });
  const text = await answer.body.text();
  if (answer.statusCode === 503) return null;
  if (answer.statusCode >= 400) throw new Error(`${path} was answered ${answer.statusCode}: ${text}`);
  return text;
}
