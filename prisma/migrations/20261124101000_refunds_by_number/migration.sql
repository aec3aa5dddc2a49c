CREATE INDEX CONCURRENTLY IF NOT EXISTS refunds_by_number ON refunds (external_id) WHERE external_id IS NOT NULL;
