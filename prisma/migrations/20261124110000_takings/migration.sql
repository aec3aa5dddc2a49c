-- What came is counted, and not what was asked for: a person may accept less, and the rest may come later. Every row of
-- these views is of the time at which it happened, so a day or a month that is over keeps its sums.

CREATE VIEW confirmed_money AS
  SELECT r.id, r.mode, r.order_id, r.reference, r.currency, r.released_at AS at, least(r.amount, a.amount) AS amount,
    r.verification_id, true AS is_release
  FROM releases r LEFT JOIN acceptances a ON a.id = r.acceptance_id
  UNION ALL
  SELECT r.id || '+', r.mode, r.order_id, r.reference, r.currency, greatest(rest.answered_at, r.released_at),
    r.amount - a.amount, rest.id, false
  FROM acceptances a JOIN releases r ON r.order_id = a.order_id AND r.acceptance_id = a.id
  CROSS JOIN LATERAL (SELECT v.id, v.answered_at FROM verifications v
    WHERE v.reference = r.reference AND v.outcome = 'paid' ORDER BY v.id LIMIT 1) rest
  WHERE a.amount < r.amount;

-- Of too much, the item keeps the surplus: what a person accepted of it had been held and was decided about, too.
CREATE VIEW accepted_surplus AS
  SELECT a.id, a.mode, a.order_id, a.reference, a.currency, r.amount, a.accepted_at, a.accepted_by
  FROM acceptances a JOIN releases r ON r.order_id = a.order_id AND r.acceptance_id = a.id
  WHERE a.amount > r.amount;

CREATE VIEW held_money AS
  SELECT i.id, i.mode, i.order_id, i.reference, i.currency, i.opened_at AS at, i.class, i.amount
    + coalesce((SELECT a.amount FROM accepted_surplus a WHERE (a.mode, a.reference) = (i.mode, i.reference)
        AND a.accepted_at >= i.opened_at AND a.accepted_at < coalesce(i.closed_at, 'infinity')), 0) AS amount
  FROM suspense_items i;

CREATE VIEW ended_money AS
  SELECT i.id, i.mode, i.order_id, i.reference, i.currency, i.closed_at AS at, i.amount, i.decision,
    coalesce(i.refund_note, i.surplus_refund) AS number, i.closed_by
  FROM suspense_items i WHERE i.closed_at IS NOT NULL
  UNION ALL
  SELECT -a.id, a.mode, a.order_id, a.reference, a.currency, a.accepted_at, a.amount, 'accept', NULL, a.accepted_by
  FROM accepted_surplus a;

-- Hours that were summed with what was asked for are summed again.
DELETE FROM confirmed_hours h USING acceptances a
  WHERE a.mode = h.mode AND a.outcome = 'underpaid' AND h.hour >= date_trunc('hour', a.accepted_at, 'UTC');
UPDATE confirmed_until u SET summed_until = date_trunc('hour', a.first, 'UTC')
  FROM (SELECT mode, min(accepted_at) AS first FROM acceptances WHERE outcome = 'underpaid' GROUP BY mode) a
  WHERE a.mode = u.mode AND u.summed_until > a.first;

-- As before, with what the run saw to have gone back: of accepted money no more than came.
CREATE OR REPLACE FUNCTION reversal_writes_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM write_event('order.reversed', NEW.mode, NEW.order_id, NEW.reference,
    jsonb_build_object('findingId', NEW.id::text, 'unexplained', greatest(0,
      coalesce((NEW.evidence ->> 'refunded')::bigint + (NEW.evidence ->> 'unexplained')::bigint,
        NEW.expected - CASE WHEN NEW.actual < NEW.expected THEN NEW.actual ELSE 0 END)
      - (SELECT coalesce(sum(amount), 0) FROM refunds WHERE order_id = NEW.order_id))::text));
  RETURN NULL;
END $$;
