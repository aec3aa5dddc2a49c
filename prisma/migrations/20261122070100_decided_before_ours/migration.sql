-- Adds only: the version before this one goes on working beside the new one.

-- Money may come to light under a reference that this database does not know (any more), and a person may decide about it.
-- A payment that is written with that reference later is bound by the decision.
CREATE FUNCTION payment_heeds_decisions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.decided_at := coalesce(NEW.decided_at, (SELECT max(closed_at) FROM suspense_items
    WHERE mode = NEW.mode AND reference = NEW.reference AND closed_at IS NOT NULL AND decision <> 'earned'));
  RETURN NEW;
END $$;
CREATE TRIGGER payment_heeds_decisions BEFORE INSERT ON payments
  FOR EACH ROW EXECUTE FUNCTION payment_heeds_decisions();
