import type { Queryable } from '../../platform/database.ts';

/** The end of an order's chain. Kept somewhere else, it proves later that nothing before it was rewritten. */
export type ChainHead = { entries: number; hash: string | null };

export async function headOf(db: Queryable, orderId: string): Promise<ChainHead> {
  const [row] = await db.query<{ seq: number; hash: string }>(
    `SELECT seq, encode(hash, 'hex') AS hash FROM journal WHERE order_id = $1 ORDER BY seq DESC LIMIT 1`,
    [orderId],
  );
  return { entries: row?.seq ?? 0, hash: row?.hash ?? null };
}

// Each gives one row, `what`, per contradiction. The chain shows an entry that was changed and one that is missing
// before another; whatever the last entries said shows in the rows that they speak of.
const CONTRADICTIONS: readonly string[] = [
  `SELECT 'journal entry ' || seq || CASE WHEN seq <> position THEN ' comes after one that is missing'
     WHEN hash <> expected THEN ' was changed' ELSE ' does not follow from the one before it' END AS what
   FROM (SELECT j.seq, j.hash, j.previous_hash, journal_hash(j) AS expected,
       lag(j.hash, 1, sha256(convert_to(j.order_id, 'UTF8'))) OVER chain AS before,
       coalesce(lag(j.seq) OVER chain, 0) + 1 AS position
     FROM journal j WHERE j.order_id = $1 WINDOW chain AS (ORDER BY j.seq)) entries
   WHERE hash <> expected OR previous_hash <> before OR seq <> position ORDER BY seq`,

  // Entries of versions that kept no hash of the evidence still name its outcome.
  `SELECT 'verification ' || (j.detail ->> 'verification') || CASE WHEN v.id IS NULL THEN ' is gone' ELSE ' was changed' END
     || ', says journal entry ' || j.seq AS what
   FROM journal j LEFT JOIN verifications v ON v.id = (j.detail ->> 'verification')::bigint AND v.order_id = j.order_id
   WHERE j.order_id = $1 AND j.detail ? 'verification' AND (v.id IS NULL OR v.reference <> j.reference
     OR v.outcome <> j.detail ->> 'outcome' OR coalesce(evidence_hash(v) <> j.detail ->> 'evidence', false))
   ORDER BY j.seq`,
  `SELECT 'verification ' || id || ' keeps a body that is not the one it was made from' AS what
   FROM verifications WHERE reference IN (SELECT reference FROM payments WHERE order_id = $1) AND body IS NOT NULL AND sha256(body) <> body_sha256 ORDER BY id`,

  `SELECT 'release ' || coalesce(r.id, j.detail ->> 'release') || ' is not the one that journal entry ' || coalesce(j.seq::text, '(none)')
     || ' made' AS what
   FROM (SELECT * FROM journal WHERE order_id = $1 AND event = 'order-paid') j
   FULL JOIN (SELECT * FROM releases WHERE order_id = $1) r ON r.order_id = j.order_id
   WHERE (r.id, r.reference, r.verification_id::text) IS DISTINCT FROM
     (j.detail ->> 'release', j.reference, j.detail ->> 'verification')`,
  `SELECT 'release ' || r.id || ' is of other money than its order or its evidence' AS what
   FROM releases r JOIN orders o ON o.id = r.order_id LEFT JOIN verifications v ON v.id = r.verification_id
   WHERE r.order_id = $1 AND ((r.amount, r.currency, r.mode) IS DISTINCT FROM (o.amount, o.currency, o.mode)
     OR (v.outcome, v.reference, v.amount, v.currency, v.mode) IS DISTINCT FROM ('paid', r.reference, r.amount, r.currency, r.mode))`,
  `SELECT 'release ' || r.id || ' is ' || r.delivery || ', and the journal does not say so' AS what
   FROM releases r LEFT JOIN LATERAL (
     SELECT event FROM journal j WHERE j.order_id = r.order_id AND j.event LIKE 'release-%' ORDER BY seq DESC LIMIT 1) last ON true
   WHERE r.order_id = $1 AND CASE r.delivery WHEN 'delivered' THEN 'release-delivered' WHEN 'dead' THEN 'release-dead' END
     <> coalesce(last.event, '')`,

  `SELECT 'the order is ' || o.status || ', and the journal does not say so' AS what FROM orders o
   WHERE o.id = $1 AND (o.status = 'paid') <> EXISTS (
     SELECT FROM journal j WHERE j.order_id = o.id AND j.event = 'order-paid')`,
  `SELECT 'the order costs other than its lines' AS what FROM orders o
   WHERE o.id = $1 AND o.amount <> (SELECT coalesce(sum(unit_amount * quantity), 0) FROM order_lines l WHERE l.order_id = o.id)`,
  // A payment that was put back to be sent later is sent without an entry; the end of that has one.
  `SELECT 'payment ' || p.reference || ' is ' || p.status || ', and the journal says ' || coalesce(told.status, 'nothing') AS what
   FROM payments p LEFT JOIN LATERAL (
     SELECT CASE WHEN event IN ('order-placed', 'payment-added') THEN 'sending' WHEN event = 'order-paid' THEN 'paid'
       ELSE substr(event, length('payment-') + 1) END AS status
     FROM journal j WHERE j.order_id = p.order_id AND j.reference = p.reference
       AND (event IN ('order-placed', 'order-paid') OR event LIKE 'payment-%') ORDER BY seq DESC LIMIT 1) told ON true
   WHERE p.order_id = $1 AND p.status IS DISTINCT FROM told.status AND NOT (told.status = 'created' AND p.status = 'sending')
   ORDER BY p.created_at`,

  `SELECT 'suspense item ' || s.id || ' was closed, and the journal does not say so' AS what FROM suspense_items s
   WHERE s.order_id = $1 AND s.closed_at IS NOT NULL AND NOT EXISTS (SELECT FROM journal j WHERE j.order_id = s.order_id
     AND (j.event = 'suspense-resolved' AND j.detail ->> 'item' = s.id::text OR s.closed_by = 'settlement' AND j.event = 'order-paid'))`,
  `SELECT 'finding ' || f.id || ' was closed, and the journal does not say so' AS what FROM findings f
   WHERE f.order_id = $1 AND f.closed_by <> 'reconciliation' AND NOT EXISTS (SELECT FROM journal j
     WHERE j.order_id = f.order_id AND j.event = 'finding-resolved' AND j.detail ->> 'finding' = f.id::text)`,
];

/** What of an order was changed by other means than this program: one sentence per row that contradicts the others. */
export async function contradictionsOf(db: Queryable, orderId: string): Promise<string[]> {
  const found: string[] = [];
  for (const sql of CONTRADICTIONS) {
    const rows = await db.query<{ what: string }>(sql, [orderId]);
    found.push(...rows.map(({ what }) => what));
  }
  return found;
}
