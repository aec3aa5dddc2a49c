-- Money for a payment that had been closed is late. Few payments are ever closed, and the comparison asks about all.
CREATE INDEX CONCURRENTLY IF NOT EXISTS verifications_that_closed ON verifications (reference, id) WHERE outcome IN ('failed', 'expired');
