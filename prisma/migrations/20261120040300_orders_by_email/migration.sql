-- A shopper who writes to the shop gives an e-mail address, and no reference.
CREATE INDEX CONCURRENTLY IF NOT EXISTS orders_by_email ON orders (lower(email), created_at DESC, id DESC);
