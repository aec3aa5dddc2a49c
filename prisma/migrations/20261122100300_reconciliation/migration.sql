-- What a comparison with the service's history reads, keeps and reports.

-- The findings that a run printed. Runs that printed the same share one row.
CREATE TABLE reconciliation_items (
  sha256 bytea PRIMARY KEY,
  items  jsonb NOT NULL
);

-- One run: what it was about and what it counted, enough to write its report again to the same bytes.
CREATE TABLE reconciliation_runs (
  id            text PRIMARY KEY,
  mode          text NOT NULL CHECK (mode IN ('test', 'live')),
  started_at    timestamptz NOT NULL DEFAULT now(),
  finished_at   timestamptz,
  since         timestamptz,
  until         timestamptz,
  complete      boolean,
  verdict       text CHECK (verdict IN ('agreed', 'findings', 'incomplete')),
  -- Why it is not complete, or how it failed.
  problem       text,
  -- Digests of what was read: the history, our own side, the dialect.
  inputs        jsonb,
  outcome       jsonb,
  items_sha256  bytea REFERENCES reconciliation_items (sha256),
  report        jsonb,
  -- Of the report as `--json` printed it.
  report_sha256 bytea
);
CREATE INDEX reconciliation_runs_by_time ON reconciliation_runs (started_at DESC);


-- What a run has read of the history, per mode. Unlogged: it can be read again, so it needs no write-ahead log.
-- It outlives the process that read it, so the next run goes on where a killed one stopped. After a crash of
-- the database the rows and the checkpoint are both empty, never one without the other.
CREATE UNLOGGED TABLE history_rows_test (
  seq              integer NOT NULL,
  reference        text NOT NULL,
  -- False: the record has no readable reference, and `reference` is made from its digest.
  is_named         boolean NOT NULL,
  service_id       text,
  status           text NOT NULL,
  amount           bigint,
  currency         text,
  -- What the service took off the amount, where the dialect says how a record names it.
  fee              bigint,
  is_money_assumed boolean NOT NULL,
  -- How many transactions took money under this reference.
  charges          integer NOT NULL DEFAULT 1,
  -- False: the reference is in the list more than once, and a row with a negative `seq` says what all of them say.
  is_current       boolean NOT NULL DEFAULT true
);
CREATE UNLOGGED TABLE history_rows_live (LIKE history_rows_test INCLUDING DEFAULTS);

-- How far the history was read, and by which question. Rows behind it are of a page that was not read to its end.
CREATE UNLOGGED TABLE history_checkpoints (
  mode       text PRIMARY KEY CHECK (mode IN ('test', 'live')),
  question   text NOT NULL,
  -- The database's time at which the list was begun: the moment that the comparison is about.
  started_at timestamptz NOT NULL,
  state      jsonb NOT NULL
);

-- Some references that the last complete list held. A later list that lacks them all was cut.
CREATE TABLE history_sentinels (
  mode        text NOT NULL CHECK (mode IN ('test', 'live')),
  reference   text NOT NULL,
  -- How many references that list held.
  list_length bigint NOT NULL,
  seen_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (mode, reference)
);

-- When verify last confirmed a paid payment that the history lacks: it is asked about once a day and not at each
-- run. The next run removes older rows.
CREATE TABLE confirmed_payments (
  mode         text NOT NULL CHECK (mode IN ('test', 'live')),
  reference    text NOT NULL,
  confirmed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (mode, reference)
);
