-- Adds only: the version before this one goes on working beside the new one.

-- Who works on an item, how it ended, and where the refund can be found.
ALTER TABLE suspense_items
  ADD COLUMN assigned_at timestamptz,
  ADD COLUMN assigned_by text,
  -- refund: given back. credit: counted towards something else of this shopper. keep: the shopper agreed that it is the
  -- shop's. write_off: nobody can be found to give it to. other: what the note says. earned: it paid its order after all.
  ADD COLUMN decision    text,
  -- The service's or the bank's own number for the refund: what a shopper who asks is told.
  ADD COLUMN refund_note text;

UPDATE suspense_items SET decision = CASE closed_by WHEN 'settlement' THEN 'earned' ELSE 'other' END
  WHERE closed_at IS NOT NULL;

-- The version before this one closes items and knows of no decisions. Its notes are decisions in words.
CREATE FUNCTION suspense_decision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.decision := CASE NEW.closed_by WHEN 'settlement' THEN 'earned' ELSE 'other' END;
  RETURN NEW;
END $$;
CREATE TRIGGER suspense_decision BEFORE INSERT OR UPDATE ON suspense_items
  FOR EACH ROW WHEN (NEW.closed_at IS NOT NULL AND NEW.decision IS NULL)
  EXECUTE FUNCTION suspense_decision();

-- Checked for new rows from here on, and for the old ones right after, without a lock that the running version waits for.
ALTER TABLE suspense_items
  ADD CONSTRAINT decision_is_known CHECK (decision IN ('refund', 'credit', 'keep', 'write_off', 'other', 'earned')) NOT VALID,
  ADD CONSTRAINT closed_by_a_decision CHECK ((closed_at IS NULL) = (decision IS NULL)) NOT VALID,
  -- Whether money paid its order is for evidence to say, not for a person.
  ADD CONSTRAINT earned_by_settlement CHECK ((decision = 'earned') = (closed_by = 'settlement')) NOT VALID,
  ADD CONSTRAINT refund_note_of_a_refund CHECK (refund_note IS NULL OR coalesce(decision, '') = 'refund') NOT VALID,
  ADD CONSTRAINT assigned_to_somebody
    CHECK (assigned_at IS NULL OR owner IS NOT NULL AND assigned_by IS NOT NULL) NOT VALID;
ALTER TABLE suspense_items
  VALIDATE CONSTRAINT decision_is_known,
  VALIDATE CONSTRAINT closed_by_a_decision,
  VALIDATE CONSTRAINT earned_by_settlement,
  VALIDATE CONSTRAINT refund_note_of_a_refund,
  VALIDATE CONSTRAINT assigned_to_somebody;

-- Money leaves suspense by a decision and in no other way.
CREATE TRIGGER suspense_stays BEFORE DELETE ON suspense_items
  FOR EACH ROW EXECUTE FUNCTION refuse_change('money in suspense is accounted for');
CREATE TRIGGER suspense_is_not_emptied BEFORE TRUNCATE ON suspense_items
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('money in suspense is accounted for');
CREATE TRIGGER suspense_is_frozen BEFORE UPDATE ON suspense_items
  FOR EACH ROW WHEN (OLD.closed_at IS NOT NULL OR (OLD.id, OLD.mode, OLD.reference, OLD.order_id, OLD.opened_at)
    IS DISTINCT FROM (NEW.id, NEW.mode, NEW.reference, NEW.order_id, NEW.opened_at))
  EXECUTE FUNCTION refuse_change('money in suspense is accounted for');

-- When a person last asked for the delivery again: the three days of trying count from then.
ALTER TABLE releases ADD COLUMN asked_again_at timestamptz;

-- What a journal entry keeps of the evidence it rests on: a verification that was changed afterwards no longer has this
-- hash. The body is in it by its digest, so it may be pruned. One function, as for the journal.
CREATE FUNCTION evidence_hash(evidence verifications) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT encode(sha256(convert_to(concat_ws(E'\x1f',
    evidence.id::text, evidence.reference, evidence.order_id, evidence.mode, evidence.outcome,
    coalesce(evidence.status_word, ''), coalesce(evidence.amount::text, ''), coalesce(evidence.currency, ''),
    evidence.http_status::text, encode(evidence.body_sha256, 'hex'), evidence.cause,
    extract(epoch FROM evidence.answered_at)::text), 'UTF8')), 'hex')
$$;
