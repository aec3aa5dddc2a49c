-- Webhooks that were refused before any row of theirs was written: their number by minute, and the newest few.
CREATE TABLE refused_webhooks (
  minute  timestamptz NOT NULL,
  mode    text NOT NULL CHECK (mode IN ('test', 'live')),
  reason  text NOT NULL CHECK (reason IN ('bad-signature', 'malformed', 'too-many')),
  times   integer NOT NULL CHECK (times > 0),
  last_at timestamptz NOT NULL DEFAULT now(),
  -- [{at, address, reference}], newest first. The reference is as the sender wrote it, if it could be one of ours.
  samples jsonb NOT NULL DEFAULT '[]',
  PRIMARY KEY (minute, mode, reason)
);
