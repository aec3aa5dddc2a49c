-- A release whose money went back as a whole before its receiver had it is withheld: only a person sends it now.
ALTER TABLE releases DROP CONSTRAINT releases_delivery_check;
ALTER TABLE releases ADD CONSTRAINT releases_delivery_check
  CHECK (delivery IN ('unneeded', 'waiting', 'delivered', 'dead', 'withheld')) NOT VALID;

-- An attempt in hand goes on: when its receiver takes it, the release is delivered.
CREATE FUNCTION withhold_release(of_order text, why text, caused_by text) RETURNS void LANGUAGE sql AS $$
  WITH seen AS (
    SELECT id, delivery, attempts FROM releases
    WHERE order_id = of_order AND delivery IN ('unneeded', 'waiting', 'dead') FOR NO KEY UPDATE
  ), withheld AS (
    UPDATE releases r SET delivery = 'withheld', next_check_at = NULL FROM seen WHERE r.id = seen.id
    RETURNING r.order_id, r.reference, r.id, seen.delivery AS was, seen.attempts
  )
  INSERT INTO journal (order_id, event, reference, cause, detail)
  SELECT order_id, 'release-withheld', reference, caused_by,
    jsonb_build_object('release', id, 'was', was, 'attempts', attempts, 'why', why) FROM withheld
$$;

-- As before, and the release is locked right after its order, before anybody writes into the journal.
CREATE OR REPLACE FUNCTION refuse_refund() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  was_paid orders;
BEGIN
  SELECT * INTO was_paid FROM orders WHERE id = NEW.order_id FOR NO KEY UPDATE;
  IF was_paid.status IS DISTINCT FROM 'paid' THEN
    RAISE EXCEPTION 'the refund of order % is refused: it is not paid', NEW.order_id
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF (was_paid.mode, was_paid.currency) <> (NEW.mode, NEW.currency) THEN
    RAISE EXCEPTION 'the refund of order % is refused: it is of another mode or currency', NEW.order_id
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  PERFORM FROM releases WHERE id = was_paid.release_id FOR NO KEY UPDATE;
  IF NOT EXISTS (SELECT FROM refunds WHERE order_id = NEW.order_id AND external_id = NEW.external_id)
    AND NEW.amount > (SELECT money_that_came(r) FROM releases r WHERE r.id = was_paid.release_id)
      - (SELECT coalesce(sum(amount), 0) FROM refunds WHERE order_id = NEW.order_id) THEN
    RAISE EXCEPTION 'the refund of order % is refused: more than was paid would go back', NEW.order_id
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION refund_withholds_release() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT sum(amount) FROM refunds WHERE order_id = NEW.order_id)
    >= (SELECT money_that_came(r) FROM releases r WHERE r.order_id = NEW.order_id) THEN
    PERFORM withhold_release(NEW.order_id, 'refunded',
      CASE NEW.refunded_by WHEN 'shop' THEN 'shop' ELSE 'operator:' || NEW.refunded_by END);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER refund_withholds_release AFTER INSERT ON refunds
  FOR EACH ROW EXECUTE FUNCTION refund_withholds_release();

-- Of money whose surplus went back, nothing is credited, kept or written off as a whole.
ALTER TABLE suspense_items ADD CONSTRAINT surplus_goes_back_once CHECK (surplus_refund IS NULL
  OR decision IS NULL OR decision NOT IN ('credit', 'keep', 'write_off')) NOT VALID;

-- A shop that heard that an order was cancelled hears that it was reopened, before anything else of it.
ALTER TABLE events DROP CONSTRAINT events_type_check;
ALTER TABLE events ADD CONSTRAINT events_type_check CHECK (type IN ('order.review', 'order.failed', 'order.expired',
  'order.cancelled', 'order.reopened', 'order.refunded', 'order.reversed', 'suspense.opened')) NOT VALID;
CREATE FUNCTION order_reopened_writes_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM write_event('order.reopened', NEW.mode, NEW.id,
    (SELECT reference FROM payments WHERE order_id = NEW.id ORDER BY created_at DESC, reference DESC LIMIT 1), '{}');
  RETURN NULL;
END $$;
-- By its name it fires before `order_writes_event`.
CREATE TRIGGER order_reopened_writes_event AFTER UPDATE OF status ON orders FOR EACH ROW
  WHEN (OLD.status = 'cancelled' AND NEW.status <> 'cancelled') EXECUTE FUNCTION order_reopened_writes_event();
