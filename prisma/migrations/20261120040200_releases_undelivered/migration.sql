-- What no receiver has yet: few rows, whatever the number of releases.
CREATE INDEX CONCURRENTLY IF NOT EXISTS releases_undelivered ON releases (released_at, id) WHERE delivery IN ('waiting', 'dead');
