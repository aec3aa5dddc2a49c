-- The story of one order tells its findings, too. Most findings of a large shop are about no order, or about another one.
CREATE INDEX CONCURRENTLY IF NOT EXISTS findings_of_order ON findings (order_id) WHERE order_id IS NOT NULL;
