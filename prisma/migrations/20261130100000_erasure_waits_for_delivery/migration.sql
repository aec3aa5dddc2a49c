-- An address is not erased while what was paid for is not delivered: the receiver would not know where to send it.

-- As before; and orders whose release waits for its receiver, or was given up and is to be sent again.
CREATE OR REPLACE FUNCTION open_orders_of(address text) RETURNS TABLE (id text, why text) LANGUAGE sql STABLE AS $$
  SELECT o.id, open.why FROM orders o CROSS JOIN LATERAL (SELECT concat_ws(', ',
    CASE WHEN EXISTS (SELECT FROM payments p WHERE p.order_id = o.id
      AND p.status IN ('created', 'sending', 'open', 'ambiguous')) THEN 'a payment is on its way' END,
    CASE WHEN EXISTS (SELECT FROM payments p WHERE p.order_id = o.id
      AND p.status = 'held' AND p.decided_at IS NULL) THEN 'a payment is held and not decided about' END,
    CASE WHEN EXISTS (SELECT FROM releases r WHERE r.order_id = o.id
      AND r.delivery IN ('waiting', 'dead')) THEN 'what was paid for is not delivered' END,
    CASE WHEN EXISTS (SELECT FROM suspense_items s WHERE s.order_id = o.id
      AND s.closed_at IS NULL) THEN 'money is in suspense' END,
    CASE WHEN EXISTS (SELECT FROM findings f WHERE f.order_id = o.id
      AND f.closed_at IS NULL) THEN 'a finding is open' END) AS why) open
  WHERE lower(o.email) = lower(address) AND o.email <> 'erased' AND open.why <> '' ORDER BY o.id
$$;

-- As before, and says what is open: it named payments and suspense, whatever it was.
CREATE OR REPLACE FUNCTION erase_person(address text, erased_by text, why text, even_open boolean) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
  open_order record;
BEGIN
  IF coalesce(btrim(erased_by), '') IN ('', 'reconciliation', 'confirmation') OR coalesce(btrim(why), '') = '' THEN
    RAISE EXCEPTION 'an address is erased by a person, with a reason';
  END IF;
  SELECT o.id, o.why INTO open_order FROM open_orders_of(address) o LIMIT 1;
  IF open_order.id IS NOT NULL AND NOT even_open THEN
    RAISE EXCEPTION 'order % is still open: %', open_order.id, open_order.why;
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
