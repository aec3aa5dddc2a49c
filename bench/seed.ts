import pg from 'pg';
import { SQL, type Spread } from './list.ts';

/**
 * Writes the paid orders of the history's formula as the program would have written them. It drops
 * the keys before and rebuilds them in bulk, which checks all rows; row by row takes ten times as
 * long. The journal has the lines that the books need, without the chain of hashes.
 */
export async function seedPaidOrders(url: string, { count, newestMs, stepMs }: Spread): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const at = `to_timestamp((${newestMs} - (${count} - i) * ${stepMs}::bigint) / 1000.0)`;
  const formula = `SELECT i, ${SQL.reference} AS reference, ${SQL.orderId} AS id, ${SQL.amount} AS amount,
    ${SQL.serviceId} AS service_id, ${at} AS at FROM generate_series(1, ${count}::bigint) i`;
  try {
    await client.query(`SET synchronous_commit = off; SET work_mem = '256MB'; SET maintenance_work_mem = '1GB'`);
    const { rows: keys } = await client.query<{ drop: string; make: string }>(KEYS);
    for (const { drop } of keys) await client.query(drop);
    // Triggers are off for this session.
    await client.query('SET session_replication_role = replica');
    for (const statement of ROWS) await client.query(`WITH f AS (${formula}) ${statement}`);
    for (const { make } of keys.reverse()) await client.query(make);
    await client.query(`SELECT setval('verifications_id_seq', ${count})`);
    await client.query('VACUUM ANALYZE');
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
}

/**
 * Foreign keys, then indexes, then primary keys. They can be dropped in this order and created in
 * the reverse order.
 */
const KEYS = `
  SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS drop,
    format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS make,
    CASE contype WHEN 'f' THEN 1 ELSE 3 END AS turn
  FROM pg_constraint WHERE contype IN ('f', 'p') AND connamespace = current_schema()::regnamespace
  UNION ALL
  SELECT format('DROP INDEX %I', indexname), indexdef, 2 FROM pg_indexes
  WHERE schemaname = current_schema() AND indexname NOT IN (SELECT conname FROM pg_constraint)
  ORDER BY turn`;

const ROWS = [
  `INSERT INTO orders (id, mode, email, amount, currency, status, paid_reference, paid_at, created_at)
   SELECT id, 'test', 'shopper-' || i || '@example.com', amount, 'NGN', 'paid', reference, at, at FROM f`,
  `INSERT INTO order_lines SELECT id, 0, 'ankara-tote', 'Ankara tote bag', amount, 1 FROM f`,
  `INSERT INTO payments (reference, mode, order_id, amount, currency, status, checkout_url, opened_at, answered_at,
     next_check_at, created_at)
   SELECT reference, 'test', id, amount, 'NGN', 'paid', 'https://pay.example/' || reference, at, at, NULL, at FROM f`,
  `INSERT INTO verifications (id, reference, outcome, word, amount, balance, currency, service_id, http_status, body,
     digest, cause, asked_at, at)
   SELECT i, reference, 'paid', 'SUCCESS', amount, amount, 'NGN', service_id, 200,
     convert_to('{"data":{"reference":"' || reference || '","status":"SUCCESS"}}', 'UTF8'),
     sha256(convert_to(format('["paid","SUCCESS","%s",null,"%s","NGN","%s",null]', amount, amount, service_id), 'UTF8')),
     'notification', at, at FROM f`,
  `INSERT INTO ledgers (reference, currency, captured, retained, returned, refunded, written_off, off_provider, recovered,
     booked_in_at, verify_received, verify_outflow, verify_transactions, verify_uncertain, verify_most_received,
     verify_most_outflow, history_received, history_outflow, history_transactions, history_uncertain,
     history_most_received, history_most_outflow)
   SELECT reference, 'NGN', amount, 0, 0, 0, 0, 0, 0, at, amount, 0,
     jsonb_build_array(jsonb_build_object('id', service_id, 'received', amount::text, 'outflow', '0')), false, amount, 0,
     0, 0, '[]', false, 0, 0 FROM f`,
  `INSERT INTO proofs (order_id, mode, reference, price, currency, amount, at)
   SELECT id, 'test', reference, amount, 'NGN', amount, at FROM f`,
  `INSERT INTO proof_payments (reference, order_id, mode, currency, amount, verification_id, shown, shown_amount, service_id)
   SELECT reference, id, 'test', 'NGN', amount, i, 'paid', amount, service_id FROM f`,
  `INSERT INTO journal (order_id, reference, what, "by", counter, amount, currency, at)
   SELECT id, reference, what, 'service', counter, CASE WHEN counter IS NOT NULL THEN amount END,
     CASE WHEN counter IS NOT NULL THEN 'NGN' END, at
   FROM f, (VALUES ('reported by verify', 'received'), ('captured', 'captured'), ('marked paid', NULL)) AS line (what, counter)`,
];
