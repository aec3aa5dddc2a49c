-- What distinguishes this installation from another one of the same shop. One row, in every backup, never changed:
-- whoever changes it has orders that are placed again after a restore ship again.
CREATE TABLE installation (
  is_this      boolean PRIMARY KEY DEFAULT true CHECK (is_this),
  release_salt uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO installation DEFAULT VALUES;

-- The id that the order's release will have, where it follows from the shop's own number: an order that a restored
-- backup has lost and that is placed again has the same. Null: it is made from the order's id, as for every order
-- that the version before this one wrote, which may have delivered it under that id.
ALTER TABLE orders ADD COLUMN planned_release_id text;

-- Money under a reference that was not ours may get its order, once: when a person gives the reference to it.
CREATE OR REPLACE TRIGGER suspense_is_frozen BEFORE UPDATE ON suspense_items
  FOR EACH ROW WHEN (OLD.closed_at IS NOT NULL
    OR (OLD.id, OLD.mode, OLD.reference, coalesce(OLD.order_id, NEW.order_id), OLD.opened_at)
    IS DISTINCT FROM (NEW.id, NEW.mode, NEW.reference, NEW.order_id, NEW.opened_at))
  EXECUTE FUNCTION refuse_change('money in suspense is accounted for');
