-- When a person was alerted to money in suspense. Null: not yet; a worker asks for these. Items from before are not told.
ALTER TABLE suspense_items ADD COLUMN alerted_at timestamptz DEFAULT now();
ALTER TABLE suspense_items ALTER COLUMN alerted_at DROP DEFAULT;
CREATE INDEX suspense_unalerted ON suspense_items (mode, id) WHERE alerted_at IS NULL AND closed_at IS NULL;
