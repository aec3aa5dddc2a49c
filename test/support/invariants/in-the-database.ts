/** What must hold in the database alone. Each query gives one row, `what`, per violation. */
export type SqlInvariant = { name: string; broken: string; sql: string };

const PROOF = `FROM orders o JOIN releases r ON r.id = o.release_id AND r.order_id = o.id
  JOIN verifications v ON v.id = r.verification_id JOIN payments p ON p.reference = r.reference
  WHERE v.reference = p.reference AND v.order_id = o.id AND (v.outcome = 'paid' AND v.amount = o.amount
      OR EXISTS (SELECT FROM acceptances a WHERE a.id = r.acceptance_id AND a.verification_id = v.id AND a.amount = v.amount))
    AND v.currency = o.currency AND p.order_id = o.id AND v.mode = o.mode AND v.answered_at <= o.paid_at`;

export const IN_THE_DATABASE: readonly SqlInvariant[] = [
  {
    name: 'I1',
    broken: 'is paid without a verification that proves it',
    sql: `SELECT 'order ' || id AS what FROM orders WHERE status = 'paid' AND id NOT IN (SELECT o.id ${PROOF})`,
  },
  {
    name: 'I2',
    broken: 'is paid with no release or several, or released and not paid',
    sql: `SELECT 'order ' || o.id AS what FROM orders o LEFT JOIN releases r ON r.order_id = o.id
      GROUP BY o.id HAVING count(r.id) <> (o.status = 'paid')::int`,
  },
  {
    name: 'I4',
    broken: 'stands where the numbers or hashes of its journal break',
    sql: `SELECT 'entry ' || order_id || '/' || seq AS what FROM (
        SELECT j.order_id, j.seq, j.hash, j.previous_hash, journal_hash(j) AS expected, row_number() OVER chain AS position,
          lag(j.hash, 1, sha256(convert_to(j.order_id, 'UTF8'))) OVER chain AS before
        FROM journal j WINDOW chain AS (PARTITION BY j.order_id ORDER BY j.seq)) entries
      WHERE hash <> expected OR previous_hash <> before OR seq <> position`,
  },
  {
    name: 'I4',
    broken: 'leaves "paid" again in its journal, or enters it twice',
    sql: `SELECT 'payment ' || b.reference AS what FROM journal a JOIN journal b USING (order_id)
      WHERE a.event = 'order-paid' AND b.seq > a.seq AND (b.event = 'order-paid' OR b.reference = a.reference
        AND b.event LIKE 'payment-%' AND b.event <> 'payment-paid')`,
  },
  {
    name: 'I9',
    broken: 'costs other than its lines, unit price times quantity',
    sql: `SELECT 'order ' || o.id AS what FROM orders o LEFT JOIN order_lines l ON l.order_id = o.id
      GROUP BY o.id HAVING coalesce(sum(l.unit_amount * l.quantity), 0) <> o.amount`,
  },
  {
    name: 'I12',
    broken: 'names a payment of ours and hinted at none, or the reverse',
    sql: `SELECT 'webhook ' || w.id AS what FROM webhooks w LEFT JOIN payments p ON p.reference = w.reference
      WHERE (w.outcome = 'hinted') <> (p.reference IS NOT NULL)`,
  },
  {
    name: 'I12',
    broken: 'has fewer hints than webhooks that were accepted for it',
    sql: `SELECT 'payment ' || p.reference AS what FROM payments p JOIN webhooks w ON w.reference = p.reference
      WHERE w.outcome = 'hinted' GROUP BY p.reference HAVING sum(w.deliveries) > p.hints`,
  },
  {
    name: 'I15',
    broken: 'is of another mode than what it belongs to',
    sql: `SELECT 'payment ' || p.reference AS what FROM payments p JOIN orders o ON o.id = p.order_id WHERE p.mode <> o.mode
      UNION SELECT 'verification ' || v.id FROM verifications v JOIN payments p USING (reference) WHERE v.mode <> p.mode
      UNION SELECT 'release ' || r.id FROM releases r JOIN orders o ON o.id = r.order_id WHERE r.mode <> o.mode
      UNION SELECT 'suspense item ' || s.id FROM suspense_items s JOIN orders o ON o.id = s.order_id WHERE s.mode <> o.mode`,
  },
  {
    name: 'I17',
    broken: 'has been due for over a minute and nobody took it',
    sql: `SELECT 'payment ' || reference AS what FROM payments
        WHERE next_check_at < now() - interval '1 min' AND coalesce(leased_until, '-infinity') < now() - interval '1 min'
      UNION SELECT 'release ' || id FROM releases
        WHERE next_check_at < now() - interval '1 min' AND coalesce(leased_until, '-infinity') < now() - interval '1 min'`,
  },
  {
    name: 'I18',
    broken: 'may still bring money, and nobody will look at it again',
    sql: `SELECT 'payment ' || p.reference AS what FROM payments p JOIN orders o ON o.id = p.order_id
      WHERE coalesce(p.next_check_at > now() + interval '1 day 1 hour', true)
        AND (p.status IN ('created', 'sending', 'open', 'ambiguous') OR p.hints > p.hints_answered
          OR p.status = 'held' AND o.status <> 'review' AND NOT EXISTS (SELECT FROM suspense_items s WHERE s.reference = p.reference))
      UNION SELECT 'release ' || id FROM releases WHERE delivery = 'waiting' AND next_check_at IS NULL`,
  },
  {
    name: 'I19',
    broken: 'is not in the state that its journal replays to',
    sql: `WITH replayed AS (
        SELECT DISTINCT ON (reference) reference, CASE WHEN event IN ('order-placed', 'payment-added') THEN 'sending'
          WHEN event = 'order-paid' THEN 'paid' ELSE substr(event, 9) END AS status
        FROM journal WHERE event IN ('order-placed', 'order-paid') OR event LIKE 'payment-%' ORDER BY reference, seq DESC)
      SELECT 'payment ' || p.reference AS what FROM payments p LEFT JOIN replayed USING (reference)
      -- An unsent payment is sent without an entry; its end has one.
      WHERE p.status IS DISTINCT FROM replayed.status AND NOT (replayed.status = 'created' AND p.status = 'sending')`,
  },
  {
    name: 'I19',
    broken: 'does not stand where its journal and its payments put it',
    sql: `SELECT 'order ' || o.id AS what FROM orders o JOIN payments p ON p.order_id = o.id
      WHERE p.reason IS DISTINCT FROM 'key-refused' GROUP BY o.id
      HAVING o.status <> CASE WHEN EXISTS (SELECT FROM journal j WHERE j.order_id = o.id AND j.event = 'order-paid') THEN 'paid'
        WHEN (SELECT j.event FROM journal j WHERE j.order_id = o.id AND j.event IN ('order-cancelled', 'order-reopened') ORDER BY j.seq DESC LIMIT 1) = 'order-cancelled' THEN 'cancelled' WHEN o.expired_at IS NOT NULL THEN 'expired'
        WHEN bool_or(p.status = 'held' AND p.decided_at IS NULL) THEN 'review' WHEN bool_or(p.status IN ('created', 'sending', 'open', 'ambiguous')) THEN 'pending'
        WHEN bool_or(p.status IN ('failed', 'refused')) THEN 'failed' ELSE 'expired' END`,
  },
  {
    name: 'I21',
    broken: 'pays more than one order',
    sql: `SELECT 'reference ' || reference AS what FROM releases GROUP BY mode, reference HAVING count(*) > 1
      UNION SELECT 'verification ' || verification_id FROM releases GROUP BY verification_id HAVING count(*) > 1`,
  },
  {
    name: 'I22',
    broken: 'was closed without an answer that allows it',
    sql: `SELECT 'payment ' || p.reference AS what FROM payments p LEFT JOIN LATERAL (
        SELECT outcome FROM verifications v WHERE v.reference = p.reference AND outcome <> 'unreadable' ORDER BY id DESC LIMIT 1) last ON true
      WHERE p.status = 'failed' AND coalesce(last.outcome, '') NOT IN ('failed', 'reversed', 'pending', 'not_found')
        OR p.status = 'expired' AND coalesce(last.outcome, '') NOT IN ('expired', 'pending', 'not_found')
          AND NOT EXISTS (SELECT FROM journal j WHERE j.reference = p.reference AND j.event = 'payment-created')`,
  },
  {
    name: 'I22',
    broken: 'was closed by an answer that was not fresh',
    // Answer and entry are written by one transaction, in the middle of which the clock may jump; an answer
    // whose body was pruned has one of its own since, and its time is left. What was never sent needs no
    // answer.
    sql: `SELECT 'payment ' || j.reference AS what FROM journal j
      WHERE j.event IN ('payment-failed', 'payment-expired')
        AND NOT EXISTS (SELECT FROM journal c WHERE c.reference = j.reference AND c.event = 'payment-created')
        AND EXISTS (SELECT FROM verifications v WHERE v.reference = j.reference)
        AND NOT EXISTS (SELECT FROM verifications v WHERE v.reference = j.reference
          AND (v.xmin = j.xmin OR v.answered_at BETWEEN j.at - interval '10 s' AND j.at + interval '1 s'))`,
  },
  {
    name: 'I23',
    broken: 'has odd evidence and is neither paid by other evidence nor held for a person',
    sql: `SELECT 'payment ' || p.reference AS what FROM payments p JOIN LATERAL (
        SELECT outcome FROM verifications v WHERE v.reference = p.reference ORDER BY id DESC LIMIT 1) last ON true
      WHERE last.outcome IN ('underpaid', 'overpaid', 'unit_error', 'currency_mismatch', 'mode_mismatch',
        'reference_mismatch', 'unknown_status', 'unproven') AND p.status NOT IN ('held', 'paid')`,
  },
];
