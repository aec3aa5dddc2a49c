-- What people work on: findings, and money in suspense. And what their decisions do to payments and orders.

-- A disagreement between our orders and the service, until a person resolves it or a later run sees it no more.
CREATE TABLE findings (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  mode          text NOT NULL CHECK (mode IN ('test', 'live')),
  class         text NOT NULL,
  reference     text NOT NULL,
  order_id      text REFERENCES orders (id),
  currency      text,
  -- Minor units here, and there.
  expected      bigint,
  actual        bigint,
  -- What history, verify and webhooks said when it was last seen.
  evidence      jsonb,
  first_run_id  text NOT NULL REFERENCES reconciliation_runs (id),
  last_run_id   text NOT NULL REFERENCES reconciliation_runs (id),
  first_seen_at timestamptz NOT NULL DEFAULT now(),
  last_seen_at  timestamptz NOT NULL DEFAULT now(),
  -- Null: sources contradict each other, and may still agree by themselves.
  raised_at     timestamptz DEFAULT now(),
  owner         text,
  assigned_at   timestamptz,
  assigned_by   text,
  closed_at     timestamptz,
  -- A name, or 'reconciliation' when a later run no longer saw it.
  closed_by     text,
  note          text,
  -- The same disagreement, seen and closed before. That row stays as it was.
  reopens       bigint REFERENCES findings (id),
  -- When a complete run no longer saw what a person had resolved. Should it come back, it is raised again.
  gone_at       timestamptz,

  CONSTRAINT closed_needs_a_name   CHECK ((closed_at IS NULL) = (closed_by IS NULL)),
  CONSTRAINT assigned_needs_a_name CHECK (assigned_at IS NULL OR owner IS NOT NULL AND assigned_by IS NOT NULL)
);
-- One open finding per disagreement. Closed ones stay as history.
CREATE UNIQUE INDEX findings_open ON findings (mode, class, reference) WHERE closed_at IS NULL;
-- Operators work through what is open page by page, oldest first, however much was closed before.
CREATE INDEX findings_open_in_order ON findings (mode, id) WHERE closed_at IS NULL;
CREATE INDEX findings_of_reference ON findings (reference);
CREATE INDEX findings_of_order ON findings (order_id) WHERE order_id IS NOT NULL;

CREATE TABLE finding_notes (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  finding_id bigint NOT NULL REFERENCES findings (id),
  written_at timestamptz NOT NULL DEFAULT now(),
  written_by text NOT NULL,
  note       text NOT NULL
);
CREATE INDEX finding_notes_of_finding ON finding_notes (finding_id, id);

-- What the journal says of a finding when it is raised, and again when its money changes.
CREATE FUNCTION finding_told(f findings) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_strip_nulls(jsonb_build_object('finding', f.id, 'class', f.class, 'expected', f.expected::text,
    'actual', f.actual::text, 'currency', f.currency))
$$;


-- Money that the shop holds and has not earned.
CREATE TABLE suspense_items (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  mode            text NOT NULL CHECK (mode IN ('test', 'live')),
  class           text NOT NULL,
  reference       text NOT NULL,
  order_id        text REFERENCES orders (id),
  verification_id bigint REFERENCES verifications (id),
  amount          bigint NOT NULL CHECK (amount > 0),
  currency        text NOT NULL,
  opened_at       timestamptz NOT NULL DEFAULT now(),
  owner           text,
  assigned_at     timestamptz,
  assigned_by     text,
  closed_at       timestamptz,
  -- A name, or 'confirmation' when the money paid its order after all.
  closed_by       text,
  -- refund: given back. credit: counted towards something else of this shopper. keep: the shopper agreed that it
  -- is the shop's. write_off: its owner cannot be found. other: what the note says. earned: it paid its order.
  decision        text,
  note            text,
  -- The service's or the bank's own number of the refund: what a shopper who asks is told.
  refund_note     text,

  CONSTRAINT closed_needs_a_name     CHECK ((closed_at IS NULL) = (closed_by IS NULL)),
  CONSTRAINT closed_needs_a_decision CHECK ((closed_at IS NULL) = (decision IS NULL)),
  CONSTRAINT assigned_needs_a_name   CHECK (assigned_at IS NULL OR owner IS NOT NULL AND assigned_by IS NOT NULL),
  CONSTRAINT decision_is_known
    CHECK (decision IN ('refund', 'credit', 'keep', 'write_off', 'other', 'earned')),
  -- Whether money paid its order is for evidence to say, not for a person.
  CONSTRAINT earned_by_confirmation  CHECK ((decision = 'earned') = (closed_by = 'confirmation')),
  CONSTRAINT refund_note_of_a_refund CHECK (refund_note IS NULL OR coalesce(decision, '') = 'refund')
);
-- One open item per payment: when more money comes, the item changes. Closed ones stay as history.
CREATE UNIQUE INDEX suspense_open ON suspense_items (mode, reference) WHERE closed_at IS NULL;
CREATE INDEX suspense_by_reference ON suspense_items (mode, reference);
CREATE INDEX suspense_of_order ON suspense_items (order_id) WHERE order_id IS NOT NULL;

CREATE TABLE suspense_notes (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  item_id    bigint NOT NULL REFERENCES suspense_items (id),
  written_at timestamptz NOT NULL DEFAULT now(),
  written_by text NOT NULL,
  note       text NOT NULL
);
CREATE INDEX suspense_notes_of_item ON suspense_notes (item_id, id);


