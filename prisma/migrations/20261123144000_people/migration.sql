-- New checkouts that a person or the shop's own system has stopped.
CREATE TABLE checkout_stops (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  mode       text NOT NULL CHECK (mode IN ('test', 'live')),
  -- '*': every currency. No code of ISO 4217 would do: ALL is the Albanian lek.
  currency   text NOT NULL CHECK (currency ~ '^([A-Z]{3}|\*)$'),
  reason     text NOT NULL,
  stopped_at timestamptz NOT NULL DEFAULT now(),
  -- A person's name, or 'shop' for a call of the shop's own system.
  stopped_by text NOT NULL,
  resumed_at timestamptz,
  resumed_by text,
  note       text,

  CONSTRAINT resumed_needs_a_name CHECK ((resumed_at IS NULL) = (resumed_by IS NULL))
);
-- One open stop per currency. Ended ones stay as history.
CREATE UNIQUE INDEX checkout_stops_open ON checkout_stops (mode, currency) WHERE resumed_at IS NULL;

-- As before, and those by hand: they have no payment, and a reason.
CREATE OR REPLACE VIEW stopped_currencies AS
  SELECT mode, currency, reference, stopped_at, NULL::text AS reason, NULL::text AS stopped_by
  FROM currency_stops WHERE released_at IS NULL
  UNION ALL
  SELECT mode, currency, NULL, stopped_at, reason, stopped_by FROM checkout_stops WHERE resumed_at IS NULL;
