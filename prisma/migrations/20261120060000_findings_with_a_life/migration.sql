-- Adds only: the version before this one goes on working beside the new one.

-- Who looks at a finding, what became of it, and what was seen when it was raised.
ALTER TABLE findings
  -- Null: sources contradict each other, and may still agree by themselves. The version before this one knows no grace.
  ADD COLUMN raised_at   timestamptz DEFAULT now(),
  ADD COLUMN owner       text,
  ADD COLUMN assigned_at timestamptz,
  ADD COLUMN assigned_by text,
  -- The same disagreement, seen and closed before. That row stays as it was.
  ADD COLUMN reopens     bigint REFERENCES findings (id),
  -- When a complete run no longer saw what a person had resolved: should it come back, it is raised again.
  ADD COLUMN gone_at     timestamptz,
  -- What history, verify and webhooks said of it when it was last seen.
  ADD COLUMN evidence    jsonb;
UPDATE findings SET raised_at = first_seen_at;
ALTER TABLE findings ADD CONSTRAINT assigned_to_somebody
  CHECK (assigned_at IS NULL OR owner IS NOT NULL AND assigned_by IS NOT NULL) NOT VALID;
ALTER TABLE findings VALIDATE CONSTRAINT assigned_to_somebody;
CREATE INDEX findings_of_reference ON findings (reference);

-- What people wrote on the way.
CREATE TABLE finding_notes (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  finding_id  bigint NOT NULL REFERENCES findings (id),
  written_at  timestamptz NOT NULL DEFAULT now(),
  written_by  text NOT NULL,
  note        text NOT NULL
);
CREATE INDEX finding_notes_of_finding ON finding_notes (finding_id, id);
CREATE TRIGGER finding_notes_stay BEFORE UPDATE OR DELETE ON finding_notes
  FOR EACH ROW EXECUTE FUNCTION refuse_change('notes of findings are kept');

-- A finding ends by being closed and in no other way, and what was closed stays as it was.
CREATE TRIGGER findings_stay BEFORE DELETE ON findings
  FOR EACH ROW EXECUTE FUNCTION refuse_change('findings are kept');
CREATE TRIGGER findings_are_frozen BEFORE UPDATE ON findings
  FOR EACH ROW WHEN (OLD.closed_at IS NOT NULL
    AND to_jsonb(OLD) - 'gone_at' IS DISTINCT FROM to_jsonb(NEW) - 'gone_at')
  EXECUTE FUNCTION refuse_change('findings are kept');

-- Retention may prune bodies, but not those that somebody still has to look at.
CREATE FUNCTION keep_evidence_of_findings() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM findings f WHERE f.reference = OLD.reference AND f.closed_at IS NULL) THEN
    RAISE EXCEPTION 'the evidence of an open finding is kept: %', OLD.reference USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;
CREATE TRIGGER evidence_of_findings_stays BEFORE UPDATE OF body ON verifications
  FOR EACH ROW WHEN (OLD.body IS DISTINCT FROM NEW.body) EXECUTE FUNCTION keep_evidence_of_findings();
CREATE TRIGGER evidence_of_findings_stays BEFORE UPDATE OF body ON webhooks
  FOR EACH ROW WHEN (OLD.body IS DISTINCT FROM NEW.body) EXECUTE FUNCTION keep_evidence_of_findings();
CREATE TRIGGER evidence_of_findings_is_not_deleted BEFORE DELETE ON webhooks
  FOR EACH ROW EXECUTE FUNCTION keep_evidence_of_findings();

-- What a run was about, and what it counted: enough to write its report again, to the same bytes.
CREATE TABLE reconciliation_items (
  -- Runs that see the same findings share one row.
  sha256 bytea PRIMARY KEY,
  items  jsonb NOT NULL
);
ALTER TABLE reconciliation_runs
  ADD COLUMN since         timestamptz,
  ADD COLUMN until         timestamptz,
  -- Why the run is not complete, or what it failed with.
  ADD COLUMN problem       text,
  -- Digests of what was read: the history, our own side, the dialect.
  ADD COLUMN inputs        jsonb,
  ADD COLUMN outcome       jsonb,
  ADD COLUMN items_sha256  bytea REFERENCES reconciliation_items (sha256),
  -- Of the report as `--json` printed it.
  ADD COLUMN report_sha256 bytea;
