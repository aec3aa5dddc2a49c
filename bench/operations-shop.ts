import { createHash } from 'node:crypto';
import pg from 'pg';
import { JOURNAL } from './operations-journal.ts';

/** The same ids as the SQL below makes: 24 characters that are in no order, as ours are. */
export function idOf(letter: string, number: number): string {
  return letter + createHash('md5').update(String(number)).digest('hex').slice(0, 23);
}

const id = (letter: string): string => `'${letter}' || left(md5(i::text), 23)`;

// A shop of ninety days: of a hundred orders ninety are paid, six failed, three expired, and one stands open or in review;
// of the youngest two days a tenth still waits. Two currencies, every fifth payment found without a webhook.
const AT = (count: number): string => `now() - interval '90 days' * (1 - i::float8 / ${count})`;
const STATUS = (count: number): string => `CASE WHEN i > ${count} * 0.98 AND i % 10 = 0 THEN 'pending'
  WHEN i % 10000 = 7 THEN 'review' WHEN i % 100 < 6 THEN 'failed' WHEN i % 100 < 9 THEN 'expired' ELSE 'paid' END`;

// What the service says, and what a receiver was told, are as long as they really are.
const RECORD = `format('"id":"%s","reference":"%s","status":"WORD","amount":%s.00,"currency":"%s","email":"%s",'
  || '"createdAt":"%s","updatedAt":"%s"', ${id('s')}, reference, amount / 100, currency, email, at, at)`;
const MESSAGE = `format('{"type":"order.paid","timestamp":"%s","data":{"orderId":"%s","externalId":null,"reference":"%s",'
  || '"amount":"%s.00","currency":"%s","mode":"test","paidAt":"%s","lines":[{"sku":"tote","description":"A tote bag",'
  || '"unitAmount":"%s.00","quantity":1}],"metadata":{}}}', at, order_id, reference, amount / 100, currency, at, amount / 100)`;
const DELIVERY = (count: number): string => `CASE WHEN i % 20011 = 5 THEN 'dead'
  WHEN i > ${count} - 300 THEN 'waiting' ELSE 'delivered' END`;

