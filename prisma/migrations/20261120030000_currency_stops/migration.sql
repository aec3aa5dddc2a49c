-- May new checkouts of a currency begin? A paid amount that is a power of ten away from what was asked says that we and
-- the service count in different units, and then every checkout of the currency is wrong. The first such answer stops
-- them, in the statement that stores it, until a person has looked and releases the currency.
CREATE TABLE currency_stops (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  mode            text NOT NULL CHECK (mode IN ('test', 'live')),
  currency        text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  -- The payment that gave the alarm, and the answer that did.
  reference       text NOT NULL REFERENCES payments (reference),
  verification_id bigint NOT NULL REFERENCES verifications (id),
  stopped_at      timestamptz NOT NULL DEFAULT now(),
  released_at     timestamptz,
  released_by     text,
  note            text,

  CONSTRAINT released_by_somebody CHECK ((released_at IS NULL) = (released_by IS NULL))
);
-- One open stop per currency; released ones stay as history.
CREATE UNIQUE INDEX currency_stops_open ON currency_stops (mode, currency) WHERE released_at IS NULL;
