-- That our own key was refused says nothing about the order: neither when it happens nor when, later, another payment of
-- the order ends. The trigger kept to the first only.
CREATE OR REPLACE FUNCTION order_follows_payments() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  was text;
  now_is text;
BEGIN
  SELECT status INTO was FROM orders WHERE id = NEW.order_id FOR NO KEY UPDATE;
  SELECT CASE
    WHEN bool_or(status = 'held') THEN 'review'
    WHEN bool_or(status IN ('created', 'sending', 'open', 'ambiguous')) THEN 'pending'
    WHEN bool_or(status IN ('failed', 'refused') AND reason IS DISTINCT FROM 'key-refused') THEN 'failed'
    ELSE 'expired' END
  INTO now_is FROM payments WHERE order_id = NEW.order_id;
  IF was <> 'paid' AND was <> now_is THEN
    UPDATE orders SET status = now_is WHERE id = NEW.order_id;
  END IF;
  RETURN NULL;
END $$;
