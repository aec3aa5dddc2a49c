-- What the service lists as paid out to the shop's bank, as the runs saw it. Nothing is paid or confirmed by it.
CREATE TABLE transfers (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  mode          text NOT NULL CHECK (mode IN ('test', 'live')),
  reference     text NOT NULL,
  currency      text NOT NULL,
  -- Minor units, as first seen: a list that says something else later is reported and not believed.
  amount        bigint NOT NULL,
  -- What it cost on top, in minor units; null: not named.
  fee           bigint,
  status        text NOT NULL,
  first_seen_at timestamptz NOT NULL DEFAULT now(),
  last_seen_at  timestamptz NOT NULL DEFAULT now(),
  first_run_id  text NOT NULL,
  -- When it was first seen as failed, expired or reversed: the money is in the balance again.
  returned_at   timestamptz,
  -- When a whole list no longer had it; null while it is listed.
  gone_at       timestamptz,
  UNIQUE (mode, reference, currency)
);
CREATE INDEX transfers_by_time ON transfers (mode, first_seen_at, id);

-- Each at the time at which a run first saw it, so a month that is over keeps its sums. What failed before a run saw
-- it sent never left the balance.
CREATE VIEW payouts AS
  SELECT id, mode, NULL::text AS order_id, reference, currency, first_seen_at AS at, amount, fee,
    CASE WHEN gone_at IS NULL THEN status ELSE 'gone' END AS status
  FROM transfers WHERE returned_at IS DISTINCT FROM first_seen_at;
CREATE VIEW returned_payouts AS
  SELECT id, mode, NULL::text AS order_id, reference, currency, returned_at AS at, amount, status
  FROM transfers WHERE returned_at > first_seen_at;
