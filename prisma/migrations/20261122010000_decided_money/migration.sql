-- Adds only: the version before this one goes on working beside the new one.

-- What people decide about money binds every later answer of the service, whichever program records it.
ALTER TABLE payments
  -- How often money of this payment in suspense has changed. Settling compares it with what its decision saw: a person may
  -- decide, or another answer may show money, while a verify call is in flight.
  ADD COLUMN suspense_changes integer NOT NULL DEFAULT 0,
  -- When a person last decided about money of this payment (refunded, credited, kept, written off) before it had paid.
  ADD COLUMN decided_at timestamptz;

UPDATE payments p SET decided_at = i.closed_at
FROM suspense_items i
WHERE i.mode = p.mode AND i.reference = p.reference AND i.closed_at IS NOT NULL AND i.decision <> 'earned' AND p.status <> 'paid';

ALTER TABLE payments
  ADD CONSTRAINT decided_money_pays_nothing CHECK (status <> 'paid' OR decided_at IS NULL) NOT VALID;
ALTER TABLE payments VALIDATE CONSTRAINT decided_money_pays_nothing;

CREATE FUNCTION refuse_decided_money() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM payments WHERE reference = NEW.reference AND decided_at IS NOT NULL) THEN
    RAISE EXCEPTION 'the release of order % is refused: a person has decided about this money', NEW.order_id
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER decided_money_pays_nothing BEFORE INSERT ON releases
  FOR EACH ROW EXECUTE FUNCTION refuse_decided_money();

-- Until it is paid, an order stands where its payments stand, and it is in review as long as money of it is in suspense.
-- Called under the order's lock and with a fresh look at its payments: two that fail at the same instant must not each
-- see the other one still open.
CREATE FUNCTION follow_payments(followed text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  was text;
  now_is text;
BEGIN
  SELECT status INTO was FROM orders WHERE id = followed FOR NO KEY UPDATE;
  SELECT CASE
    WHEN bool_or(status = 'held') OR EXISTS (
      SELECT FROM suspense_items WHERE order_id = followed AND closed_at IS NULL) THEN 'review'
    WHEN bool_or(status IN ('created', 'sending', 'open', 'ambiguous')) THEN 'pending'
    -- That our own key was refused says nothing about the order.
    WHEN bool_or(status IN ('failed', 'refused') AND reason IS DISTINCT FROM 'key-refused') THEN 'failed'
    ELSE 'expired' END
  INTO now_is FROM payments WHERE order_id = followed;
  IF was <> 'paid' AND was <> now_is THEN
    UPDATE orders SET status = now_is WHERE id = followed;
  END IF;
END $$;
CREATE OR REPLACE FUNCTION order_follows_payments() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM follow_payments(NEW.order_id);
  RETURN NULL;
END $$;

CREATE FUNCTION payment_follows_suspense() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE payments SET suspense_changes = suspense_changes + 1,
    decided_at = CASE WHEN NEW.decision <> 'earned' AND status <> 'paid' THEN NEW.closed_at ELSE decided_at END
  WHERE reference = NEW.reference AND mode = NEW.mode;
  IF NEW.order_id IS NOT NULL THEN
    PERFORM follow_payments(NEW.order_id);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER suspense_opens AFTER INSERT ON suspense_items
  FOR EACH ROW EXECUTE FUNCTION payment_follows_suspense();
CREATE TRIGGER suspense_changes AFTER UPDATE ON suspense_items
  FOR EACH ROW WHEN ((OLD.class, OLD.amount, OLD.currency, OLD.closed_at)
    IS DISTINCT FROM (NEW.class, NEW.amount, NEW.currency, NEW.closed_at))
  EXECUTE FUNCTION payment_follows_suspense();

-- A payment moves by evidence, as its order does. Paid is an end; a payment that is held moves in the transaction that
-- records the answer which moves it.
CREATE TRIGGER paid_payments_stay_paid BEFORE UPDATE OF status ON payments
  FOR EACH ROW WHEN (OLD.status = 'paid' AND NEW.status <> 'paid')
  EXECUTE FUNCTION refuse_change('the payment is paid');
CREATE FUNCTION refuse_move_without_answer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT answered_at FROM verifications WHERE reference = NEW.reference ORDER BY id DESC LIMIT 1)
    IS DISTINCT FROM now() THEN
    RAISE EXCEPTION 'UPDATE on payments is refused: payment % is held, and only an answer of the service moves it',
      NEW.reference USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER held_payments_move_by_answers AFTER UPDATE OF status ON payments
  FOR EACH ROW WHEN (OLD.status = 'held' AND NEW.status <> 'held')
  EXECUTE FUNCTION refuse_move_without_answer();
