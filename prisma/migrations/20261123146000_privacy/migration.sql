-- The orders of an address that nobody should be erased from yet, and why.
CREATE FUNCTION open_orders_of(address text) RETURNS TABLE (id text, why text) LANGUAGE sql STABLE AS $$
  SELECT o.id, concat_ws(', ',
    CASE WHEN EXISTS (SELECT FROM payments p WHERE p.order_id = o.id
      AND p.status IN ('created', 'sending', 'open', 'ambiguous')) THEN 'a payment is on its way' END,
    CASE WHEN EXISTS (SELECT FROM payments p WHERE p.order_id = o.id
      AND p.status = 'held' AND p.decided_at IS NULL) THEN 'a payment is held and not decided about' END,
    CASE WHEN EXISTS (SELECT FROM suspense_items s WHERE s.order_id = o.id
      AND s.closed_at IS NULL) THEN 'money is in suspense' END,
    CASE WHEN EXISTS (SELECT FROM findings f WHERE f.order_id = o.id
      AND f.closed_at IS NULL) THEN 'a finding is open' END) AS why
  FROM orders o WHERE lower(o.email) = lower(address) AND o.email <> 'erased' AND (
    EXISTS (SELECT FROM payments p WHERE p.order_id = o.id AND (
      p.status IN ('created', 'sending', 'open', 'ambiguous') OR p.status = 'held' AND p.decided_at IS NULL))
    OR EXISTS (SELECT FROM suspense_items s WHERE s.order_id = o.id AND s.closed_at IS NULL)
    OR EXISTS (SELECT FROM findings f WHERE f.order_id = o.id AND f.closed_at IS NULL))
  ORDER BY o.id
$$;

-- Erases an address from every order that has it, with the details and the messages that repeat them, and returns
-- these orders. Refused while an order of it is open (its payment is on the way, or held without a decision, or it has
-- money in suspense or an open finding), unless the person says "even so".
CREATE FUNCTION erase_person(address text, erased_by text, why text, even_open boolean) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
  open_order text;
BEGIN
  IF coalesce(btrim(erased_by), '') IN ('', 'reconciliation', 'confirmation') OR coalesce(btrim(why), '') = '' THEN
    RAISE EXCEPTION 'an address is erased by a person, with a reason';
  END IF;
  SELECT id INTO open_order FROM open_orders_of(address) LIMIT 1;
  IF open_order IS NOT NULL AND NOT even_open THEN
    RAISE EXCEPTION 'order % is still open: its payment or its money in suspense has to end first', open_order;
  END IF;
  RETURN QUERY WITH gone AS (
    UPDATE orders SET email = 'erased', email_salt = NULL, shopper_details = '{}'
    WHERE lower(email) = lower(address) AND email <> 'erased' RETURNING id
  ), unsaid AS (
    -- Should it be delivered once more, its message is made anew of what is left.
    UPDATE releases SET message = NULL FROM gone WHERE order_id = gone.id
  ), told AS (
    INSERT INTO journal (order_id, event, cause, detail)
    SELECT id, 'email-erased', 'operator:' || btrim(erased_by), jsonb_build_object('note', why) FROM gone
    RETURNING order_id
  )
  SELECT order_id FROM told;
END $$;

-- The statement that operators know: the same, and never of what is open.
CREATE OR REPLACE FUNCTION erase_email(address text, erased_by text, why text) RETURNS bigint LANGUAGE sql AS $$
  SELECT count(*) FROM erase_person(address, erased_by, why, false)
$$;
