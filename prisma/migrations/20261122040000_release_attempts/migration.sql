-- Adds only: the version before this one goes on working beside the new one.

ALTER TABLE releases
  -- Since when its delivery is tried: the first attempt, later by the time in which nobody tried. Null before that, and
  -- again once a person asked for the delivery: three days count from the next attempt.
  ADD COLUMN tried_since timestamptz,
  -- What the receiver is sent, kept before the first attempt, so that every attempt sends the same bytes, also when the
  -- program was upgraded in between. Retention may take it out, nothing may rewrite it.
  ADD COLUMN message text;

CREATE TRIGGER release_messages_are_frozen BEFORE UPDATE OF message ON releases
  FOR EACH ROW WHEN (OLD.message IS NOT NULL AND NEW.message IS NOT NULL AND OLD.message <> NEW.message)
  EXECUTE FUNCTION refuse_change('a receiver may have this message already');
