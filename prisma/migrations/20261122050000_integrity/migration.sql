-- Adds only: the version before this one goes on working beside the new one. What it writes has no digests, and is older
-- than their check.

-- Digests that journal entries keep of the rows they speak of. One function each, so that writing and checking cannot
-- drift apart.
CREATE FUNCTION order_hash(id text, external_id text, mode text, amount bigint, currency text, lines jsonb)
RETURNS text LANGUAGE sql STABLE AS $$
  SELECT encode(sha256(convert_to(jsonb_build_array(id, external_id, mode, amount::text, currency, (
    SELECT jsonb_agg(jsonb_build_array(l.position, l.sku, l.description, l.unit_amount::text, l.quantity) ORDER BY l.position)
    FROM jsonb_to_recordset(lines) AS l (position int, sku text, description text, unit_amount bigint, quantity int)
  ))::text, 'UTF8')), 'hex')
$$;
CREATE FUNCTION text_hash(given text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT encode(sha256(convert_to(given, 'UTF8')), 'hex')
$$;

-- What the journal says of a finding when it is raised, and again when its money changes.
CREATE FUNCTION finding_told(f findings) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_strip_nulls(jsonb_build_object('finding', f.id, 'class', f.class, 'expected', f.expected::text,
    'actual', f.actual::text, 'currency', f.currency))
$$;

-- The journal cannot forget, so what it keeps of an address must say nothing once the address is erased: its digest is
-- made with a salt that goes with the address. Rows from before have none.
ALTER TABLE orders ADD COLUMN email_salt uuid;
ALTER TABLE orders ALTER COLUMN email_salt SET DEFAULT gen_random_uuid();

CREATE OR REPLACE TRIGGER paid_orders_are_frozen BEFORE UPDATE ON orders
  FOR EACH ROW WHEN (OLD.status = 'paid' AND OLD IS DISTINCT FROM NEW
    AND (NEW.email <> 'erased' OR NEW.email_salt IS NOT NULL
      OR to_jsonb(OLD) - 'email' - 'email_salt' IS DISTINCT FROM to_jsonb(NEW) - 'email' - 'email_salt'))
  EXECUTE FUNCTION refuse_change('the order is paid');

-- Erases an address from every order that has it. Says how many. While money of that person is on its way or waits for a
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
    UPDATE orders SET email = 'erased', email_salt = NULL WHERE lower(email) = lower(address) AND email <> 'erased' RETURNING id
  ), told AS (
    INSERT INTO journal (order_id, event, cause, detail)
    SELECT id, 'email-erased', 'operator:' || btrim(erased_by), jsonb_build_object('note', why) FROM gone
    RETURNING order_id
  )
  SELECT count(*) INTO erased FROM told;
  RETURN erased;
END $$;

-- Was every chain whole, and when was that last looked at? One row for each look.
CREATE TABLE integrity_checks (
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  started_at     timestamptz NOT NULL DEFAULT now(),
  -- Null: it is at work, or its process ended before it did.
  finished_at    timestamptz,
  orders         bigint,
  -- What was changed by other means, and the first sentences about it.
  contradictions bigint,
  first          jsonb
);

-- Does a worker live? Its own row, written again every few seconds.
CREATE TABLE worker_heartbeats (
  mode      text PRIMARY KEY CHECK (mode IN ('test', 'live')),
  beaten_at timestamptz NOT NULL DEFAULT now()
);
