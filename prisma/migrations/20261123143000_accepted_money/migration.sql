-- A person may accept what came for an order, less or more than was asked for, and every decision ends the order.

-- That a person accepted what verify showed. It is the proof of its release, in place of an exact answer.
CREATE TABLE acceptances (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id        text NOT NULL REFERENCES orders (id),
  reference       text NOT NULL,
  mode            text NOT NULL,
  verification_id bigint NOT NULL,
  outcome         text NOT NULL CHECK (outcome IN ('underpaid', 'overpaid')),
  -- What came, in minor units.
  amount          bigint NOT NULL CHECK (amount > 0),
  currency        text NOT NULL,
  accepted_by     text NOT NULL,
  note            text NOT NULL,
  accepted_at     timestamptz NOT NULL DEFAULT now(),

  UNIQUE (mode, reference),
  -- Releases point at all five.
  UNIQUE (id, order_id, reference, mode, verification_id),
  -- Verify showed exactly this.
  FOREIGN KEY (verification_id, order_id, reference, mode, amount, currency, outcome)
    REFERENCES verifications (id, order_id, reference, mode, amount, currency, outcome),
  CONSTRAINT accepted_by_a_person CHECK (accepted_by NOT IN ('', 'confirmation', 'reconciliation'))
);
CREATE TRIGGER acceptances_stay BEFORE UPDATE OR DELETE ON acceptances
  FOR EACH ROW EXECUTE FUNCTION refuse_change('a release rests on it');

-- A release rests on an exact answer (outcome), or on an acceptance: without an outcome its key to verifications is
-- not checked, and that of the acceptance is in its place.
ALTER TABLE releases ALTER COLUMN outcome DROP NOT NULL;
ALTER TABLE releases ADD COLUMN acceptance_id bigint;
ALTER TABLE releases ADD CONSTRAINT released_on_one_proof
  CHECK ((outcome IS NULL) = (acceptance_id IS NOT NULL)) NOT VALID;
ALTER TABLE releases ADD CONSTRAINT released_on_acceptance
  FOREIGN KEY (acceptance_id, order_id, reference, mode, verification_id)
  REFERENCES acceptances (id, order_id, reference, mode, verification_id) NOT VALID;
CREATE TRIGGER release_acceptances_are_frozen BEFORE UPDATE OF acceptance_id ON releases
  FOR EACH ROW WHEN (OLD.acceptance_id IS DISTINCT FROM NEW.acceptance_id)
  EXECUTE FUNCTION refuse_change('a release is for ever');

-- Minor units that came for a release: its amount, unless a person accepted less and verify has not shown all of it since.
CREATE FUNCTION money_that_came(r releases) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN r.acceptance_id IS NULL
      OR EXISTS (SELECT FROM verifications v WHERE v.reference = r.reference AND v.outcome = 'paid') THEN r.amount
    ELSE least(r.amount, (SELECT a.amount FROM acceptances a WHERE a.id = r.acceptance_id)) END
$$;

-- As before, and of accepted money no more can go back than came.
CREATE OR REPLACE FUNCTION refuse_refund() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  was_paid orders;
BEGIN
  SELECT * INTO was_paid FROM orders WHERE id = NEW.order_id FOR NO KEY UPDATE;
  IF was_paid.status IS DISTINCT FROM 'paid' THEN
    RAISE EXCEPTION 'the refund of order % is refused: it is not paid', NEW.order_id
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF (was_paid.mode, was_paid.currency) <> (NEW.mode, NEW.currency) THEN
    RAISE EXCEPTION 'the refund of order % is refused: it is of another mode or currency', NEW.order_id
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF NOT EXISTS (SELECT FROM refunds WHERE order_id = NEW.order_id AND external_id = NEW.external_id)
    AND NEW.amount > (SELECT money_that_came(r) FROM releases r WHERE r.id = was_paid.release_id)
      - (SELECT coalesce(sum(amount), 0) FROM refunds WHERE order_id = NEW.order_id) THEN
    RAISE EXCEPTION 'the refund of order % is refused: more than was paid would go back', NEW.order_id
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;

-- As before, and a person who accepts what came moves it too.
CREATE OR REPLACE FUNCTION refuse_move_without_answer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.status = 'paid' AND EXISTS (
    SELECT FROM acceptances WHERE reference = NEW.reference AND accepted_at = now()) THEN
    RETURN NULL;
  END IF;
  IF (SELECT answered_at FROM verifications WHERE reference = NEW.reference ORDER BY id DESC LIMIT 1)
    IS DISTINCT FROM now() THEN
    RAISE EXCEPTION 'UPDATE on payments is refused: payment % is held, and only an answer of the service moves it',
      NEW.reference USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;


