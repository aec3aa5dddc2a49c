import pg from 'pg';
import { SQL } from './formula.ts';

/** Payments one after the other, so many milliseconds apart, the last of them at `newestMs`. */
export type Spread = { newestMs: number; stepMs: number };

/**
 * Writes `count` payments of the formula with their orders, and for those that are paid the evidence and the
 * release. Straight into the tables, with triggers and foreign keys off: the rows satisfy them, and checking
 * each takes longer than all that is measured.
 * @param spread when they were written; else within a day
 */
export async function fillBooks(url: string, count: number, spread?: Spread): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  const createdAt =
    spread === undefined
      ? `now() - interval '1 hour' - n % 86400 * interval '1 s'`
      : `to_timestamp((${spread.newestMs} - (${count} - n) * ${spread.stepMs}) / 1000.0)`;
  await client.connect();
  try {
    await client.query(`SET session_replication_role = replica; SET synchronous_commit = off`);
    await client.query(`
      CREATE TEMPORARY TABLE formula AS
      SELECT n, ${SQL.reference} AS reference, substr(md5(n::text), 1, 24) AS order_id, ${SQL.amount} AS amount,
        ${SQL.status} AS status, ${createdAt} AS created_at
      FROM generate_series(1, ${count}::bigint) n`);
    for (const statement of STATEMENTS) await client.query(statement);
    await client.query('VACUUM ANALYZE orders, payments, verifications, releases');
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
}

const STATEMENTS = [
  `INSERT INTO orders (id, mode, email, amount, currency, status, release_id, paid_at, created_at)
   SELECT order_id, 'test', 'payer' || n || '@example.com', amount, 'NGN',
     CASE status WHEN 'open' THEN 'pending' ELSE status END,
     CASE WHEN status = 'paid' THEN 'rel_' || reference END,
     CASE WHEN status = 'paid' THEN created_at END, created_at
   FROM formula`,
  `INSERT INTO payments (reference, order_id, mode, amount, currency, status, checkout_url, created_at)
   SELECT reference, order_id, 'test', amount, 'NGN', status, 'https://pay.example/c/' || reference, created_at FROM formula`,
  `INSERT INTO verifications (reference, order_id, mode, outcome, status_word, amount, currency, http_status, body, body_sha256, cause, answered_at)
   SELECT reference, order_id, 'test', status, upper(status), amount, 'NGN', 200,
     convert_to('{"data":{"reference":"' || reference || '","status":"SUCCESS","amount":' || amount / 100.0 || ',"currency":"NGN","channel":"card"}}', 'UTF8'),
     sha256(convert_to(reference, 'UTF8')), 'webhook', created_at
   FROM formula WHERE status IN ('paid', 'expired')`,
  `INSERT INTO releases (id, order_id, reference, mode, amount, currency, verification_id, delivery, released_at)
   SELECT 'rel_' || f.reference, f.order_id, f.reference, 'test', f.amount, 'NGN', v.id, 'unneeded', f.created_at
   FROM formula f JOIN verifications v USING (reference) WHERE f.status = 'paid'`,
];
