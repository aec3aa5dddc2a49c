CREATE INDEX CONCURRENTLY IF NOT EXISTS releases_withheld ON releases (released_at, id) WHERE delivery = 'withheld';
