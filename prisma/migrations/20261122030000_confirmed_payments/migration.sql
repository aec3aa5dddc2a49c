-- Adds only. When verify last confirmed a settled payment that the service's history lacks: it is asked about once a day,
-- and not at each reconciliation. Rows older than that are removed by the next run.
CREATE TABLE confirmed_payments (
  mode         text NOT NULL CHECK (mode IN ('test', 'live')),
  reference    text NOT NULL,
  confirmed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (mode, reference)
);
