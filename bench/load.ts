import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { KEY, WEBHOOK_SECRET } from './contestants.ts';

type Named = { reference: string };

/**
 * Shoppers who order, pay and send webhooks, over a fixed number of open connections to each
 * server. Each call throws unless the answer is 2xx.
 */
export function createShoppers(connections: number) {
  const agent = new Agent({ connections });
  const post = async (url: string, json: object) => {
    const body = JSON.stringify(json);
    const signature = createHmac('sha256', WEBHOOK_SECRET).update(body).digest('hex');
    // The service checks the key, and the webhook route checks the signature.
    const headers = { 'content-type': 'application/json', 'x-api-key': KEY, 'x-signature': signature };
    const answer = await request(url, { dispatcher: agent, method: 'POST', headers, body });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${url} answered ${answer.statusCode}: ${text.slice(0, 500)}`);
    return text;
  };
  let shopper = 0;
  return {
    /** @returns the payment's reference */
    checkOut: async (shopUrl: string): Promise<string> => {
      const email = `shopper-${++shopper}@example.com`;
      const text = await post(`${shopUrl}/checkout`, { email, items: [{ sku: 'ankara-tote', quantity: 1 }] });
      return (JSON.parse(text) as Named).reference;
    },
    /** Pays at the service without a webhook. */
    pay: (serviceUrl: string, reference: string) =>
      post(`${serviceUrl}/sandbox/transactions/${reference}/pay`, { notify: false }),
    /** Sends the webhook about the payment, and waits until it is accepted. */
    notify: (shopUrl: string, reference: string) => {
      const data = { reference, status: 'SUCCESS', amount: 8_500, currency: 'NGN' };
      return post(`${shopUrl}/webhooks/payments`, { event: 'transaction.success', data });
    },
    /** The initialize request of a checkout, without a shop. */
    initialize: (serviceUrl: string, reference: string) => {
      const asked = { email: 'ada@example.com', amount: 8_500, localCurrency: 'NGN', amountCurrency: 'local' };
      return post(`${serviceUrl}/v1/transactions/initialize`, { ...asked, reference, redirectUrl: serviceUrl });
    },
    close: () => agent.destroy(),
  };
}

/** The duration in milliseconds. */
export async function msOf(work: Promise<unknown>): Promise<number> {
  const beganMs = performance.now();
  await work;
  return performance.now() - beganMs;
}

/** Runs `job` this many times. Each worker starts its next one when its last one is done. */
export async function inTurns(workers: number, times: number, job: (index: number) => Promise<unknown>) {
  let next = 0;
  const work = async () => {
    while (next < times) await job(next++);
  };
  await Promise.all(Array.from({ length: workers }, work));
}

/**
 * Starts `job` this many times per second, without waiting for earlier ones, and waits for all of
 * them at the end.
 */
export async function atRate(perSec: number, times: number, job: (index: number) => Promise<unknown>) {
  const begin = (index: number) => sleep((index * 1_000) / perSec).then(() => job(index));
  await Promise.all(Array.from({ length: times }, (_, index) => begin(index)));
}

/**
 * The shop's own system. It accepts every message, and records the times by reference, from this
 * process's clock.
 */
export async function startReceiver() {
  const releasedMs = new Map<string, number>();
  const server = createServer((req, res) => {
    const nowMs = performance.now();
    void json(req).then((message) => {
      releasedMs.set((message as { data: Named }).data.reference, nowMs);
      res.writeHead(204).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, releasedMs };
}

/** The value below which this share of all values lies; 0.5 is the median. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN;
}
