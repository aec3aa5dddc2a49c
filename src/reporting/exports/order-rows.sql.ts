import { hasPartSql, inViewSql } from '../order-search.sql.ts';

// What the export of orders reads: one row an order, with what people did about its money.

export const ORDER_COLUMNS = `x.id, external_id, x.status, x.amount, x.currency, created_at, paid_at, e.reference,
      (SELECT coalesce(sum(amount), 0)::bigint FROM refunds WHERE order_id = x.id) AS refunded,
      cancelled_at, cancelled_by, cancel_reason,
      CASE WHEN e.id IS NOT NULL THEN money_that_came(e) END AS received, email AS customer,
      (SELECT min(description) || CASE WHEN count(*) > 1 THEN ' + ' || count(*) - 1 || ' more' ELSE '' END
        FROM (SELECT first_value(description) OVER (ORDER BY position) AS description
          FROM order_lines WHERE order_id = x.id) lines) AS item,
      deeds.*`;

/** What people did with the money of an order: numbers of refunds, who decided, and why. */
const DEEDS = `
  SELECT string_agg(number, ', ' ORDER BY at) AS refund_numbers, string_agg(DISTINCT by, ', ') AS decided_by,
    string_agg(note, '; ' ORDER BY at) AS note
  FROM (
    SELECT coalesce(external_id, id) AS number, refunded_by AS by, reason AS note, refunded_at AS at
    FROM refunds WHERE order_id = x.id
    UNION ALL SELECT coalesce(refund_note, surplus_refund), closed_by, note, closed_at
    FROM suspense_items WHERE order_id = x.id AND closed_at IS NOT NULL AND decision <> 'earned'
    UNION ALL SELECT NULL, accepted_by, note, accepted_at FROM acceptances WHERE order_id = x.id
  ) deeds`;

export const ORDER_JOINS = `LEFT JOIN releases e ON e.id = x.release_id LEFT JOIN LATERAL (${DEEDS}) deeds ON true`;

/** $1 is the mode, $4 the view, $5 the currency; $6 to $8 what was searched for. */
export const ORDER_FILTERS = `($4::text IS NULL OR ${inViewSql('orders', '$4::text', '$1')})
      AND ($5::text IS NULL OR currency = $5) AND ($6::text IS NULL OR lower(email) = lower($6))
      AND ($7::text[] IS NULL OR id = ANY($7)) AND ($8::text IS NULL OR ${hasPartSql('orders', '$8::text')})`;
