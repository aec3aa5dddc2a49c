-- What was recorded while nobody received releases: none in a shop that always had a receiver.
CREATE INDEX CONCURRENTLY IF NOT EXISTS releases_unsent ON releases (released_at, id) WHERE delivery = 'unneeded';
