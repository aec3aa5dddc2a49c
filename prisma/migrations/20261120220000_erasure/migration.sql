-- Adds only: the version before this one goes on working beside the new one.

-- A person may ask to be forgotten. Of a paid order the e-mail address may go, and nothing else: the row goes on proving
-- what was sold, for how much and on what evidence, and no longer to whom.
CREATE OR REPLACE TRIGGER paid_orders_are_frozen BEFORE UPDATE ON orders
  FOR EACH ROW WHEN (OLD.status = 'paid' AND OLD IS DISTINCT FROM NEW
    AND (NEW.email <> 'erased' OR to_jsonb(OLD) - 'email' IS DISTINCT FROM to_jsonb(NEW) - 'email'))
  EXECUTE FUNCTION refuse_change('the order is paid');

-- Not without a word: who did it and why stands in the order's journal when the transaction ends.
CREATE FUNCTION erasure_is_told() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM journal WHERE order_id = NEW.id AND event = 'email-erased') THEN
    RAISE EXCEPTION 'the address of order % is erased by erase_email(), which writes who did it and why', NEW.id
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER erasure_is_told AFTER UPDATE OF email ON orders DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.email = 'erased' AND OLD.email <> 'erased') EXECUTE FUNCTION erasure_is_told();

-- Erases an address from every order that has it. Says how many. While money of that person is on its way or waits for a
-- decision nobody could be written to, so that has to end first.
CREATE FUNCTION erase_email(address text, erased_by text, why text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  open_order text;
  erased     bigint;
BEGIN
  IF coalesce(btrim(erased_by), '') IN ('', 'reconciliation', 'settlement') OR coalesce(btrim(why), '') = '' THEN
    RAISE EXCEPTION 'an address is erased by somebody, with a reason';
  END IF;
  SELECT o.id INTO open_order FROM orders o WHERE lower(o.email) = lower(address) AND (
    EXISTS (SELECT FROM payments p WHERE p.order_id = o.id AND p.status IN ('created', 'sending', 'open', 'ambiguous'))
    OR EXISTS (SELECT FROM suspense_items s WHERE s.order_id = o.id AND s.closed_at IS NULL)) LIMIT 1;
  IF open_order IS NOT NULL THEN
    RAISE EXCEPTION 'order % is still open: its payment or its money in suspense has to end first', open_order;
  END IF;
  WITH gone AS (
    UPDATE orders SET email = 'erased' WHERE lower(email) = lower(address) AND email <> 'erased' RETURNING id
  ), told AS (
    INSERT INTO journal (order_id, event, cause, detail)
    SELECT id, 'email-erased', 'operator:' || btrim(erased_by), jsonb_build_object('note', why) FROM gone
    RETURNING order_id
  )
  SELECT count(*) INTO erased FROM told;
  RETURN erased;
END $$;
