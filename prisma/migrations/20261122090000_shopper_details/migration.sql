-- Adds only: the version before this one goes on working beside the new one, and its orders have no details.

-- What the shopper said beside the e-mail address, as src/orders/shopper-details.ts names it.
ALTER TABLE orders ADD COLUMN shopper_details jsonb NOT NULL DEFAULT '{}';

-- It is about the same person, so it is erased with the address.
CREATE OR REPLACE TRIGGER paid_orders_are_frozen BEFORE UPDATE ON orders
  FOR EACH ROW WHEN (OLD.status = 'paid' AND OLD IS DISTINCT FROM NEW
    AND (NEW.email <> 'erased' OR NEW.email_salt IS NOT NULL OR NEW.shopper_details <> '{}'
      OR to_jsonb(OLD) - '{email,email_salt,shopper_details}'::text[]
        IS DISTINCT FROM to_jsonb(NEW) - '{email,email_salt,shopper_details}'::text[]))
  EXECUTE FUNCTION refuse_change('the order is paid');

-- Erases an address from every order that has it, with the details and the messages that repeat them. Says how many. While money of that person is on its way or waits for a
-- decision nobody could be written to, so that has to end first: payments that are open or held, money in suspense, and
-- findings about the order. A held payment has ended when a person has decided about its money.
CREATE OR REPLACE FUNCTION erase_email(address text, erased_by text, why text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  open_order text;
  erased     bigint;
BEGIN
  IF coalesce(btrim(erased_by), '') IN ('', 'reconciliation', 'settlement') OR coalesce(btrim(why), '') = '' THEN
    RAISE EXCEPTION 'an address is erased by somebody, with a reason';
  END IF;
  SELECT o.id INTO open_order FROM orders o WHERE lower(o.email) = lower(address) AND (
    EXISTS (SELECT FROM payments p WHERE p.order_id = o.id AND (
      p.status IN ('created', 'sending', 'open', 'ambiguous') OR p.status = 'held' AND p.decided_at IS NULL))
    OR EXISTS (SELECT FROM suspense_items s WHERE s.order_id = o.id AND s.closed_at IS NULL)
    OR EXISTS (SELECT FROM findings f WHERE f.order_id = o.id AND f.closed_at IS NULL)) LIMIT 1;
  IF open_order IS NOT NULL THEN
    RAISE EXCEPTION 'order % is still open: its payment or its money in suspense has to end first', open_order;
  END IF;
  WITH gone AS (
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
  SELECT count(*) INTO erased FROM told;
  RETURN erased;
END $$;
