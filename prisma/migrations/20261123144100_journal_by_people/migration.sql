CREATE INDEX CONCURRENTLY IF NOT EXISTS journal_by_people ON journal (at, order_id, seq) WHERE cause LIKE 'operator:%';
