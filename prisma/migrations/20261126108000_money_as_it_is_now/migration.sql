-- A person accepts less, and the rest of the price comes in parts: a part was in no sum before all of it had come. Each
-- answer of verify after the acceptance that shows more than any before it adds what is new, up to the price. So does
-- money beyond the price in suspense (which of two charges only the list may show).
CREATE OR REPLACE VIEW confirmed_money AS
  SELECT r.id, r.mode, r.order_id, r.reference, r.currency, r.released_at AS at, least(r.amount, a.amount) AS amount,
    r.verification_id, true AS is_release
  FROM releases r LEFT JOIN acceptances a ON a.id = r.acceptance_id
  UNION ALL
  SELECT r.id || '+' || rest.id, r.mode, r.order_id, r.reference, r.currency, greatest(rest.at, r.released_at),
    rest.amount - rest.before, rest.id, false
  FROM acceptances a JOIN releases r ON r.order_id = a.order_id AND r.acceptance_id = a.id
  CROSS JOIN LATERAL (
    SELECT *, greatest(a.amount, max(amount) OVER (ORDER BY at, id DESC
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS before
    FROM (
      SELECT v.id, v.answered_at AS at, least(v.amount, r.amount) AS amount FROM verifications v
        WHERE v.reference = r.reference AND v.id > a.verification_id AND v.currency = r.currency
          AND v.outcome IN ('paid', 'underpaid', 'overpaid')
      UNION ALL
      SELECT a.verification_id, i.opened_at, r.amount FROM suspense_items i
      WHERE (i.mode, i.reference) = (r.mode, r.reference) AND i.opened_at > a.accepted_at
    ) shown
  ) rest
  WHERE a.amount < r.amount AND rest.amount > rest.before;

-- Minor units that stand for the price of a payment that a person accepted: what came, and the rest that has come
-- since. Of too much what came, until verify has shown exactly the price: the surplus is gone then.
CREATE FUNCTION accepted_now(a acceptances) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN a.amount < r.amount
      THEN (SELECT sum(c.amount)::bigint FROM confirmed_money c WHERE c.order_id = a.order_id)
    WHEN EXISTS (SELECT FROM verifications v
      WHERE v.reference = a.reference AND v.id > a.verification_id AND v.outcome = 'paid') THEN r.amount
    ELSE a.amount END
  FROM releases r WHERE r.order_id = a.order_id
$$;

-- Hours that were summed without a part of the rest are summed again.
DO $$
DECLARE
  of_mode text;
  first timestamptz;
BEGIN
  FOR of_mode, first IN
    SELECT c.mode, date_trunc('hour', min(c.at), 'UTC') FROM confirmed_money c
    JOIN verifications v ON v.id = c.verification_id
    JOIN acceptances a ON a.mode = c.mode AND a.reference = c.reference
    WHERE NOT c.is_release AND v.outcome = 'underpaid' AND v.id <> a.verification_id GROUP BY c.mode
  LOOP
    DELETE FROM confirmed_hours WHERE mode = of_mode AND hour >= first;
    UPDATE confirmed_until SET summed_until = first WHERE mode = of_mode AND summed_until > first;
  END LOOP;
END $$;

-- A line that comes after the money is one that nobody paid for. Last, because checkouts wait from here to the end.
CREATE FUNCTION refuse_line_of_paid_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM orders WHERE id = NEW.order_id AND status = 'paid') THEN
    RAISE EXCEPTION 'INSERT on order_lines is refused: order % is paid', NEW.order_id
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER paid_orders_keep_their_lines BEFORE INSERT ON order_lines FOR EACH ROW
  EXECUTE FUNCTION refuse_line_of_paid_order();
