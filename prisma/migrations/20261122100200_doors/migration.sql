-- What the two doors keep: the service's calls, the shoppers' repeated requests, and who asks too often.

-- The bytes as they came. Nothing in them is believed.
CREATE TABLE webhooks (
  id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- The same body again is the same event: services number deliveries, not events.
  body_sha256      bytea NOT NULL UNIQUE,
  body             bytea NOT NULL,
  -- Of the key under which its latest delivery came.
  mode             text NOT NULL CHECK (mode IN ('test', 'live')),
  content_type     text NOT NULL DEFAULT '',
  authenticity     text NOT NULL CHECK (authenticity IN ('signed', 'unsigned')),
  reference        text,
  -- hinted: it named a payment of ours, which is now due. ignored: it did not.
  outcome          text NOT NULL CHECK (outcome IN ('hinted', 'ignored')),
  deliveries       integer NOT NULL DEFAULT 1,
  received_at      timestamptz NOT NULL DEFAULT now(),
  last_received_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhooks_of_reference ON webhooks (reference) WHERE reference IS NOT NULL;

-- Whether a checkout was requested before, and how far it got. Kept for 72 hours: a client that was cut off on
-- a Friday evening may still repeat its request on Monday.
CREATE TABLE idempotency_keys (
  mode         text NOT NULL CHECK (mode IN ('test', 'live')),
  key          text NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
  -- SHA-256 of the request. The same key with another request is refused.
  fingerprint  bytea NOT NULL,
  order_id     text NOT NULL REFERENCES orders (id),
  -- The recovery point. Null until the checkout is open, then the payment whose checkout is the answer.
  reference    text REFERENCES payments (reference),
  -- Until when the first request is worked on. In the past: it failed or its process died, and the next
  -- request goes on.
  locked_until timestamptz,
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (mode, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

-- Currencies in which no checkout begins. An amount that is a power of ten away from what was asked says that
-- we and the service count in different units, and then every checkout of the currency is wrong. The second such
-- order stops the currency, in the statement that stores the answer, until a person releases it.
CREATE TABLE currency_stops (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  mode            text NOT NULL CHECK (mode IN ('test', 'live')),
  currency        text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  -- The payment that stopped it, and the answer about it.
  reference       text NOT NULL REFERENCES payments (reference),
  verification_id bigint NOT NULL REFERENCES verifications (id),
  stopped_at      timestamptz NOT NULL DEFAULT now(),
  released_at     timestamptz,
  released_by     text,
  note            text,

  CONSTRAINT released_needs_a_name CHECK ((released_at IS NULL) = (released_by IS NULL))
);
-- One open stop per currency. Released ones stay as history.
CREATE UNIQUE INDEX currency_stops_open ON currency_stops (mode, currency) WHERE released_at IS NULL;

-- The rate limiter's own table, shared by all nodes.
CREATE TABLE rate_limits (
  key    varchar(255) PRIMARY KEY,
  points integer NOT NULL DEFAULT 0,
  expire bigint
);