/** The orders `from` to `to` of `count`. */
const PART = (from: number, to: number, count: number): string[] => [
  `CREATE TEMP TABLE shop AS SELECT *, gen_random_uuid() AS salt, 'buyer' || i % 200000 || '@example.com' AS email,
     CASE WHEN i % 2 = 1 THEN 'shop-' || i END AS external_id, 'https://pay.example/checkout/' || ${id('c')} AS url,
     CASE WHEN status = 'paid' THEN ${DELIVERY(count)} END AS delivery FROM (
     SELECT i, ${id('o')} AS order_id, ${id('p')} AS reference, ${AT(count)} AS at, ${STATUS(count)} AS status,
       CASE WHEN i % 3 = 0 THEN 'XOF' ELSE 'NGN' END AS currency, 1000 + i % 100000 AS amount
     FROM generate_series(${from}, ${to}) i) numbers`,
  'ANALYZE shop',
  `INSERT INTO orders (id, external_id, mode, email, email_salt, amount, currency, status, release_id, paid_at, created_at)
   SELECT order_id, external_id, 'test', email, salt, amount, currency, status,
     CASE WHEN status = 'paid' THEN 'rel_' || order_id END, CASE WHEN status = 'paid' THEN at + interval '40 s' END, at FROM shop`,
  `INSERT INTO order_lines (order_id, position, sku, description, unit_amount, quantity)
   SELECT order_id, 1, 'tote', 'A tote bag', amount, 1 FROM shop`,
  `INSERT INTO payments (reference, order_id, mode, amount, currency, status, checkout_url, created_at, next_check_at, checks, hints, hints_answered)
   SELECT reference, order_id, 'test', amount, currency, CASE status WHEN 'pending' THEN 'open' WHEN 'review' THEN 'held' ELSE status END,
     url, at, CASE WHEN status IN ('pending', 'failed', 'review') AND at > now() - interval '8 days'
       THEN now() + (i % 1000 - 10) * interval '1 min' END, 2, CASE WHEN i % 997 = 0 THEN 2 ELSE 1 END, 1 FROM shop`,
  `INSERT INTO verifications (id, reference, order_id, mode, outcome, status_word, amount, currency, http_status, body, body_sha256, cause, answered_at)
   OVERRIDING SYSTEM VALUE SELECT i, reference, order_id, 'test', CASE status WHEN 'review' THEN 'underpaid' ELSE status END, 'WORD', amount, currency, 200,
     body, sha256(body), CASE WHEN i % 5 = 0 THEN 'schedule' WHEN i % 7 = 0 THEN 'return' ELSE 'webhook' END, at + interval '40 s'
   FROM (SELECT *, convert_to('{"status":true,"message":"transaction found","code":200,"data":{' || ${RECORD} || '}}', 'UTF8') AS body
     FROM shop) answers`,
  `INSERT INTO releases (id, order_id, reference, mode, amount, currency, verification_id, delivery, next_check_at, attempts, released_at,
     delivered_at, message)
   SELECT 'rel_' || order_id, order_id, reference, 'test', amount, currency, i, delivery, CASE delivery WHEN 'waiting' THEN now() END, 1,
     at + interval '40 s', CASE delivery WHEN 'delivered' THEN at + interval '41 s' END, ${MESSAGE}
   FROM shop WHERE status = 'paid' ORDER BY i`,
  `INSERT INTO webhooks (id, mode, body, body_sha256, content_type, authenticity, reference, outcome, received_at, last_received_at)
   OVERRIDING SYSTEM VALUE SELECT i, 'test', body, sha256(body), 'application/json', 'signed', reference, 'hinted', at + interval '38 s', at + interval '38 s'
   FROM (SELECT *, convert_to('{"event":"transaction.success","data":{' || ${RECORD} || '}}', 'UTF8') AS body
     FROM shop WHERE i % 5 <> 0 AND status <> 'pending') calls ORDER BY i`,
  `INSERT INTO refunds (id, order_id, mode, amount, currency, reason, external_id, refunded_by, refunded_at)
   SELECT 're_' || order_id, order_id, 'test', 1, currency, 'torn', 'RF-' || i, 'Ngozi', at + interval '1 day'
   FROM shop WHERE status = 'paid' AND i % 30 = 17`,
  `INSERT INTO suspense_items (id, mode, class, reference, order_id, amount, currency, opened_at, closed_at, closed_by, decision, refund_note)
   OVERRIDING SYSTEM VALUE SELECT i, 'test', 'underpaid', reference, order_id, 1, currency, at, CASE WHEN i % 20000 = 7 THEN NULL ELSE at END,
     CASE WHEN i % 20000 = 7 THEN NULL ELSE 'Ngozi' END, CASE WHEN i % 20000 = 7 THEN NULL ELSE 'refund' END, CASE WHEN i % 20000 = 7 THEN NULL ELSE 'RF-S' || i END
   FROM shop WHERE i % 1000 = 7`,
  `INSERT INTO journal (order_id, seq, at, event, reference, cause, detail, previous_hash, hash) ${JOURNAL}`,
  `INSERT INTO findings (mode, class, reference, order_id, currency, expected, actual, first_run_id, last_run_id, first_seen_at, closed_at, closed_by)
   SELECT 'test', 'underpaid', reference, order_id, currency, amount, 1, 'run_1', 'run_1', at,
     CASE WHEN i % 20000 = 7 THEN NULL ELSE at END, CASE WHEN i % 20000 = 7 THEN NULL ELSE 'reconciliation' END FROM shop WHERE i % 100 = 7`,
  `INSERT INTO idempotency_keys (mode, key, fingerprint, order_id, reference, created_at)
   SELECT 'test', 'key-' || i, sha256(''), order_id, reference, at FROM shop WHERE at > now() - interval '72 hours'`,
  'DROP TABLE shop',
];

// The shop's own work of seven and of ninety days.
const BESIDE = [
  `INSERT INTO refused_webhooks (minute, mode, reason, times, samples)
   SELECT date_trunc('minute', now()) - i * interval '1 min', 'test', reason, 100,
     '[{"at": "2026-01-01T00:00:00.000Z", "address": "203.0.113.9", "reference": null}]'
   FROM generate_series(0, 10079) i, unnest(ARRAY['bad-signature', 'malformed', 'too-many']) reason`,
  `INSERT INTO reconciliation_runs (id, mode, started_at, finished_at, complete, verdict, report)
   SELECT 'run_' || i, 'test', now() - i * interval '15 min', now() - i * interval '15 min', true, 'findings',
     '{"findings": {"underpaid": 3}, "identity": []}' FROM generate_series(1, 8640) i`,
  `SELECT setval(pg_get_serial_sequence('verifications', 'id'), max(id)) FROM verifications`,
  `SELECT setval(pg_get_serial_sequence('suspense_items', 'id'), max(id)) FROM suspense_items`,
  `SELECT setval(pg_get_serial_sequence('webhooks', 'id'), max(id)) FROM webhooks`,
  'VACUUM (ANALYZE)',
];

const AT_ONCE = 500_000;

/** Fills an empty database behind its triggers and constraints, which would take hours over it. */
export async function fillShop(url: string, orders: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(
      `SET session_replication_role = replica; SET synchronous_commit = off; SET work_mem = '256MB'`,
    );
    for (let from = 1; from <= orders; from += AT_ONCE)
      for (const statement of PART(from, Math.min(from + AT_ONCE - 1, orders), orders))
        await client.query(statement);
    for (const statement of BESIDE) await client.query(statement);
  } finally {
    await client.end();
  }
}
