-- What was decided about money of a reference is asked for with each new payment. Few references have any.
CREATE INDEX CONCURRENTLY IF NOT EXISTS suspense_by_reference ON suspense_items (mode, reference);
