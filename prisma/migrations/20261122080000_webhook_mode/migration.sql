-- Adds only: the version before this one goes on working beside the new one. It stores webhooks without a mode.

-- The mode of the key under which the webhook came, of its latest delivery like the outcome. Null: stored by a version that
-- kept none.
ALTER TABLE webhooks ADD COLUMN mode text;
ALTER TABLE webhooks ADD CONSTRAINT webhooks_mode_check CHECK (mode IN ('test', 'live')) NOT VALID;
