-- A run over a window reads its payments and no others. They are written in the order of time, so ranges of pages suffice.
CREATE INDEX CONCURRENTLY IF NOT EXISTS payments_by_time ON payments USING brin (created_at);
