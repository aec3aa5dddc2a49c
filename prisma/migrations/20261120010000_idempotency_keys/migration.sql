-- Has this very request been made before, and how far did it get? One row per Idempotency-Key of a checkout, kept for
-- 72 hours: a client that was cut off on a Friday evening may still repeat its request on Monday.
CREATE TABLE idempotency_keys (
  mode         text NOT NULL CHECK (mode IN ('test', 'live')),
  key          text NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
  -- SHA-256 of the request. The same key with another request is a mistake, and is told so.
  fingerprint  bytea NOT NULL,
  order_id     text NOT NULL REFERENCES orders (id),
  -- The recovery point: null until the checkout is open; then the payment whose checkout is the answer, for ever.
  reference    text REFERENCES payments (reference),
  -- While somebody works on the request. Past: that somebody failed or died, and the next one goes on.
  locked_until timestamptz,
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (mode, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
