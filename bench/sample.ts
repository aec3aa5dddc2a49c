/*
 * A shop from a tutorial, written in an afternoon with Express. It guarantees nothing: a crash
 * between two steps loses a payment, two simultaneous webhooks ship twice, and a wrong amount pays.
 * It is a baseline for measurements. sample-pg.ts and sample-prisma.ts provide its database. It
 * uses the variables of our server.
 */
import { createHmac, randomBytes } from 'node:crypto';
import express from 'express';
import pg from 'pg';

/** Amounts are in minor units. */
export type Store = {
  price(sku: string): Promise<{ amount: number; currency: string }>;
  insert(order: { reference: string; email: string; amount: number; currency: string }): Promise<unknown>;
  open(reference: string, checkoutUrl: string): Promise<unknown>;
  pay(reference: string): Promise<unknown>;
};

const { DATABASE_URL, GATEWAY_URL, GATEWAY_SECRET_KEY, WEBHOOK_SECRETS = '', PORT, PUBLIC_URL } = process.env;
const headers = { 'x-api-key': GATEWAY_SECRET_KEY ?? '', 'content-type': 'application/json' };

/** The same number of connections as our server. */
export const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 20 });

/** Listens on PORT on loopback. */
export function serveSample(store: Store): void {
  const app = express();

  app.post('/checkout', express.json(), async (req, res) => {
    const { email, items } = req.body as { email: string; items: [{ sku: string; quantity: number }] };
    const price = await store.price(items[0].sku);
    const { currency } = price;
    const amount = price.amount * items[0].quantity;
    const reference = randomBytes(13).toString('hex');
    await store.insert({ reference, email, amount, currency });
    const redirectUrl = `${PUBLIC_URL ?? ''}/checkout/return/${reference}`;
    const asked = { email, amount: amount / 100, localCurrency: currency, amountCurrency: 'local' };
    const body = JSON.stringify({ ...asked, reference, redirectUrl });
    const answer = await fetch(`${GATEWAY_URL ?? ''}/v1/transactions/initialize`, { method: 'POST', headers, body });
    const { data: checkoutUrl } = (await answer.json()) as { data: string };
    await store.open(reference, checkoutUrl);
    res.status(201).json({ reference, checkoutUrl });
  });

  app.post('/webhooks/payments', express.raw({ type: () => true }), async (req, res) => {
    const body = req.body as Buffer;
    const expected = createHmac('sha256', WEBHOOK_SECRETS).update(body).digest('hex');
    if (req.get('x-signature') !== expected) {
      res.sendStatus(401);
      return;
    }
    const { reference } = (JSON.parse(body.toString()) as { data: { reference: string } }).data;
    const answer = await fetch(`${GATEWAY_URL ?? ''}/v1/transactions/verify/${reference}`, { headers });
    const { data } = (await answer.json()) as { data: { status: string } };
    if (data.status === 'SUCCESS') await store.pay(reference);
    res.sendStatus(200);
  });

  app.listen(Number(PORT), '127.0.0.1');
}
