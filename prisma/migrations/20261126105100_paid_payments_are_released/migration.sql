-- Orders were protected, payments were not: `UPDATE payments SET status = 'paid'` by hand hid a payment from every
-- further check. Checked at the commit, because payment and release are written together.
CREATE FUNCTION refuse_paid_without_release() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM releases WHERE mode = NEW.mode AND reference = NEW.reference) THEN
    RAISE EXCEPTION 'payment % is refused as paid: it has no release', NEW.reference
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER paid_payments_are_released AFTER INSERT OR UPDATE OF status ON payments
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.status = 'paid')
  EXECUTE FUNCTION refuse_paid_without_release();
