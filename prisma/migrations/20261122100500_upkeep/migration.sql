-- What keeps the shop in order: whether its records are whole, whether a worker lives, sums for pages, and the
-- erasure of an address.

-- One check of all hash chains and of the rows that they speak of.
CREATE TABLE integrity_checks (
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  started_at     timestamptz NOT NULL DEFAULT now(),
  -- Null: it is at work, or its process ended before it did.
  finished_at    timestamptz,
  orders         bigint,
  -- How many rows were changed by other means, and the first sentences about them.
  contradictions bigint,
  first          jsonb
);

-- When a worker of the mode last said that it runs.
CREATE TABLE worker_heartbeats (
  mode      text PRIMARY KEY CHECK (mode IN ('test', 'live')),
  beaten_at timestamptz NOT NULL DEFAULT now()
);

-- What was confirmed in each hour that is over. Releases are for ever, so an hour is summed once. Both tables are
-- a statistic: when they are emptied, the worker sums again from the releases.
CREATE TABLE confirmed_hours (
  mode     text NOT NULL CHECK (mode IN ('test', 'live')),
  hour     timestamptz NOT NULL,
  currency text NOT NULL,
  -- What made us ask for the answer that released the order.
  found_by text NOT NULL,
  -- From the first webhook to the release, as the place in a row of time spans. -1: no webhook had come.
  waited   integer NOT NULL,
  releases integer NOT NULL,
  -- Minor units. Sums of bigint are numeric.
  amount   numeric NOT NULL,
  PRIMARY KEY (mode, hour, currency, found_by, waited)
);
-- Up to when the hours are summed. An hour without a release has no row, so the rows alone do not tell.
CREATE TABLE confirmed_until (
  mode         text PRIMARY KEY CHECK (mode IN ('test', 'live')),
  summed_until timestamptz NOT NULL
);


-- An address is erased with its reason: who did it and why is in the order's journal when the transaction ends.
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

-- Erases an address from every order that has it, with the details and the messages that repeat them, and returns
-- their number. Refused while an order of it is open: its shopper could no longer be written to about a payment on
-- its way, a held payment that nobody has decided about, money in suspense, or an open finding.
CREATE FUNCTION erase_email(address text, erased_by text, why text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  open_order text;
  erased     bigint;
BEGIN
  IF coalesce(btrim(erased_by), '') IN ('', 'reconciliation', 'confirmation') OR coalesce(btrim(why), '') = '' THEN
    RAISE EXCEPTION 'an address is erased by a person, with a reason';
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
