import pg from 'pg';

/** The same ids as the SQL below makes: a letter and the number, 24 characters long. */
export function idOf(letter: string, number: number): string {
  return letter + String(number).padStart(23, '0');
}

const id = (letter: string): string => `'${letter}' || lpad(i::text, 23, '0')`;

// A shop of ninety days: of a hundred orders ninety are paid, six failed, three expired, and one stands open or in review;
// of the youngest two days a tenth still waits. Two currencies, every fifth payment found without a webhook.
const AT = (count: number): string => `now() - interval '90 days' * (1 - i::float8 / ${count})`;
const STATUS = (count: number): string => `CASE WHEN i > ${count} * 0.98 AND i % 10 = 0 THEN 'pending'
  WHEN i % 10000 = 7 THEN 'review' WHEN i % 100 < 6 THEN 'failed' WHEN i % 100 < 9 THEN 'expired' ELSE 'paid' END`;

const FILL = (count: number): string[] => [
  `CREATE TEMP TABLE shop AS SELECT i, ${id('o')} AS order_id, ${id('p')} AS reference, ${AT(count)} AS at, ${STATUS(count)} AS status,
     CASE WHEN i % 3 = 0 THEN 'XOF' ELSE 'NGN' END AS currency, 1000 + i % 100000 AS amount FROM generate_series(1, ${count}) i`,
  `INSERT INTO orders (id, external_id, mode, email, amount, currency, status, release_id, paid_at, created_at)
   SELECT order_id, CASE WHEN i % 2 = 1 THEN 'shop-' || i END, 'test', 'buyer' || i % 200000 || '@example.com', amount, currency, status,
     CASE WHEN status = 'paid' THEN 'rel_' || order_id END, CASE WHEN status = 'paid' THEN at + interval '40 s' END, at FROM shop`,
  `INSERT INTO order_lines (order_id, position, sku, description, unit_amount, quantity)
   SELECT order_id, 1, 'tote', 'A tote bag', amount, 1 FROM shop`,
  `INSERT INTO payments (reference, order_id, mode, amount, currency, status, checkout_url, created_at, next_check_at, checks, hints, hints_answered)
   SELECT reference, order_id, 'test', amount, currency, CASE status WHEN 'pending' THEN 'open' WHEN 'review' THEN 'held' ELSE status END,
     'https://pay.example/' || i, at, CASE WHEN status IN ('pending', 'failed', 'review') AND at > now() - interval '8 days'
       THEN now() + (i % 1000 - 10) * interval '1 min' END, 2, CASE WHEN i % 997 = 0 THEN 2 ELSE 1 END, 1 FROM shop`,
  `INSERT INTO verifications (reference, order_id, mode, outcome, status_word, amount, currency, http_status, body, body_sha256, cause, answered_at)
   SELECT reference, order_id, 'test', CASE status WHEN 'review' THEN 'underpaid' ELSE status END, 'WORD', amount, currency, 200,
     convert_to(repeat('{"status": true, "data": {}}', 10), 'UTF8'), sha256(''),
     CASE WHEN i % 5 = 0 THEN 'schedule' WHEN i % 7 = 0 THEN 'return' ELSE 'webhook' END, at + interval '40 s' FROM shop`,
  `INSERT INTO releases (id, order_id, reference, mode, amount, currency, verification_id, delivery, next_check_at, attempts, released_at)
   SELECT 'rel_' || s.order_id, s.order_id, s.reference, 'test', s.amount, s.currency, v.id,
     CASE WHEN i % 20011 = 5 THEN 'dead' WHEN i > ${count} - 300 THEN 'waiting' ELSE 'delivered' END,
     CASE WHEN i % 20011 <> 5 AND i > ${count} - 300 THEN now() END, 1, s.at + interval '40 s'
   FROM shop s JOIN verifications v USING (reference) WHERE s.status = 'paid' ORDER BY i`,
  `INSERT INTO webhooks (mode, body, body_sha256, authenticity, reference, outcome, received_at, last_received_at)
   SELECT 'test', convert_to(repeat('{"data": {}}', 20), 'UTF8'), sha256(convert_to(reference, 'UTF8')), 'signed', reference, 'hinted',
     at + interval '38 s', at + interval '38 s' FROM shop WHERE i % 5 <> 0 AND status <> 'pending' ORDER BY i`,
  `INSERT INTO journal (order_id, seq, at, event, reference, cause, previous_hash, hash)
   SELECT order_id, seq, at + seq * interval '1 s', (ARRAY['order-placed', 'payment-open', 'order-paid'])[seq], reference,
     'shopper', sha256(''), sha256('') FROM shop, generate_series(1, 3) seq`,
  `INSERT INTO journal (order_id, seq, at, event, reference, cause, previous_hash, hash)
   SELECT order_id, 4, at + interval '1 h', 'check-asked', reference, 'operator:Ngozi', sha256(''), sha256('')
   FROM shop WHERE i % 50 = 0`,
  `INSERT INTO refunds (id, order_id, mode, amount, currency, reason, external_id, refunded_by, refunded_at)
   SELECT 're_' || order_id, order_id, 'test', 1, currency, 'torn', 'RF-' || i, 'Ngozi', at + interval '1 day'
   FROM shop WHERE status = 'paid' AND i % 30 = 17`,
  `INSERT INTO refused_webhooks (minute, mode, reason, times, samples)
   SELECT date_trunc('minute', now()) - i * interval '1 min', 'test', reason, 100,
     '[{"at": "2026-01-01T00:00:00.000Z", "address": "203.0.113.9", "reference": null}]'
   FROM generate_series(0, 10079) i, unnest(ARRAY['bad-signature', 'malformed', 'too-many']) reason`,
  `INSERT INTO reconciliation_runs (id, mode, started_at, finished_at, complete, verdict, report)
   SELECT 'run_' || i, 'test', now() - i * interval '15 min', now() - i * interval '15 min', true, 'findings',
     '{"findings": {"underpaid": 3}, "identity": []}' FROM generate_series(1, 8640) i`,
  `INSERT INTO findings (mode, class, reference, order_id, currency, expected, actual, first_run_id, last_run_id, first_seen_at, closed_at, closed_by)
   SELECT 'test', 'underpaid', reference, order_id, currency, amount, 1, 'run_1', 'run_1', at,
     CASE WHEN i % 20000 = 7 THEN NULL ELSE at END, CASE WHEN i % 20000 = 7 THEN NULL ELSE 'Ngozi' END FROM shop WHERE i % 100 = 7`,
  `INSERT INTO suspense_items (mode, class, reference, order_id, amount, currency, opened_at, closed_at, closed_by, decision, refund_note)
   SELECT 'test', 'underpaid', reference, order_id, 1, currency, at, CASE WHEN i % 20000 = 7 THEN NULL ELSE at END,
     CASE WHEN i % 20000 = 7 THEN NULL ELSE 'Ngozi' END, CASE WHEN i % 20000 = 7 THEN NULL ELSE 'refund' END, CASE WHEN i % 20000 = 7 THEN NULL ELSE 'RF-S' || i END
   FROM shop WHERE i % 1000 = 7`,
  `INSERT INTO idempotency_keys (mode, key, fingerprint, order_id, reference, created_at)
   SELECT 'test', 'key-' || i, '', order_id, reference, at FROM shop WHERE at > now() - interval '72 hours'`,
];

/** Fills an empty database behind its triggers and constraints, which would take hours over it. */
export async function fillShop(url: string, orders: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('SET session_replication_role = replica');
    for (const statement of FILL(orders)) await client.query(statement);
    await client.query('DROP TABLE shop');
    await client.query('VACUUM (ANALYZE)');
  } finally {
    await client.end();
  }
}
