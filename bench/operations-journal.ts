import { REFUND_DIGEST } from '../src/orders/refunds.sql.ts';

const EVIDENCE = `'verification', i, 'outcome', v.outcome, 'evidence', evidence_hash(v)`;
// What order_hash() makes of one line, without its detour over a set of rows.
const PLACED = `encode(sha256(convert_to(jsonb_build_array(s.order_id, s.external_id, 'test', s.amount::text, s.currency,
  jsonb_build_array(jsonb_build_array(1, 'tote', 'A tote bag', s.amount::text, 1)))::text, 'UTF8')), 'hex')`;
const told = (event: string, cause: string, detail: string): string =>
  `jsonb_build_object('event', ${event}, 'cause', '${cause}', 'detail', ${detail})`;

// What the journal says of an order, an entry each; null: that did not happen.
const ENTRIES = [
  told(
    `'order-placed'`,
    'shopper',
    `jsonb_build_object('email', text_hash(s.salt || s.email), 'order', ${PLACED})`,
  ),
  told(`'payment-open'`, 'shopper', `jsonb_build_object('checkout', text_hash(s.url))`),
  `CASE s.status WHEN 'pending' THEN NULL
     WHEN 'paid' THEN ${told(`'order-paid'`, 'webhook', `jsonb_build_object(${EVIDENCE}, 'release', 'rel_' || s.order_id, 'delivery', 'waiting')`)}
     ELSE ${told(
       `'payment-' || replace(s.status, 'review', 'held')`,
       'webhook',
       `jsonb_build_object(${EVIDENCE})
       || CASE WHEN i % 1000 = 7 THEN jsonb_build_object('money', '1 ' || s.currency, 'suspense', 'underpaid') ELSE '{}' END`,
     )} END`,
  `CASE WHEN s.delivery <> 'waiting' THEN ${told(`'release-' || s.delivery`, 'schedule', `jsonb_build_object('release', 'rel_' || s.order_id, 'attempts', 1)`)} END`,
  `CASE WHEN i % 1000 = 7 AND i % 20000 <> 7 THEN ${told(`'suspense-resolved'`, 'operator:Ngozi', `jsonb_build_object('item', i, 'decision', 'refund', 'refund', 'RF-S' || i)`)} END`,
  `CASE WHEN r.id IS NOT NULL THEN ${told(`'refund-recorded'`, 'operator:Ngozi', `jsonb_build_object('refund', r.id, 'digest', ${REFUND_DIGEST})`)} END`,
  `CASE WHEN i % 50 = 0 THEN ${told(`'check-asked'`, 'operator:Ngozi', `'{}'::jsonb`)} END`,
];

// The trigger that chains entries looks the last one up and locks: this makes whole chains, of six entries at most.
const LINKS = [1, 2, 3, 4, 5, 6];
/** The journals of the table `shop`, from rows that are there: whole, and true of them. */
export const JOURNAL = `SELECT order_id, seq, at + seq * interval '1 s', told ->> 'event', reference, told ->> 'cause', told -> 'detail', previous, hash
  FROM (SELECT s.order_id, s.reference, s.at, sha256(convert_to(s.order_id, 'UTF8')) AS h0,
      array_remove(ARRAY[${ENTRIES.join(',\n')}], NULL) AS entries
    FROM shop s JOIN verifications v ON v.id = i LEFT JOIN refunds r ON r.order_id = s.order_id OFFSET 0) orders_told
  ${LINKS.map(
    (
      seq,
    ) => `CROSS JOIN LATERAL (SELECT CASE WHEN entries[${seq}] IS NOT NULL THEN journal_hash(ROW(order_id, ${seq},
    at + ${seq} * interval '1 s', entries[${seq}] ->> 'event', reference, entries[${seq}] ->> 'cause', entries[${seq}] -> 'detail',
    h${seq - 1}, NULL)::journal) END AS h${seq} OFFSET 0) link${seq}`,
  ).join('\n')}
  CROSS JOIN LATERAL unnest(entries, ARRAY[h0, h1, h2, h3, h4, h5], ARRAY[h1, h2, h3, h4, h5, h6])
    WITH ORDINALITY entry (told, previous, hash, seq) WHERE told IS NOT NULL`;