-- accept: what came is enough, and paid its order.
ALTER TABLE suspense_items DROP CONSTRAINT decision_is_known;
ALTER TABLE suspense_items ADD CONSTRAINT decision_is_known
  CHECK (decision IN ('refund', 'credit', 'keep', 'write_off', 'other', 'accept', 'earned')) NOT VALID;
-- A shopper who asks is told the number.
ALTER TABLE suspense_items ADD CONSTRAINT refund_has_a_number
  CHECK (decision IS DISTINCT FROM 'refund' OR btrim(refund_note) <> '' AND refund_note IS NOT NULL) NOT VALID;
-- The number of a refund of the surplus alone. The item stays open until the service shows the rest.
ALTER TABLE suspense_items ADD COLUMN surplus_refund text;


-- As before, and money that a person has decided about keeps no order in review.
CREATE OR REPLACE FUNCTION follow_payments(followed text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  was text;
  has_ended boolean;
  now_is text;
BEGIN
  SELECT status, status IN ('paid', 'cancelled') OR expired_at IS NOT NULL INTO was, has_ended
  FROM orders WHERE id = followed FOR NO KEY UPDATE;
  SELECT CASE
    WHEN bool_or(status = 'held' AND decided_at IS NULL) OR EXISTS (
      SELECT FROM suspense_items WHERE order_id = followed AND closed_at IS NULL) THEN 'review'
    WHEN bool_or(status IN ('created', 'sending', 'open', 'ambiguous')) THEN 'pending'
    -- That our own key was refused says nothing about the order.
    WHEN bool_or(status IN ('failed', 'refused') AND reason IS DISTINCT FROM 'key-refused') THEN 'failed'
    WHEN bool_or(status = 'held') AND NOT bool_or(status = 'expired') THEN 'review'
    ELSE 'expired' END
  INTO now_is FROM payments WHERE order_id = followed;
  IF NOT has_ended AND was <> now_is THEN
    UPDATE orders SET status = now_is WHERE id = followed;
  END IF;
END $$;

-- Ends an order in review whose held money a person has decided about, unless another payment of it may still pay.
-- Returns whether it did. The last decision gives the name and the reason.
CREATE FUNCTION end_decided_order(ended text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  last suspense_items;
BEGIN
  IF (SELECT status FROM orders WHERE id = ended FOR NO KEY UPDATE) IS DISTINCT FROM 'review'
    OR EXISTS (SELECT FROM suspense_items WHERE order_id = ended AND closed_at IS NULL)
    OR EXISTS (SELECT FROM payments WHERE order_id = ended
      AND (status IN ('created', 'sending', 'open', 'ambiguous') OR status = 'held' AND decided_at IS NULL)) THEN
    RETURN false;
  END IF;
  SELECT * INTO last FROM suspense_items
    WHERE order_id = ended AND decision NOT IN ('earned', 'accept') ORDER BY closed_at DESC, id DESC LIMIT 1;
  IF last.id IS NULL THEN
    RETURN false;
  END IF;
  UPDATE orders SET status = 'cancelled', cancelled_at = now(), cancelled_by = last.closed_by,
    deadline_check_at = NULL, cancel_reason = 'its money was decided about: ' || last.decision WHERE id = ended;
  INSERT INTO journal (order_id, event, reference, cause, detail)
    VALUES (ended, 'order-cancelled', last.reference, 'operator:' || last.closed_by, jsonb_build_object(
      'reason', 'its money was decided about: ' || last.decision, 'item', last.id));
  RETURN true;
END $$;

CREATE OR REPLACE FUNCTION payment_follows_suspense() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE payments SET suspense_changes = suspense_changes + 1,
    decided_at = CASE WHEN NEW.decision <> 'earned' AND status <> 'paid' THEN NEW.closed_at ELSE decided_at END
  WHERE reference = NEW.reference AND mode = NEW.mode;
  IF NEW.order_id IS NOT NULL AND (NEW.closed_at IS NULL OR NOT end_decided_order(NEW.order_id)) THEN
    PERFORM follow_payments(NEW.order_id);
  END IF;
  RETURN NULL;
END $$;

-- Orders whose money was decided about before decisions ended them.
SELECT end_decided_order(id) FROM (SELECT id FROM orders WHERE status = 'review' ORDER BY id) decided;
