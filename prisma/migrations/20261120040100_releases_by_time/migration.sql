-- Operators page through releases, newest first, and the last hour is counted.
-- Concurrently: shops go on selling meanwhile. That cannot share a transaction, so each index has a migration of its own.
CREATE INDEX CONCURRENTLY IF NOT EXISTS releases_by_time ON releases (released_at DESC, id DESC);
