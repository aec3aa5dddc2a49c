/**
 * What a tutorial builds in an afternoon: Express and node-postgres, insert, call the service, update; on a
 * webhook verify, update. It keeps none of our promises (a crash between two steps loses a payment, two
 * webhooks at once ship twice, a wrong amount pays) and is here to be measured against: what promises
 * nothing should be fast.
 */
import { randomBytes } from 'node:crypto';
import express from 'express';
import pg from 'pg';

const [databaseUrl = '', serviceUrl = '', poolSize = '20'] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: databaseUrl, max: Number(poolSize) });
const headers = { 'x-api-key': 'sk_test_bench', 'content-type': 'application/json' };

type Basket = { email: string; items: { sku: string; quantity: number }[] };
type Price = { sku: string; unit_amount: string; currency: string };

const app = express();
app.use(express.json());

app.post('/checkout', async (req, res) => {
  const { email, items } = req.body as Basket;
  const skus = items.map(({ sku }) => sku);
  const prices = await pool.query<Price>(
    'SELECT sku, unit_amount, currency FROM products WHERE sku = ANY($1)',
    [skus],
  );
  const bySku = new Map(prices.rows.map((row) => [row.sku, row]));
  const total = items.reduce(
    (sum, { sku, quantity }) => sum + Number(bySku.get(sku)?.unit_amount) * quantity,
    0,
  );
  const reference = randomBytes(12).toString('hex');
  const currency = prices.rows[0]?.currency ?? '';
  await pool.query(
    `INSERT INTO orders (reference, email, amount, currency, status) VALUES ($1, $2, $3, $4, 'pending')`,
    [reference, email, total, currency],
  );
  const answer = await fetch(`${serviceUrl}/v1/transactions/initialize`, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      email,
      amount: total / 100,
      localCurrency: currency,
      amountCurrency: 'local',
      reference,
      redirectUrl: `http://localhost/return/${reference}`,
    }),
  });
  const { data } = (await answer.json()) as { data: string };
  await pool.query(`UPDATE orders SET checkout_url = $2 WHERE reference = $1`, [reference, data]);
  res.status(201).json({ reference, checkoutUrl: data });
});

app.post('/webhooks/payments', async (req, res) => {
  const { reference } = (req.body as { data: { reference: string } }).data;
  const answer = await fetch(`${serviceUrl}/v1/transactions/verify/${reference}`, { headers });
  const { data } = (await answer.json()) as { data: { status: string } };
  if (data.status === 'SUCCESS')
    await pool.query(`UPDATE orders SET status = 'paid', paid_at = now() WHERE reference = $1`, [reference]);
  res.status(202).json({ status: 'received' });
});

app.get('/checkout/return/:reference', async (req, res) => {
  const { reference } = req.params;
  const answer = await fetch(`${serviceUrl}/v1/transactions/verify/${reference}`, { headers });
  const { data } = (await answer.json()) as { data: { status: string } };
  if (data.status === 'SUCCESS')
    await pool.query(`UPDATE orders SET status = 'paid', paid_at = now() WHERE reference = $1`, [reference]);
  res.redirect(303, `http://localhost/orders/${reference}`);
});

await pool.query(`
  CREATE TABLE products (sku text PRIMARY KEY, unit_amount bigint NOT NULL, currency text NOT NULL);
  INSERT INTO products VALUES ('ankara-tote', 850000, 'NGN');
  CREATE TABLE orders (reference text PRIMARY KEY, email text NOT NULL, amount bigint NOT NULL,
    currency text NOT NULL, status text NOT NULL, checkout_url text, paid_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now())`);
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(
    `listening http://127.0.0.1:${typeof address === 'object' ? (address?.port ?? 0) : 0}\n`,
  );
});
