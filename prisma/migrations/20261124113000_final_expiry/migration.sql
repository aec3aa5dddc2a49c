-- order.expired says whether it is final: the deadline has passed, and money that comes later pays nothing.
CREATE OR REPLACE FUNCTION order_writes_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM write_event('order.' || NEW.status, NEW.mode, NEW.id,
    (SELECT reference FROM payments WHERE order_id = NEW.id ORDER BY created_at DESC, reference DESC LIMIT 1),
    CASE NEW.status WHEN 'cancelled' THEN jsonb_build_object('reason', NEW.cancel_reason)
      WHEN 'expired' THEN jsonb_build_object('final', NEW.expired_at IS NOT NULL) ELSE '{}' END);
  RETURN NULL;
END $$;

-- An order whose payment expired first is told a second time, when that becomes final.
CREATE TRIGGER final_expiry_writes_event AFTER UPDATE OF expired_at ON orders
  FOR EACH ROW WHEN (OLD.status = 'expired' AND NEW.status = 'expired' AND OLD.expired_at IS NULL
    AND NEW.expired_at IS NOT NULL)
  EXECUTE FUNCTION order_writes_event();
