-- What of a shop's own order decides whether the same number comes with the same order again. Null: placed by a
-- checkout, or by a version that kept none.
ALTER TABLE orders ADD COLUMN content_hash bytea;
-- Short texts of the shop's own, which it gets back wherever the order is shown.
ALTER TABLE orders ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}';

-- Until when it may be paid; null: as long as money may come. `deadline_check_at`: when the worker ends it next, null
-- once it has ended. `expired_at`: when it ended for good; money that comes later waits in suspense.
ALTER TABLE orders ADD COLUMN pay_by timestamptz;
ALTER TABLE orders ADD COLUMN deadline_check_at timestamptz;
ALTER TABLE orders ADD COLUMN expired_at timestamptz;
ALTER TABLE orders ADD CONSTRAINT pay_by_is_near
  CHECK (pay_by IS NULL OR pay_by > created_at AND pay_by <= created_at + interval '193 hours') NOT VALID;
ALTER TABLE orders ADD CONSTRAINT expired_for_good
  CHECK (expired_at IS NULL OR status IN ('expired', 'cancelled') AND pay_by IS NOT NULL) NOT VALID;

-- A shop that prices elsewhere may give a discount or something for nothing. What the catalogue sells costs money.
ALTER TABLE order_lines DROP CONSTRAINT order_lines_unit_amount_check;
ALTER TABLE order_lines ADD CONSTRAINT goods_cost_money CHECK (unit_amount > 0 OR sku IS NULL) NOT VALID;

-- As before, and an order that has expired for good no longer follows its payments.
CREATE OR REPLACE FUNCTION follow_payments(followed text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  was text;
  has_ended boolean;
  now_is text;
BEGIN
  SELECT status, status IN ('paid', 'cancelled') OR expired_at IS NOT NULL INTO was, has_ended
  FROM orders WHERE id = followed FOR NO KEY UPDATE;
  SELECT CASE
    WHEN bool_or(status = 'held') OR EXISTS (
      SELECT FROM suspense_items WHERE order_id = followed AND closed_at IS NULL) THEN 'review'
    WHEN bool_or(status IN ('created', 'sending', 'open', 'ambiguous')) THEN 'pending'
    -- That our own key was refused says nothing about the order.
    WHEN bool_or(status IN ('failed', 'refused') AND reason IS DISTINCT FROM 'key-refused') THEN 'failed'
    ELSE 'expired' END
  INTO now_is FROM payments WHERE order_id = followed;
  IF NOT has_ended AND was <> now_is THEN
    UPDATE orders SET status = now_is WHERE id = followed;
  END IF;
END $$;

-- Whichever program records the answer: a version before this one knows neither end.
CREATE OR REPLACE FUNCTION refuse_cancelled_orders() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  how text;
BEGIN
  SELECT CASE WHEN status = 'cancelled' THEN 'was cancelled' WHEN expired_at IS NOT NULL THEN 'expired for good' END
  INTO how FROM orders WHERE id = NEW.order_id;
  IF how IS NOT NULL THEN
    RAISE EXCEPTION 'the release of order % is refused: it %', NEW.order_id, how
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