-- Until it is paid, an order follows its payments, and it is in review as long as money of it is in suspense.
-- Called under the order's lock, with a new look at its payments: of two that fail at the same instant, neither
-- may see the other one still open.
CREATE FUNCTION follow_payments(followed text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  was text;
  now_is text;
BEGIN
  SELECT status INTO was FROM orders WHERE id = followed FOR NO KEY UPDATE;
  SELECT CASE
    WHEN bool_or(status = 'held') OR EXISTS (
      SELECT FROM suspense_items WHERE order_id = followed AND closed_at IS NULL) THEN 'review'
    WHEN bool_or(status IN ('created', 'sending', 'open', 'ambiguous')) THEN 'pending'
    -- That our own key was refused says nothing about the order.
    WHEN bool_or(status IN ('failed', 'refused') AND reason IS DISTINCT FROM 'key-refused') THEN 'failed'
    ELSE 'expired' END
  INTO now_is FROM payments WHERE order_id = followed;
  IF was <> 'paid' AND was <> now_is THEN
    UPDATE orders SET status = now_is WHERE id = followed;
  END IF;
END $$;

CREATE FUNCTION order_follows_payments() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM follow_payments(NEW.order_id);
  RETURN NULL;
END $$;
CREATE TRIGGER order_follows_payments AFTER UPDATE OF status ON payments
  FOR EACH ROW WHEN (OLD.status <> NEW.status AND NEW.status <> 'paid' AND (NEW.status <> 'open' OR OLD.status = 'held')
    AND NEW.reason IS DISTINCT FROM 'key-refused')
  EXECUTE FUNCTION order_follows_payments();

CREATE FUNCTION payment_follows_suspense() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE payments SET suspense_changes = suspense_changes + 1,
    decided_at = CASE WHEN NEW.decision <> 'earned' AND status <> 'paid' THEN NEW.closed_at ELSE decided_at END
  WHERE reference = NEW.reference AND mode = NEW.mode;
  IF NEW.order_id IS NOT NULL THEN
    PERFORM follow_payments(NEW.order_id);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER suspense_opens AFTER INSERT ON suspense_items
  FOR EACH ROW EXECUTE FUNCTION payment_follows_suspense();
CREATE TRIGGER suspense_changes AFTER UPDATE ON suspense_items
  FOR EACH ROW WHEN ((OLD.class, OLD.amount, OLD.currency, OLD.closed_at)
    IS DISTINCT FROM (NEW.class, NEW.amount, NEW.currency, NEW.closed_at))
  EXECUTE FUNCTION payment_follows_suspense();


-- What a person decides about money binds every later answer of the service, whichever program records it.
CREATE FUNCTION refuse_decided_money() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM payments WHERE reference = NEW.reference AND decided_at IS NOT NULL) THEN
    RAISE EXCEPTION 'the release of order % is refused: a person has decided about this money', NEW.order_id
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER decided_money_pays_nothing BEFORE INSERT ON releases
  FOR EACH ROW EXECUTE FUNCTION refuse_decided_money();
-- A person may decide about money under a reference that this database does not know (any more). A payment that
-- is written with that reference later is bound by the decision.
CREATE FUNCTION payment_heeds_decisions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.decided_at := coalesce(NEW.decided_at, (SELECT max(closed_at) FROM suspense_items
    WHERE mode = NEW.mode AND reference = NEW.reference AND closed_at IS NOT NULL AND decision <> 'earned'));
  RETURN NEW;
END $$;
CREATE TRIGGER payment_heeds_decisions BEFORE INSERT ON payments
  FOR EACH ROW EXECUTE FUNCTION payment_heeds_decisions();


-- A case ends by being closed and in no other way, and what was closed stays as it was.
CREATE TRIGGER findings_stay BEFORE DELETE ON findings
  FOR EACH ROW EXECUTE FUNCTION refuse_change('findings are kept');
CREATE TRIGGER findings_are_frozen BEFORE UPDATE ON findings
  FOR EACH ROW WHEN (OLD.closed_at IS NOT NULL
    AND to_jsonb(OLD) - 'gone_at' IS DISTINCT FROM to_jsonb(NEW) - 'gone_at')
  EXECUTE FUNCTION refuse_change('findings are kept');
CREATE TRIGGER finding_notes_stay BEFORE UPDATE OR DELETE ON finding_notes
  FOR EACH ROW EXECUTE FUNCTION refuse_change('notes of findings are kept');
CREATE TRIGGER suspense_stays BEFORE DELETE ON suspense_items
  FOR EACH ROW EXECUTE FUNCTION refuse_change('money in suspense is accounted for');
CREATE TRIGGER suspense_is_not_emptied BEFORE TRUNCATE ON suspense_items
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('money in suspense is accounted for');
CREATE TRIGGER suspense_is_frozen BEFORE UPDATE ON suspense_items
  FOR EACH ROW WHEN (OLD.closed_at IS NOT NULL OR (OLD.id, OLD.mode, OLD.reference, OLD.order_id, OLD.opened_at)
    IS DISTINCT FROM (NEW.id, NEW.mode, NEW.reference, NEW.order_id, NEW.opened_at))
  EXECUTE FUNCTION refuse_change('money in suspense is accounted for');
CREATE TRIGGER suspense_notes_stay BEFORE UPDATE OR DELETE ON suspense_notes
  FOR EACH ROW EXECUTE FUNCTION refuse_change('notes of suspense are kept');

-- Retention may prune bodies, but not those that an open finding is about.
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
