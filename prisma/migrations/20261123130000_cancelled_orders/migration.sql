-- An order that a person or the shop has ended. It is paid no more: money that comes later waits in suspense.
ALTER TABLE orders ADD COLUMN cancelled_at timestamptz;
-- A person's name, or 'shop' for a call of the shop's own system.
ALTER TABLE orders ADD COLUMN cancelled_by text;
ALTER TABLE orders ADD COLUMN cancel_reason text;
-- NOT VALID: the rows there are meet both, and need not be read under the lock.
ALTER TABLE orders DROP CONSTRAINT orders_status_check;
ALTER TABLE orders ADD CONSTRAINT orders_status_check
  CHECK (status IN ('pending', 'paid', 'failed', 'expired', 'review', 'cancelled')) NOT VALID;
ALTER TABLE orders ADD CONSTRAINT cancelled_by_somebody CHECK ((status = 'cancelled') = (cancelled_at IS NOT NULL)
  AND (cancelled_at IS NULL) = (cancelled_by IS NULL) AND (cancelled_at IS NULL) = (cancel_reason IS NULL)) NOT VALID;

-- As before, and a cancelled order no longer follows its payments.
CREATE OR REPLACE FUNCTION follow_payments(followed text) RETURNS void LANGUAGE plpgsql AS $$
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
  IF was NOT IN ('paid', 'cancelled') AND was <> now_is THEN
    UPDATE orders SET status = now_is WHERE id = followed;
  END IF;
END $$;

-- Whichever program records the answer: a version before this one does not know the status.
CREATE FUNCTION refuse_cancelled_orders() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT status FROM orders WHERE id = NEW.order_id) = 'cancelled' THEN
    RAISE EXCEPTION 'the release of order % is refused: it was cancelled', NEW.order_id
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER cancelled_orders_get_nothing BEFORE INSERT ON releases
  FOR EACH ROW EXECUTE FUNCTION refuse_cancelled_orders();
