import { REDACTED } from '../gateway/http/redact-key.ts';
import { REFUND_DIGEST } from '../orders/refunds.sql.ts';

/**
 * Each query returns one row per contradiction in the orders $1: `id` of the order and `what`. The hash
 * chain shows an entry that was changed, or one that is missing before another. If the last entries are
 * missing, the rows that they described contradict the journal.
 */
export const CONTRADICTIONS: readonly string[] = [
  `SELECT order_id AS id, 'journal entry ' || seq
     || CASE WHEN seq <> position THEN ' comes after one that is missing'
     WHEN hash <> expected THEN ' was changed' ELSE ' does not follow from the one before it' END AS what
   FROM (SELECT j.order_id, j.seq, j.hash, j.previous_hash, journal_hash(j) AS expected,
       lag(j.hash, 1, sha256(convert_to(j.order_id, 'UTF8'))) OVER chain AS before,
       coalesce(lag(j.seq) OVER chain, 0) + 1 AS position
     FROM journal j WHERE j.order_id = ANY($1)
     WINDOW chain AS (PARTITION BY j.order_id ORDER BY j.seq)) entries
   WHERE hash <> expected OR previous_hash <> before OR seq <> position ORDER BY order_id, seq`,

  // The entry keeps the evidence's outcome and, where it rests on it, its digest.
  `SELECT j.order_id AS id, 'verification ' || (j.detail ->> 'verification')
     || CASE WHEN v.id IS NULL THEN ' is gone' ELSE ' was changed' END
     || ', says journal entry ' || j.seq AS what
   FROM journal j
   LEFT JOIN verifications v ON v.id = (j.detail ->> 'verification')::bigint AND v.order_id = j.order_id
   WHERE j.order_id = ANY($1) AND j.detail ? 'verification' AND (v.id IS NULL OR v.reference <> j.reference
     OR v.outcome <> j.detail ->> 'outcome' OR coalesce(evidence_hash(v) <> j.detail ->> 'evidence', false))
   ORDER BY j.seq`,
  // If the service quoted our key, it was removed from the stored body; the digest is
  // that of the original.
  `SELECT p.order_id AS id, 'verification ' || v.id
     || ' keeps a body that is not the one it was made from' AS what
   FROM payments p JOIN verifications v ON v.reference = p.reference
   WHERE p.order_id = ANY($1) AND v.body IS NOT NULL
     AND sha256(v.body) <> v.body_sha256 AND position('${REDACTED}'::bytea IN v.body) = 0 ORDER BY v.id`,

  `SELECT coalesce(r.order_id, j.order_id) AS id, 'release ' || coalesce(r.id, j.detail ->> 'release')
     || ' is not the one that journal entry ' || coalesce(j.seq::text, '(none)')
     || ' made' AS what
   FROM (SELECT * FROM journal WHERE order_id = ANY($1) AND event = 'order-paid') j
   FULL JOIN (SELECT * FROM releases WHERE order_id = ANY($1)) r ON r.order_id = j.order_id
   WHERE (r.id, r.reference, r.verification_id::text) IS DISTINCT FROM
     (j.detail ->> 'release', j.reference, j.detail ->> 'verification')`,
  `SELECT r.order_id AS id, 'release ' || r.id || ' is of other money than its order or its evidence' AS what
   FROM releases r JOIN orders o ON o.id = r.order_id LEFT JOIN verifications v ON v.id = r.verification_id
   LEFT JOIN acceptances a ON a.id = r.acceptance_id
   WHERE r.order_id = ANY($1)
     AND ((r.amount, r.currency, r.mode) IS DISTINCT FROM (o.amount, o.currency, o.mode)
     OR (v.outcome, v.reference, v.amount, v.currency, v.mode) IS DISTINCT FROM
       (coalesce(a.outcome, r.outcome), r.reference, coalesce(a.amount, r.amount), r.currency, r.mode))`,
  `SELECT a.order_id AS id, 'acceptance ' || a.id || ' is not the one that the journal says' AS what
   FROM acceptances a LEFT JOIN journal j ON j.order_id = a.order_id AND j.event = 'order-paid'
   WHERE a.order_id = ANY($1)
     AND (j.detail ->> 'acceptance', j.detail ->> 'accepted', j.cause, j.detail ->> 'note') IS DISTINCT FROM
       (a.id::text, a.amount || ' ' || a.currency, 'operator:' || a.accepted_by, a.note)`,
  // Each result of a delivery has an entry; its initial state is in the entry that released.
  `SELECT r.order_id AS id, 'release ' || r.id || ' is '
     || r.delivery || ', and the journal does not say so' AS what
   FROM releases r LEFT JOIN LATERAL (
     SELECT event, detail FROM journal j WHERE j.order_id = r.order_id
       AND (j.event LIKE 'release-%' OR j.event = 'order-paid')
     ORDER BY seq DESC LIMIT 1) last ON true
   WHERE r.order_id = ANY($1) AND CASE last.event WHEN 'release-delivered' THEN r.delivery <> 'delivered'
     WHEN 'release-dead' THEN r.delivery <> 'dead' WHEN 'release-withheld' THEN r.delivery <> 'withheld'
     WHEN 'release-unneeded' THEN r.delivery <> 'unneeded'
     WHEN 'order-paid' THEN r.delivery IN ('delivered', 'dead', 'withheld')
       OR r.delivery <> last.detail ->> 'delivery' ELSE r.delivery <> 'waiting' END`,

  `SELECT o.id, 'the order is ' || o.status || ', and the journal does not say so' AS what FROM orders o
   WHERE o.id = ANY($1) AND (o.status = 'paid') <> EXISTS (
     SELECT FROM journal j WHERE j.order_id = o.id AND j.event = 'order-paid')`,
  // A payment that was put back to be sent later is sent without an entry; the result has one.
  `SELECT p.order_id AS id, 'payment ' || p.reference || ' is ' || p.status
     || ', and the journal says ' || coalesce(told.status, 'nothing') AS what
   FROM payments p LEFT JOIN LATERAL (
     SELECT CASE WHEN event IN ('order-placed', 'payment-added') THEN 'sending'
       WHEN event = 'order-paid' THEN 'paid'
       ELSE substr(event, length('payment-') + 1) END AS status
     FROM journal j WHERE j.order_id = p.order_id AND j.reference = p.reference
       AND (event IN ('order-placed', 'order-paid') OR event LIKE 'payment-%')
       ORDER BY seq DESC LIMIT 1) told ON true
   WHERE p.order_id = ANY($1)
     AND p.status IS DISTINCT FROM told.status AND NOT (told.status = 'created' AND p.status = 'sending')
   ORDER BY p.created_at`,

  // Digests of rows, which the first entry keeps.
  `SELECT o.id, CASE WHEN o.amount <> coalesce(l.total, 0) THEN 'the order costs other than its lines'
     ELSE 'the order, or one of its lines, is not the one that was placed' END AS what
   FROM orders o LEFT JOIN journal j ON j.order_id = o.id AND j.event = 'order-placed' CROSS JOIN LATERAL (
     SELECT sum(unit_amount * quantity) AS total, jsonb_agg(to_jsonb(lines)) AS rows
     FROM order_lines lines WHERE lines.order_id = o.id) l
   WHERE o.id = ANY($1) AND (o.amount <> coalesce(l.total, 0)
     OR j.detail ->> 'order' <> order_hash(o.id, o.external_id, o.mode, o.amount, o.currency, l.rows))`,
  // Said of the journal as well: else the whole journal was read for each five hundred orders of a large
  // shop.
  `SELECT o.id, 'the order''s e-mail address was '
     || CASE WHEN o.email = 'erased' THEN 'erased, and the journal does not say so'
     ELSE 'changed' END AS what
   FROM orders o JOIN journal j ON j.order_id = o.id AND j.event = 'order-placed'
   WHERE o.id = ANY($1) AND j.order_id = ANY($1) AND CASE
     WHEN EXISTS (SELECT FROM journal e WHERE e.order_id = o.id
       AND e.event = 'email-erased') THEN o.email <> 'erased'
     ELSE o.email = 'erased' OR j.detail ? 'email'
       AND text_hash(o.email_salt || o.email) IS DISTINCT FROM j.detail ->> 'email' END`,
  `SELECT o.id, 'the order was paid by another release, or at another time' AS what
   FROM orders o JOIN journal j ON j.order_id = o.id AND j.event = 'order-paid'
   LEFT JOIN releases r ON r.order_id = o.id
   WHERE o.id = ANY($1) AND o.status = 'paid'
     AND (o.release_id IS DISTINCT FROM j.detail ->> 'release' OR o.paid_at <> r.released_at)`,
  `SELECT p.order_id AS id, 'payment ' || p.reference || ' is of other money than its order' AS what
   FROM payments p JOIN orders o ON o.id = p.order_id
   WHERE o.id = ANY($1) AND (p.mode, p.amount, p.currency) IS DISTINCT FROM (o.mode, o.amount, o.currency)`,
  // An order that was placed with digests also has an entry for each address; a missing
  // entry is found above.
  `SELECT p.order_id AS id, 'payment ' || p.reference
     || ' has another checkout address than it was opened with' AS what
   FROM payments p JOIN journal placed ON placed.order_id = p.order_id
     AND placed.event = 'order-placed' LEFT JOIN LATERAL (
     SELECT detail ->> 'checkout' AS checkout
     FROM journal j WHERE j.order_id = p.order_id AND j.reference = p.reference
       AND j.event IN ('payment-open', 'checkout-address')
       ORDER BY (j.detail ? 'checkout') DESC, seq DESC LIMIT 1) told ON true
   WHERE p.order_id = ANY($1)
     AND CASE WHEN told IS NULL THEN p.checkout_url IS NOT NULL AND placed.detail ? 'order'
       AND (SELECT count(*) = max(seq) FROM journal whole WHERE whole.order_id = p.order_id)
     ELSE told.checkout IS NOT NULL AND text_hash(p.checkout_url) IS DISTINCT FROM told.checkout END`,

  // Each entry that puts money into suspense describes the item from then on, until it is closed.
  `SELECT s.order_id AS id, 'suspense item ' || s.id || ' is of '
     || s.amount || ' ' || s.currency || ' (' || s.class
     || '), and the journal says ' || coalesce(told.money || ' (' || told.class || ')', 'nothing') AS what
   FROM suspense_items s LEFT JOIN LATERAL (
     SELECT j.detail ->> 'money' AS money, j.detail ->> 'suspense' AS class FROM journal j
     WHERE j.order_id = s.order_id AND j.reference = s.reference
       AND j.detail ? 'money' AND j.detail ? 'suspense'
       AND j.seq < coalesce((SELECT min(e.seq) FROM journal e WHERE e.order_id = s.order_id
         AND (e.detail ->> 'item' = s.id::text AND e.event = 'suspense-resolved'
           OR e.detail ->> 'earned' = s.id::text)), 2147483647)
     ORDER BY j.seq DESC LIMIT 1) told ON true
   WHERE s.order_id = ANY($1) AND (told.money, told.class)
     IS DISTINCT FROM (s.amount || ' ' || s.currency, s.class)`,
  `SELECT s.order_id AS id, 'suspense item ' || s.id
     || ' was closed, and the journal does not say so' AS what FROM suspense_items s
   WHERE s.order_id = ANY($1) AND s.closed_at IS NOT NULL
     AND NOT EXISTS (SELECT FROM journal j WHERE j.order_id = s.order_id
     AND (j.event = 'suspense-resolved' AND j.detail ->> 'item' = s.id::text
         AND (j.cause, j.detail ->> 'decision', j.detail ->> 'note')
           IS NOT DISTINCT FROM ('operator:' || s.closed_by, s.decision, s.note)
         AND j.detail ->> 'refund' IS NOT DISTINCT FROM s.refund_note
       OR s.closed_by = 'confirmation' AND j.event = 'order-paid'))`,

  `SELECT coalesce(r.order_id, j.order_id) AS id, 'refund ' || coalesce(r.id, j.detail ->> 'refund')
     || ' is not the one that journal entry ' || coalesce(j.seq::text, '(none)') || ' wrote down' AS what
   FROM (SELECT * FROM journal WHERE order_id = ANY($1) AND event = 'refund-recorded') j
   FULL JOIN (SELECT * FROM refunds WHERE order_id = ANY($1)) r
     ON r.order_id = j.order_id AND r.id = j.detail ->> 'refund'
   WHERE j.detail ->> 'digest' IS DISTINCT FROM ${REFUND_DIGEST}`,

  `SELECT f.order_id AS id, 'finding ' || f.id || ' says other money than when it was raised' AS what
   FROM findings f
   JOIN LATERAL (SELECT detail FROM journal j WHERE j.order_id = f.order_id AND j.event = 'finding-raised'
     AND j.detail ->> 'finding' = f.id::text ORDER BY seq DESC LIMIT 1) told ON true
   WHERE f.order_id = ANY($1) AND told.detail IS DISTINCT FROM finding_told(f)`,
  `SELECT f.order_id AS id, 'finding ' || f.id || ' was closed, and the journal does not say so' AS what
   FROM findings f
   WHERE f.order_id = ANY($1) AND f.closed_by <> 'reconciliation' AND NOT EXISTS (SELECT FROM journal j
     WHERE j.order_id = f.order_id AND j.event = 'finding-resolved' AND j.detail ->> 'finding' = f.id::text
       AND (j.cause, j.detail ->> 'note') IS NOT DISTINCT FROM ('operator:' || f.closed_by, f.note))`,
  `SELECT o.id, 'the order has no journal' AS what FROM orders o
   WHERE o.id = ANY($1) AND NOT EXISTS (SELECT FROM journal j WHERE j.order_id = o.id)`,
];
