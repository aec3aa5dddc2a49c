-- A person accepts less, and then more than the price comes: the rest of the price was neither in the takings nor in
-- suspense, which holds what is beyond the price. As before, and the rest has come too once verify shows too much after
-- the acceptance, or money beyond the price is in suspense (which of two charges only the list may show).
CREATE OR REPLACE VIEW confirmed_money AS
  SELECT r.id, r.mode, r.order_id, r.reference, r.currency, r.released_at AS at, least(r.amount, a.amount) AS amount,
    r.verification_id, true AS is_release
  FROM releases r LEFT JOIN acceptances a ON a.id = r.acceptance_id
  UNION ALL
  SELECT r.id || '+', r.mode, r.order_id, r.reference, r.currency, greatest(rest.at, r.released_at),
    r.amount - a.amount, rest.id, false
  FROM acceptances a JOIN releases r ON r.order_id = a.order_id AND r.acceptance_id = a.id
  CROSS JOIN LATERAL (
    SELECT * FROM (
      (SELECT v.id, v.answered_at AS at FROM verifications v
        WHERE v.reference = r.reference AND v.id > a.verification_id AND v.outcome IN ('paid', 'overpaid')
        ORDER BY v.id LIMIT 1)
      UNION ALL
      SELECT a.verification_id, i.opened_at FROM suspense_items i
      WHERE (i.mode, i.reference) = (r.mode, r.reference) AND i.opened_at > a.accepted_at
    ) shown ORDER BY at, id DESC LIMIT 1) rest
  WHERE a.amount < r.amount;

-- Minor units that came for a release: its amount, unless a person accepted less and the rest has not come since.
CREATE OR REPLACE FUNCTION money_that_came(r releases) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN r.acceptance_id IS NULL THEN r.amount
    ELSE (SELECT sum(c.amount)::bigint FROM confirmed_money c WHERE c.order_id = r.order_id) END
$$;

-- Hours that were summed without such a rest are summed again.
DO $$
DECLARE
  of_mode text;
  first timestamptz;
BEGIN
  FOR of_mode, first IN
    SELECT c.mode, date_trunc('hour', min(c.at), 'UTC') FROM confirmed_money c
    JOIN verifications v ON v.id = c.verification_id
    WHERE NOT c.is_release AND v.outcome <> 'paid' GROUP BY c.mode
  LOOP
    DELETE FROM confirmed_hours WHERE mode = of_mode AND hour >= first;
    UPDATE confirmed_until SET summed_until = first WHERE mode = of_mode AND summed_until > first;
  END LOOP;
END $$;
