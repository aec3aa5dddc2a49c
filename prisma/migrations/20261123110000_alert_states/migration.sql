-- What people are told of, one row per state, shared by all processes and kept over restarts. A single event, such
-- as a release that was given up, is a row that ended when it began.
CREATE TABLE alert_states (
  mode     text NOT NULL CHECK (mode IN ('test', 'live')),
  event    text NOT NULL,
  -- Which of several states of one event: a currency, an order's reference, a release; mostly empty.
  key      text NOT NULL,
  -- Another cause is another thing to tell.
  cause    text NOT NULL,
  -- What is told, as JSON.
  alert    jsonb NOT NULL,
  since    timestamptz NOT NULL DEFAULT now(),
  seen_at  timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  -- When there was last something new to tell: it began, its cause changed, it lasted a day longer, or it ended.
  news_at  timestamptz NOT NULL DEFAULT now(),
  -- When a person was last told, and when it is told next; null: it is over, and that was told.
  told_at  timestamptz,
  tell_at  timestamptz,
  -- Counts what was to be told: who has told an older one must not note the newer as told.
  changes  integer NOT NULL DEFAULT 1,
  PRIMARY KEY (mode, event, key)
);

-- Which worker it was: host and process.
ALTER TABLE worker_heartbeats ADD COLUMN beaten_by text;
