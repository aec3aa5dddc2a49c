-- Adds only: the version before this one goes on working beside the new one.

-- What people wrote on the way, as for findings. Money under a reference that is not ours has no order, and no journal.
CREATE TABLE suspense_notes (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  item_id     bigint NOT NULL REFERENCES suspense_items (id),
  written_at  timestamptz NOT NULL DEFAULT now(),
  written_by  text NOT NULL,
  note        text NOT NULL
);
CREATE INDEX suspense_notes_of_item ON suspense_notes (item_id, id);
CREATE TRIGGER suspense_notes_stay BEFORE UPDATE OR DELETE ON suspense_notes
  FOR EACH ROW EXECUTE FUNCTION refuse_change('notes of suspense are kept');

-- A shopper whose order is under review asks what became of the money.
CREATE INDEX suspense_of_order ON suspense_items (order_id) WHERE order_id IS NOT NULL;

-- People work through what is open, oldest first, page by page, however much was closed before.
CREATE INDEX findings_open_in_order ON findings (mode, id) WHERE closed_at IS NULL;
