-- When reconciliation of a mode begins: what the service listed before is counted and never a finding. Adds only:
-- the version before this one does not read it, and goes on raising those rows.

-- One act of a person. A later one adds.
CREATE TABLE reconciliation_begins (
  mode     text NOT NULL CHECK (mode IN ('test', 'live')),
  -- The database's time at which the list was begun. What the service says of a payment later ends its excuse.
  begun_at timestamptz NOT NULL,
  begun_by text NOT NULL,
  note     text NOT NULL,
  run_id   text NOT NULL REFERENCES reconciliation_runs (id),
  PRIMARY KEY (mode, begun_at)
);
CREATE TRIGGER begins_stay BEFORE UPDATE OR DELETE ON reconciliation_begins
  FOR EACH ROW EXECUTE FUNCTION refuse_change('who began reconciliation is kept');

-- What was before: transactions that are not ours, and payments of ours that the list lacked. Deleting a row by
-- hand ends its excuse and undoes nothing else: what the begin closed stays closed, its money stays decided.
CREATE TABLE before_begin (
  mode      text NOT NULL,
  reference text NOT NULL,
  begun_at  timestamptz NOT NULL,
  -- What the list showed of a transaction that is not ours: one that shows more money later is raised.
  there     text,
  charges   integer,
  -- Minor units.
  amount    bigint,
  currency  text,
  PRIMARY KEY (mode, reference),
  FOREIGN KEY (mode, begun_at) REFERENCES reconciliation_begins (mode, begun_at)
);
-- A begin closes the findings of the rows that it took.
CREATE INDEX before_begin_by_begin ON before_begin (mode, begun_at);
