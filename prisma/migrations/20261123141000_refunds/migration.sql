-- Money that the shop has given back for a paid order, written down by the shop: this program gives none back.
CREATE TABLE refunds (
  id          text PRIMARY KEY CHECK (id ~ '^re_[A-Za-z0-9]{24}$'),
  order_id    text NOT NULL REFERENCES orders (id),
  mode        text NOT NULL CHECK (mode IN ('test', 'live')),
  amount      bigint NOT NULL CHECK (amount > 0),
  currency    text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  reason      text NOT NULL,
  -- The shop's or the service's number of the refund.
  external_id text,
  -- A person's name, or 'shop' for a call of the shop's own system.
  refunded_by text NOT NULL,
  refunded_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (mode, order_id, external_id)
);
CREATE INDEX refunds_by_time ON refunds (refunded_at DESC, id DESC);
CREATE INDEX refunds_of_order ON refunds (order_id);

-- Only what was paid can go back. Under the order's lock, and with a new look at its refunds: of two that come at the
-- same instant, the second sees the first. A number that the order has already is for its unique index to refuse.
CREATE FUNCTION refuse_refund() RETURNS trigger LANGUAGE plpgsql AS $$
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
    AND NEW.amount > (SELECT amount FROM releases WHERE id = was_paid.release_id)
      - (SELECT coalesce(sum(amount), 0) FROM refunds WHERE order_id = NEW.order_id) THEN
    RAISE EXCEPTION 'the refund of order % is refused: more than was paid would go back', NEW.order_id
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER refunds_are_of_what_was_paid BEFORE INSERT ON refunds
  FOR EACH ROW EXECUTE FUNCTION refuse_refund();

CREATE TRIGGER refunds_are_frozen BEFORE UPDATE OR DELETE ON refunds
  FOR EACH ROW EXECUTE FUNCTION refuse_change('what was given back is kept');
CREATE TRIGGER refunds_are_not_emptied BEFORE TRUNCATE ON refunds
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('what was given back is kept');
