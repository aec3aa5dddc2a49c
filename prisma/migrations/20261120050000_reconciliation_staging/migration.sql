-- What a reconciliation has read of the service's history, per mode. Unlogged: it can be read again, so it costs no
-- write-ahead log, and it outlives the process that read it, so that the next run goes on where a killed one stopped.
-- After a crash of the database both the rows and the bookmark are empty, never one without the other.
CREATE UNLOGGED TABLE history_rows_test (
  seq              integer NOT NULL,
  reference        text NOT NULL,
  -- False: the record has no readable reference, and "reference" is made from its digest.
  is_named         boolean NOT NULL,
  service_id       text,
  status           text NOT NULL,
  amount           bigint,
  currency         text,
  is_money_assumed boolean NOT NULL,
  -- How many transactions took money under this reference.
  charges          integer NOT NULL DEFAULT 1,
  -- False: the reference stands in the list more than once, and a row with a negative "seq" says what all of them say.
  is_current       boolean NOT NULL DEFAULT true
);
CREATE UNLOGGED TABLE history_rows_live (LIKE history_rows_test INCLUDING DEFAULTS);

-- How far was the history read, and by which question? Rows behind the bookmark are of a page that was not read to its end.
CREATE UNLOGGED TABLE history_bookmarks (
  mode       text PRIMARY KEY CHECK (mode IN ('test', 'live')),
  question   text NOT NULL,
  -- The database's time at which the list was begun: the moment that the comparison is about.
  started_at timestamptz NOT NULL,
  state      jsonb NOT NULL
);

-- What the last complete run saw, to notice a list that was cut since: some references that must still be there.
CREATE TABLE reconciliation_anchors (
  mode          text NOT NULL CHECK (mode IN ('test', 'live')),
  reference     text NOT NULL,
  -- How many references that run saw in all.
  list_length   bigint NOT NULL,
  seen_at       timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (mode, reference)
);
