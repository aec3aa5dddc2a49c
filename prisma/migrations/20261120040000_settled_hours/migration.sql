-- What was settled in each hour that is over? Releases are for ever, so an hour that is over is summed once and not again.
-- A statistic: it can be thrown away (with its mark below), and the worker sums it again from the releases.
CREATE TABLE settled_hours (
  mode     text NOT NULL CHECK (mode IN ('test', 'live')),
  hour     timestamptz NOT NULL,
  currency text NOT NULL,
  -- What made us ask for the answer that released the order.
  found_by text NOT NULL,
  -- From the first webhook to the release, as the place in a row of time spans; -1: no webhook had come.
  waited   integer NOT NULL,
  releases integer NOT NULL,
  -- Minor units. Sums of bigint are numeric.
  amount   numeric NOT NULL,
  PRIMARY KEY (mode, hour, currency, found_by, waited)
);

-- Up to when the hours are summed. Hours without a release have no row, so the rows alone do not tell.
CREATE TABLE settled_until (
  mode         text PRIMARY KEY CHECK (mode IN ('test', 'live')),
  summed_until timestamptz NOT NULL
);
