-- Orders whose deadline is to be looked at. Those without one are not in it.
CREATE INDEX CONCURRENTLY IF NOT EXISTS orders_due ON orders (deadline_check_at) WHERE deadline_check_at IS NOT NULL;
